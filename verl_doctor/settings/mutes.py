"""`[[mute]]`: a fault that nobody needs to see, why, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, NamedTuple

from ..diagnose.muted import without_muted
from ..logs.text import visible
from ..model import Finding, Muted, Report

LEAST_DIGITS = 8
"""Of a fingerprint: fewer could mean another fault tomorrow."""
KEYS = ("rule", "fingerprint", "reason", "until", "wake_above")


class Mute(NamedTuple):
    """One mute of a config file. Of `rule` and `fingerprint` at least one is given; both: both
    have to fit."""

    reason: str
    origin: str
    """The name of the file."""
    rule: str = ""
    """Id or slug."""
    fingerprint: str = ""
    """The whole of it, or its start."""
    until: float | None = None
    """When it ends, in seconds since the epoch; None: at no time."""
    wake_above: int | None = None
    """A run that prints it more often shows it again; None: however often."""

    def fits(self, rule: str | None, slug: str, fingerprint: str) -> bool:
        """Whether it is about this fault, at whatever time and however often it was printed."""
        named = not self.rule or self.rule in (rule, slug)
        return named and fingerprint.startswith(self.fingerprint)

    def holds(self, now: float) -> bool:
        """Whether it has not ended, `now` being seconds since the epoch."""
        return self.until is None or now < self.until


def silence(report: Report, mutes: Sequence[Mute], now: float) -> Report:
    """The report without what the mutes leave out, which is counted; see `without_muted`.

    Takes the time in seconds since the epoch.
    """
    held = [mute for mute in mutes if mute.holds(now)]

    def told(finding: Finding) -> Finding:
        for mute in held:
            quiet = mute.wake_above is None or finding.count <= mute.wake_above
            if quiet and mute.fits(finding.rule, finding.slug, finding.fingerprint):
                return finding._replace(muted=Muted(mute.reason, mute.origin))
        return finding

    if not held:
        return report
    return without_muted(report._replace(findings=tuple(map(told, report.findings))))


def read_mute(row: object, origin: str) -> tuple[Mute | None, list[str]]:
    """A mute as TOML has it, and everything that is wrong with it; None if anything is.

    Takes the name of the file.
    """
    if not isinstance(row, dict):
        return None, ['is no table. Write [[mute]], and below it reason = "…"']
    problems = [f"{visible(key, 80)} is no key of a mute{_nearest(key)}" for key in row
                if key not in KEYS]  # fmt: skip
    texts = {key: _text(row, key, problems) for key in ("rule", "fingerprint", "reason")}
    if not texts["reason"] and "reason" not in "".join(problems):
        problems.append('the reason is missing. Write: reason = "known, harmless"')
    if not (texts["rule"] or texts["fingerprint"]) and not problems:
        problems.append('says not what it mutes. Write: rule = "RAY001", or fingerprint = "…"')
    if 0 < len(texts["fingerprint"]) < LEAST_DIGITS:
        problems.append(f"fingerprint: give at least {LEAST_DIGITS} characters of it")
    until = _moment(row.get("until"), problems)
    above = row.get("wake_above")
    if above is not None and (not isinstance(above, int) or isinstance(above, bool) or above < 1):
        problems.append("wake_above is no number of lines from 1 on. Write: wake_above = 100")
    if problems:
        return None, problems
    return Mute(texts["reason"], origin, texts["rule"], texts["fingerprint"], until, above), []


def _text(row: dict[str, Any], key: str, problems: list[str]) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        problems.append(f'{key} is no text. Put it in quotes: {key} = "…"')
        return ""
    return visible(value.strip(), 500)


def _moment(value: object, problems: list[str]) -> float | None:
    """A TOML date (its first second on this machine's clock) or time as seconds since the epoch."""
    if value is None:
        return None
    if isinstance(value, date):  # a datetime is one too
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        try:
            return moment.timestamp()
        except (OverflowError, ValueError):
            pass
    problems.append("until is no date. Write, without quotes: until = 2026-12-24")
    return None


def _nearest(key: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(key, KEYS, 1)
    return f". Meant: {close[0]}?" if close else f". There are: {', '.join(KEYS)}"

"""`mutes`: everything that is kept out of reports here, by whom, and which of it has no use."""

from __future__ import annotations

import time
from typing import Any

import click

from ... import settings
from ...model import Lang
from ...quantities import minute, utc
from ...settings import Mute
from ...store import Incident, default_path
from ...store import incidents as read
from ..options import color_option, lang_option
from .group import format_option, incidents
from .output import SCHEMA_VERSION, Page, stdout, write_json
from .pages import muted_words
from .pages import named as titled
from .titles import retitled
from .words import word

EVERY = 1_000_000


@incidents.command("mutes")
@format_option("text", "json")
@lang_option
@color_option
def mutes(form: str, lang: Lang, color: str) -> None:
    """List the mutes: those of config files ([[mute]]), then those of `incidents mute`.

    Of each: why, until when, and which incidents on record it is about. One that is about none, or
    is over, can go.
    """
    said = settings.load()
    for problem in said.problems:
        click.echo(f"verl-doctor: {problem}", err=True)
    known = read(limit=EVERY).incidents
    muted = retitled(tuple(one for one in known if one.mute_reason), lang)
    now = time.time()
    if form == "json":
        rows = [_mute_json(one, known, now) for one in said.mutes]
        rows += [_incident_json(one) for one in muted]
        write_json({"schema_version": SCHEMA_VERSION, "mutes": rows}, indent=2)
        return
    page = Page(stdout(), color)
    for mute in said.mutes:
        about = " ".join(part for part in (mute.rule, mute.fingerprint) if part)
        page.line(f"{mute.origin}  ", f"{about}: {_words(mute, known, now, lang)}")
    for one in muted:
        page.line(f"#{one.number}  ", f"{titled(one)}: {muted_words(one, lang)}")
    if not (said.mutes or muted):
        click.echo(f"verl-doctor: {word('mutes nothing', lang, path=default_path())}", err=True)


def _numbers(mute: Mute, known: tuple[Incident, ...]) -> list[int]:
    """The incidents on record that a mute of a config file is about."""
    return sorted(one.number for one in known if mute.fits(one.rule, one.slug, one.fingerprint))


def _words(mute: Mute, known: tuple[Incident, ...], now: float, lang: Lang) -> str:
    """Why, until when, and what it is about."""
    reason = mute.reason
    if mute.until is not None:
        key = "until" if mute.holds(now) else "over"
        reason = word(key, lang, reason=reason, when=minute(mute.until))
    numbers = ", ".join(f"#{number}" for number in _numbers(mute, known))
    used = word("fits", lang, numbers=numbers) if numbers else word("unused", lang)
    return f"{reason}; {used}"


def _mute_json(mute: Mute, known: tuple[Incident, ...], now: float) -> dict[str, Any]:
    return {
        "by": mute.origin,
        "rule": mute.rule or None,
        "fingerprint": mute.fingerprint or None,
        "reason": mute.reason,
        "until": utc(mute.until),
        "wake_above": mute.wake_above,
        "holds": mute.holds(now),
        "incidents": _numbers(mute, known),
    }


def _incident_json(one: Incident) -> dict[str, Any]:
    return {
        "by": "store",
        "rule": one.rule,
        "fingerprint": one.fingerprint,
        "reason": one.mute_reason,
        "until": utc(one.muted_until),
        "wake_above": None,
        "holds": one.muted,
        "incidents": [one.number],
    }

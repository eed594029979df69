"""Verbs that keep what people say: `ack`, `resolve`, `reopen`, `mute`, `unmute`, `note`, `tag`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime

import click

from ... import store
from ...model import Lang
from ...store import Incident
from ..options import color_option, lang_option
from .group import format_option, incidents, named
from .output import SCHEMA_VERSION, Page, dated, incident_json, stdout, write_json
from .pages import named as titled
from .pages import print_notes
from .titles import retitled
from .words import word

_ids = click.argument("names", metavar="ID…", nargs=-1, required=True)
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def span(text: str) -> float:
    """A length of time, in seconds: `30m`, `12h`, `7d`, `2w`."""
    found = re.fullmatch(r"(\d{1,6})\s*([mhdw])", text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is no length of time: 30m, 12h, 7d or 2w")
    return float(int(found[1]) * _UNITS[found[2]])


def moment(text: str) -> float:
    """A time to come, in seconds since the epoch: `7d`, `12h`, `2026-12-24`, `2026-12-24 18:00`."""
    try:
        return time.time() + span(text)
    except click.BadParameter:
        pass
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            f"{text!r} is no time: 12h, 7d, 2w, 2026-12-24 or '2026-12-24 18:00'"
        ) from error


def _changed(
    names: tuple[str, ...],
    change: Callable[[str], Incident],
    done: str,
    form: str,
    lang: Lang,
    color: str,
) -> None:
    """Changes the named incidents one after the other, once all of them have been found."""
    chosen = [named(name) for name in names]
    after = retitled(tuple(change(one.fingerprint) for one in chosen), lang)
    if form == "json":
        rows = [incident_json(one) for one in after]
        write_json({"schema_version": SCHEMA_VERSION, "incidents": rows}, indent=2)
        return
    page = Page(stdout(), color)
    for one in after:
        page.line(word(done, lang, number=one.number), titled(one), bold=True)


@incidents.command("ack")
@_ids
@format_option("text", "json")
@lang_option
@color_option
def ack(names: tuple[str, ...], form: str, lang: Lang, color: str) -> None:
    """Say that somebody knows of it."""
    _changed(names, store.acknowledge, "did_ack", form, lang, color)


@incidents.command("resolve")
@_ids
@click.option("--fix", required=True, help="What made it go away, in words; shown the next time.")
@format_option("text", "json")
@lang_option
@color_option
def resolve(names: tuple[str, ...], fix: str, form: str, lang: Lang, color: str) -> None:
    """Say what made it go away. If it comes back, it has regressed, and the fix is shown.

    \b
      verl-doctor incidents resolve 3 --fix "rollout.gpu_memory_utilization=0.5"
    """

    def change(fingerprint: str) -> Incident:
        return store.resolve(fingerprint, fix)

    _changed(names, change, "did_resolve", form, lang, color)


@incidents.command("reopen")
@_ids
@format_option("text", "json")
@lang_option
@color_option
def reopen(names: tuple[str, ...], form: str, lang: Lang, color: str) -> None:
    """Make it new again; a fix that did not help is taken back."""
    _changed(names, store.reopen, "did_reopen", form, lang, color)


@incidents.command("mute")
@_ids
@click.option("--reason", required=True, help="Why nobody needs to see it.")
@click.option("--until", type=moment, help="12h, 7d, 2w, 2026-12-24, '2026-12-24 18:00'.")
@format_option("text", "json")
@lang_option
@color_option
def mute(
    names: tuple[str, ...],
    reason: str,
    until: float | None,
    form: str,
    lang: Lang,
    color: str,
) -> None:
    """Leave it out of reports, which say how many they left out.

    It wakes at --until, or by itself: when it has been seen in more than 3 times the runs that it
    has now, was printed more than 10 times as often, or regresses.
    """

    def change(fingerprint: str) -> Incident:
        return store.mute(fingerprint, reason, until=until)

    _changed(names, change, "did_mute", form, lang, color)


@incidents.command("unmute")
@_ids
@format_option("text", "json")
@lang_option
@color_option
def unmute(names: tuple[str, ...], form: str, lang: Lang, color: str) -> None:
    """End a mute."""
    _changed(names, store.unmute, "did_unmute", form, lang, color)


@incidents.command("note")
@click.argument("name", metavar="ID")
@click.argument("text", required=False)
@format_option("text", "json")
@lang_option
@color_option
def note(name: str, text: str | None, form: str, lang: Lang, color: str) -> None:
    """Write a note on it; without TEXT: show its notes."""
    one = named(name)
    if text is not None:
        store.add_note(one.fingerprint, text)
    written = store.notes(one.fingerprint)
    if form == "json":
        rows = [{"text": note.text, **dated({"written_at": note.written_at})} for note in written]
        head = {"schema_version": SCHEMA_VERSION, "number": one.number}
        write_json({**head, "fingerprint": one.fingerprint, "notes": rows}, indent=2)
    elif written:
        page = Page(stdout(), color)
        page.line(f"#{one.number} ", titled(*retitled((one,), lang)), bold=True)
        print_notes(page, written, lang)
    else:
        click.echo(f"verl-doctor: {word('no notes', lang, number=one.number)}", err=True)


@incidents.command("tag")
@click.argument("name", metavar="ID")
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="A tag to take off; repeatable.")
@format_option("text", "json")
@lang_option
@color_option
def tag(
    name: str,
    tags: tuple[str, ...],
    remove: tuple[str, ...],
    form: str,
    lang: Lang,
    color: str,
) -> None:
    """Put tags on it, or take them off: `tag 3 node-7 oom --remove new`."""
    one = named(name)
    now = store.tag(one.fingerprint, tags, remove)
    if form == "json":
        head = {"schema_version": SCHEMA_VERSION, "number": one.number}
        write_json({**head, "fingerprint": one.fingerprint, "tags": list(now)}, indent=2)
    else:
        page = Page(stdout(), color)
        page.line(word("did_tag", lang, number=one.number), ", ".join(now) or "-", bold=True)

"""Verbs that read: `list`, `search`, `show`, `similar`."""

from __future__ import annotations

import click

from ...model import Lang
from ...store import STATES, Listing, State, notes, occurrences
from ...store import incidents as read
from ...store import similar as alike
from ..options import color_option, lang_option
from .group import format_option, incidents, limit_option, named
from .output import (
    SCHEMA_VERSION,
    Page,
    dated,
    incident_json,
    occurrence_json,
    stdout,
    write_json,
)
from .pages import print_incident, print_list, print_similar
from .titles import retitled
from .words import word

_state_option = click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    help="Only those in this state; may be given several times.",
)


@incidents.command("list")
@format_option("text", "json", "jsonl")
@limit_option(20, "How many to list at most.")
@_state_option
@lang_option
@color_option
def list_(form: str, limit: int, states: tuple[State, ...], lang: Lang, color: str) -> None:
    """List the incidents, the one seen last first.

    \b
      verl-doctor incidents list --state regressed
      verl-doctor incidents list --format jsonl | jq .title
    """
    _list(read(states=states, limit=limit), form, lang, color, states=states)


@incidents.command("search")
@click.argument("words", nargs=-1, required=True)
@format_option("text", "json", "jsonl")
@limit_option(20, "How many to list at most.")
@_state_option
@lang_option
@color_option
def search(
    words: tuple[str, ...],
    form: str,
    limit: int,
    states: tuple[State, ...],
    lang: Lang,
    color: str,
) -> None:
    """List the incidents that have these words in their title, cause, evidence, notes, fix or tags.

    Each word given is the start of a word there; Chinese is found anywhere.

    \b
      verl-doctor incidents search OutOfMemory rollout
    """
    text = " ".join(words)
    _list(read(states=states, text=text, limit=limit), form, lang, color, text)


def _list(
    listing: Listing,
    form: str,
    lang: Lang,
    color: str,
    text: str = "",
    states: tuple[State, ...] = (),
) -> None:
    """Prints a listing. Takes the words and the states that were asked for, if any were."""
    found = retitled(listing.incidents, lang)
    listing = Listing(listing.path, listing.total, found)
    if form == "json":
        head = {"schema_version": SCHEMA_VERSION, "store": str(listing.path)}
        rows = [incident_json(one) for one in found]
        write_json({**head, "total": listing.total, "incidents": rows}, indent=2)
    elif form == "jsonl":
        for one in found:
            write_json({"schema_version": SCHEMA_VERSION, **incident_json(one)})
    elif found:
        print_list(Page(stdout(), color), listing, lang)
    elif text:
        click.echo(f"verl-doctor: {word('not found', lang, text=text)}", err=True)
    elif states:
        named_states = ", ".join(word(state, lang) for state in states)
        click.echo(f"verl-doctor: {word('none so', lang, states=named_states)}", err=True)
    else:
        click.echo(f"verl-doctor: {word('nothing', lang, path=listing.path)}", err=True)
    _tell_hidden(len(found), listing.total, lang)


@incidents.command("show")
@click.argument("name", metavar="ID")
@format_option("text", "json")
@limit_option(5, "How many runs to show at most.")
@lang_option
@color_option
def show(name: str, form: str, limit: int, lang: Lang, color: str) -> None:
    """Show one incident: the runs that had it, and the lines that show it.

    A number on record goes before a fingerprint that starts with the same digits.
    """
    (one,) = retitled((named(name),), lang)
    runs = occurrences(one.fingerprint, limit=limit)
    written = notes(one.fingerprint)
    if form == "json":
        document = {"schema_version": SCHEMA_VERSION, **incident_json(one)}
        document["notes"] = [
            {"text": note.text, **dated({"written_at": note.written_at})} for note in written
        ]
        write_json({**document, "seen_in": [occurrence_json(run) for run in runs]}, indent=2)
    else:
        print_incident(Page(stdout(), color), one, runs, written, lang)
    _tell_hidden(len(runs), one.runs, lang)


@incidents.command("similar")
@click.argument("name", metavar="ID")
@format_option("text", "json")
@limit_option(5, "How many to show at most.")
@lang_option
@color_option
def similar(name: str, form: str, limit: int, lang: Lang, color: str) -> None:
    """Show incidents that are like this one, and what resolved them.

    First those of the same rule, then those whose title and decisive line share most words.
    """
    one = named(name)
    found = alike(one.fingerprint, limit=limit)
    titled = retitled(tuple(other.incident for other in found), lang)
    found = tuple(
        other._replace(incident=incident) for other, incident in zip(found, titled, strict=True)
    )
    if form == "json":
        rows = [
            {
                "score": round(other.score, 3),
                "same_rule": other.same_rule,
                "incident": incident_json(other.incident),
            }
            for other in found
        ]
        write_json({"schema_version": SCHEMA_VERSION, "similar": rows}, indent=2)
    elif found:
        print_similar(Page(stdout(), color), found, lang)
    else:
        click.echo(f"verl-doctor: {word('no similar', lang, number=one.number)}", err=True)


def _tell_hidden(shown: int, total: int, lang: Lang) -> None:
    if shown < total:
        click.echo(f"verl-doctor: {word('shown', lang, n=shown, total=total)}", err=True)

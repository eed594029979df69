"""The group of verbs, and what several of them share: options, and how an incident is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...store import Incident, default_path, find

_Command = TypeVar("_Command", bound=Callable[..., Any])


@click.group()
def incidents() -> None:
    """What was found before on this machine.

    Incidents are kept, masked, in ~/.local/state/verl-doctor/incidents.db; VERL_DOCTOR_DB names
    another file. ID is the number that `list` prints, or the start of a fingerprint.
    """


def format_option(*choices: str) -> Callable[[_Command], _Command]:
    """`--format`, the first choice by default."""
    words = "What to print on standard output."
    kind = click.Choice(choices)
    return click.option("--format", "form", type=kind, default=choices[0], help=words)


def limit_option(default: int, words: str) -> Callable[[_Command], _Command]:
    """`--limit`."""
    bounds = click.IntRange(1, 1_000_000)
    return click.option("--limit", type=bounds, default=default, show_default=True, help=words)


def named(name: str) -> Incident:
    """The one incident that a person means by a number or the start of a fingerprint.

    Raises click.ClickException if there is none, or more than one; it says how to go on.
    """
    found = find(name)
    if not found:
        raise click.ClickException(
            f"no incident {name!r} in {default_path()}. See `verl-doctor incidents list`."
        )
    if len(found) > 1:
        some = ", ".join(f"#{one.number} {one.fingerprint}" for one in found[:5])
        some += ", …" if len(found) > 5 else ""
        raise click.ClickException(
            f"{name!r} is the start of {len(found)} fingerprints: {some}. Give more digits, "
            "or the number."
        )
    return found[0]

"""Where config files lie, and what is read from them.

A fault in a config file is told and changes nothing else: what it says rightly holds, and a report
is printed all the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..logs.text import visible
from .mutes import Mute, read_mute

PROJECT_FILE = "verl-doctor.toml"
MAX_BYTES = 1 << 20
"""A larger config file is a mistake."""


class Settings(NamedTuple):
    """What the config files say."""

    mutes: tuple[Mute, ...] = ()
    """The project's first, then the user's."""
    problems: tuple[str, ...] = ()
    """What is wrong in them: where, what, and what to write instead."""


def load(folder: Path | None = None) -> Settings:
    """Reads the config files that hold in a folder (default: the current one).

    These are the nearest `verl-doctor.toml`, or `pyproject.toml` with a table `[tool.verl-doctor]`,
    in the folder or above it, and `$XDG_CONFIG_HOME/verl-doctor/config.toml`. `VERL_DOCTOR_CONFIG`
    names one file instead of both; empty, it names none.
    """
    mutes: list[Mute] = []
    problems: list[str] = []
    for path in _files(folder or Path.cwd()):
        table, trouble = _table(path)
        if trouble:
            problems.append(trouble)
        found, wrong = _mutes(table, path)
        mutes += found
        problems += wrong
    return Settings(tuple(mutes), tuple(problems))


def _files(folder: Path) -> Iterator[Path]:
    named = os.environ.get("VERL_DOCTOR_CONFIG")
    if named is not None:
        if named:
            yield Path(named)
        return
    for above in (folder, *folder.parents):
        for path in (above / PROJECT_FILE, above / "pyproject.toml"):
            if path.is_file() and (path.name == PROJECT_FILE or _mentions_us(path)):
                yield path
                break
        else:
            continue
        break
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    mine = Path(config) / "verl-doctor" / "config.toml"
    if mine.is_file():
        yield mine


def _mentions_us(path: Path) -> bool:
    """Whether a pyproject.toml can hold our table; parsing every one would take longer."""
    try:
        return b"tool.verl-doctor" in path.read_bytes()[:MAX_BYTES]
    except OSError:
        return False


def _table(path: Path) -> tuple[dict[str, Any], str]:
    """Our table of a file, and what is wrong with the file; empty where it cannot be read."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    shown = visible(str(path))
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            return {}, f"{shown}: is larger than 1 MiB, which no config file is. It is left out."
        document = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        return {}, f"{shown}: cannot be read ({error.strerror}). Type: ls -l {shown}"
    except (ValueError, RecursionError) as error:  # no TOML, or no UTF-8
        return {}, f"{shown}: is no TOML: {visible(str(error), 200)}. It is left out."
    table = document
    if path.name == "pyproject.toml":
        table = document.get("tool", {}).get("verl-doctor", {})
    return (table, "") if isinstance(table, dict) else ({}, f"{shown}: is no table")


def _mutes(table: dict[str, Any], path: Path) -> tuple[list[Mute], list[str]]:
    shown = visible(str(path))
    problems = [
        f"{shown}: {visible(key, 80)}: is no setting. {_nearest(key)}"
        for key in table
        if key != "mute"
    ]
    rows = table.get("mute", [])
    if not isinstance(rows, list):
        return [], [*problems, f"{shown}: mute: is no list. Write [[mute]], with two brackets"]
    mutes: list[Mute] = []
    for number, row in enumerate(rows, 1):
        found, wrong = read_mute(row, visible(path.name))
        problems += [f"{shown}: [[mute]] no. {number}: {one}" for one in wrong]
        if found is not None:
            mutes.append(found)
    return mutes, problems


def _nearest(key: str) -> str:
    from difflib import get_close_matches

    return "Meant: [[mute]]?" if get_close_matches(key, ["mute"], 1) else "There is: [[mute]]"

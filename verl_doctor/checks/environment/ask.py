"""Asks the interpreter that trains for facts, each section in a child of its own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...logs.text import visible
from . import children
from .probe import MARK

TEXT_LIMIT = 2000
"""Characters of one text, such as an exception's message."""
PROBE = Path(__file__).with_name("probe.py")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a part gave no facts."""

    how: str
    """`raised`, `signal`, `timeout`, `exit` or `start` (the interpreter could not be started)."""
    what: str
    """The exception with its message, the signal, the exit status, the operating system's words."""
    where: tuple[str, ...] = ()
    """Where it happened: a frame, or the last lines of standard error."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a section told."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """Part -> its facts."""
    failed: Mapping[str, Failed] = field(default_factory=dict)
    """Part -> why it gave none. The part that a crash or the time limit ended is here, those after
    it are nowhere; a child that did not come to its first part stands under ""."""
    seconds: float = 0.0


def active_python() -> str:
    """The interpreter that a run started from here would use: the active virtual or Conda
    environment's, else `python3` or `python` of PATH, else the one that runs this program."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        path = Path(os.environ.get(variable, ""), "bin", "python")
        if os.environ.get(variable) and path.exists():
            return str(path)
    return shutil.which("python3") or shutil.which("python") or sys.executable


def ask(python: str, section: str, *arguments: str, timeout_s: float) -> Answer:
    """The facts of one file of `sections/`, told by that interpreter within the time limit.

    Raises nothing: a crash, a hang and an interpreter that isn't there are in the answer.
    """
    ended = children.run(
        [python, str(PROBE), section, *arguments],
        timeout_s,
        {"VERL_DOCTOR_LIMIT_S": str(timeout_s), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    facts: dict[str, Any] = {}
    failed: dict[str, Failed] = {}
    begun = ""
    for line in ended.stdout.split("\n"):
        told = _fact(line)
        if told is None:
            continue
        begun = told["part"]
        if "facts" in told:
            facts[begun] = told["facts"]
        elif "error" in told:
            said = f"{told['error']}: {told['message']}"
            failed[begun] = Failed("raised", said, (told["frame"],) if told["frame"] else ())
    if ended.how != "exit" or ended.code:
        lost = "" if begun in facts or begun in failed else begun
        if lost or not (facts or failed):
            failed[lost] = _failed(ended)
    return Answer(facts, failed, ended.seconds)


def _fact(line: str) -> dict[str, Any] | None:
    """The fact of a line, None where it isn't one or was cut off."""
    if not line.startswith(MARK):
        return None
    try:
        told = json.loads(line[len(MARK) :])
    except ValueError:
        return None
    return _shown(told) if isinstance(told, dict) and "part" in told else None


def _shown(value: Any) -> Any:
    """The value with every text in it made safe to show."""
    if isinstance(value, str):
        return visible(value, TEXT_LIMIT)
    if isinstance(value, list):
        return [_shown(one) for one in value]
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items()}
    return value


def _failed(ended: children.Ended) -> Failed:
    tail = [visible(line, 200) for line in ended.stderr.split("\n") if line.strip()]
    if ended.how == "start":
        return Failed("start", visible(ended.stderr))
    if ended.how == "signal":
        return Failed("signal", ended.signal, stack(tail))
    if ended.how == "timeout":
        return Failed("timeout", f"{ended.seconds:.0f} s", stack(tail))
    return Failed("exit", f"exit status {ended.code}", tuple(tail[-3:]))


STACK_LINES = 6


def stack(lines: Sequence[str]) -> tuple[str, ...]:
    """The innermost frames of faulthandler's dump in standard error, else its last lines.

    After a crash the thread that crashed is marked; in a hang the main one, which stands last,
    matters.
    """
    threads: list[tuple[bool, list[str]]] = []
    for line in lines:
        if line.endswith("(most recent call first):"):
            threads.append((line.startswith("Current thread"), []))
        elif threads and line.startswith('  File "/'):
            threads[-1][1].append(line.strip())
    crashed = [frames for current, frames in threads if current]
    frames = crashed[0] if crashed else threads[-1][1] if threads else []
    return tuple(frames[:STACK_LINES]) or tuple(lines[-3:])

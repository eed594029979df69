"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..model import Fix, Severity, Text

State = Literal["ok", "fault", "unknown"]
"""`unknown`: it could not be looked at, and the text says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was looked at before the run."""

    check: str
    """Group and name: `config.keys`, `env.versions`."""
    state: State
    text: Text
    severity: Severity = "info"
    """How bad it is, where it is a fault."""
    seen: tuple[str, ...] = ()
    """What was observed, as it was observed: values, lines of a table."""
    fix: Fix | None = None
    rule: str = ""
    """The rule that would report it from the log, if the run were started all the same."""


def ok(check: str, en: str, zh: str, *seen: str) -> Result:
    """A result that says what was found in order."""
    return Result(check, "ok", Text(en, zh), seen=seen)


def unknown(check: str, en: str, zh: str, *seen: str) -> Result:
    """A result that says what could not be looked at, and why."""
    return Result(check, "unknown", Text(en, zh), seen=seen)


def unreachable(check: str, path: Path, error: OSError) -> Result:
    """A fault that says that the system lets nobody look at a path: no rights, a name too long."""
    text = Text(
        f"{path}: can't be looked at: {error.strerror}.", f"{path}：无法访问：{error.strerror}。"
    )
    rule = "SYS003" if isinstance(error, PermissionError) else ""
    return Result(check, "fault", text, "critical", rule=rule)

"""What the traps share: a fault of the settings, a number out of them."""

from __future__ import annotations

from ...model import Fix, Severity, Text
from ..types import Result
from .settings import Settings

CHECK = "config.traps"


def fault(
    severity: Severity, en: str, zh: str, *seen: str, fix: Fix | None = None, rule: str = ""
) -> Result:
    """A fault, with what verl prints of it in `seen`."""
    return Result(CHECK, "fault", Text(en, zh), severity, seen, fix, rule)


def number(settings: Settings, key: str) -> float | None:
    """The effective number of a key; None where it is none or can't be told."""
    value = settings.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None

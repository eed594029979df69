"""Is the configuration one that verl would start with, and learn from?"""

from __future__ import annotations

from ..types import Result
from . import batch, keys, traps, values
from .inputs import Command, command
from .reading import read_config, read_script
from .settings import Settings, compose, known_release
from .shell import script

__all__ = [
    "Command",
    "Settings",
    "check",
    "command",
    "compose",
    "known_release",
    "read_config",
    "read_script",
    "script",
]


def check(found: Settings) -> list[Result]:
    """Every result of the config checks, in the order in which verl would meet the faults."""
    checks = (keys.check, values.check, batch.check, traps.check)
    return [result for one in checks for result in one(found)]

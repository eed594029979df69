"""What a prefix of a log line is, and where the known ones are found.

One module of this package describes one format and ends with `FORMAT`. A new format is a new file:
nothing lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

LEVELS = "CRITICAL|FATAL|ERROR|EXCEPTION|WARNING|WARN|NOTICE|SUCCESS|INFO|DEBUG|TRACE"
"""Level words as loggers print them, for use in a pattern."""
LEVEL_STARTS, LEVEL_THEN = "CFEWNSIDT", "RAXOUNE"
"""First and second letters of the level words."""
DIGITS = "0123456789"
ALNUM = DIGITS + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DESCRIPTION = r"(?:(?!step:\d)(?:(?!: |Error|Exception|Traceback)[^|\n]){1,80}: )?"
"""What tqdm prints before the count. It is short, is followed by the only `: `, and tells of no
error: anything else in front of a bar is a message without a newline, and must not be lost."""


class Sample(NamedTuple):
    """A line as it was printed, and what its prefix says."""

    line: str
    rest: str
    """The line without this format's prefix (and without others that stack in the sample)."""
    fields: Mapping[str, str]
    """node, actor, pid, rank, level as the line's worker and level have them; `time` as ISO 8601 in
    UTC. What is missing here must be unknown."""


class Format(NamedTuple):
    """One kind of prefix. A pattern that matches nothing but a look-ahead leaves the text whole."""

    name: str
    starts: str
    """The characters a line of this format can begin with ('' = any)."""
    pattern: str
    """Anchored `re` source, bounded in what it repeats. Its end is where the rest begins. Groups:
    node, actor, pid, rank, level, time."""
    samples: tuple[Sample, ...]
    then: str = ""
    """The characters that can follow the first ('' = any)."""
    needs: tuple[str, ...] = ()
    """A line of this format holds at least one of these near its start: cheaper to look for than
    the pattern."""
    every_line: bool = False
    """The prefix stands before each line of its process, so what it says of node, actor, pid and
    rank is who the worker is. Otherwise it heads a message whose further lines have none, and may
    only name a worker that nothing else has named: two names would tear one process apart."""
    steady: bool = False
    """The prefix is the same, byte for byte, on every line of its process."""
    unwrap: Callable[[str], tuple[str, Mapping[str, str]] | None] | None = None
    """For a message inside an envelope: takes the text from where the pattern matched, returns the
    message and its fields, or None if it is no such envelope."""


@cache
def discover() -> tuple[Format, ...]:
    """Every format of this package, in the order of the module names."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").FORMAT for name in names)

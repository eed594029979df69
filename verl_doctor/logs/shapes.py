"""The lines of which tracebacks are made, as Python, rich, Ray and torch print them."""

from __future__ import annotations

import re

from .. import lazy
from ..scan.anchors import EXCEPTION_ENDINGS, LOGGING_ERROR
from .text import unglued

HEADER = "Traceback (most recent call last)"
CHAIN = (
    "The above exception was the direct cause of the following exception",
    "During handling of the above exception, another exception occurred",
)
FRAME = lazy.compile(r'^\s*File "([^"]+)", line (\d+)(?:, in (.*))?')
BOX_FRAME = lazy.compile(r"^│\s*(/?\S+\.py):(\d+)\s+in\s+(\S+)")
GROUP = lazy.compile(r"^\s*[|+] ?")
GROUP_RULE = lazy.compile(r"^[\s|+-]*(?:\d+|\.\.\.)?[\s-]*$")
EXC = lazy.compile(
    r"^((?:[A-Za-z_][\w]*\.)*[A-Za-z_]\w*(?:\([\w.]+\))?)(?::(?: |$)(.*))?$", re.DOTALL
)
_NAMELIKE = lazy.compile(
    rf"(?:{'|'.join(EXCEPTION_ENDINGS)}|Warning|Full|Stop\w+|Break)(?:\([\w.]+\))?$"
)
CARETS = lazy.compile(r"^[\s~^]+$")
OUTSIDE = lazy.compile(
    r"^(?:/\S*sh: |\[\d+\][+-]? +\w|exit code|exit status|Killed\b|Terminated\b|Aborted\b|step:\d"
    rf"|\+ \w|srun:|slurmstepd:|Exception ignored in|{LOGGING_ERROR}|Traceback|done$"
    r"|Set the environment variable"
    r"|\S* ?\d{1,3}%\||=====|-----|\w+: line \d+: )"
)


def is_header(text: str) -> bool:
    """Whether a line opens a traceback: the words stand alone, or end a prompt without newline."""
    place = text.find(HEADER)
    if place < 0:
        return False
    rest = text[place + len(HEADER) :].strip()
    if rest not in (":", "") and not rest.startswith("─"):
        return False
    before = text[:place].strip(" |+╭─")
    return not before or (rest == ":" and not before.startswith(("[prompt]", "[response]")))


def parse_exception(text: str) -> tuple[str, str] | None:
    """`torch.OutOfMemoryError: CUDA …` as (type, first line of the message); None if it is none.

    The bare form `KeyError` needs a name that looks like an exception's; with a message any
    dotted name does, as long as it looks like a class.
    """
    found = EXC.match(unglued(text))
    if found is None:
        return None
    name, message = found[1], found[2]
    last = name.partition("(")[0].rpartition(".")[2]
    if _NAMELIKE.search(name) and last[0].isupper() and last not in ("Error", "Failed", "Killed"):
        return name, message or ""
    if message is not None and "." in name and last[0].isupper():
        return name, message
    return None


def unwrapped(message: list[str], lengths: list[int], width: int) -> str:
    """The message's lines joined, without a break where a terminal cut one at its last column.

    Takes the lines, their lengths as printed (the first stands behind the exception's name), and
    the length of the longest line around. It is a terminal's width if two or more lines have it.
    """
    if width < 40 or lengths.count(width) < 2:
        return "\n".join(message)
    parts = []
    for text, length in zip(message, lengths, strict=True):
        parts.append(text if length == width else text + "\n")
    return "".join(parts).removesuffix("\n")

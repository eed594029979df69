"""One line of a log as text that is safe and true to show."""

from __future__ import annotations

from ...logs.prefix import Peeled, peel
from ...logs.text import visible
from ...quantities import size
from ...scan.colours import plain
from ...sources.encoding import chinese_lines
from ...sources.types import Notes
from .levels import level_of
from .lines import MAX_SHOWN, Row

RETURN = "␍"
"""Stands where a progress bar went back to the start of its line."""


def decoded(raw: bytes) -> str:
    """The line without colours, decoded as logs are read: UTF-8, or Chinese of an older kind."""
    if not raw.isascii():
        raw = b"".join(chinese_lines(iter((raw,)), Notes("", [])))
    return plain(raw).decode("utf-8", "replace")


def shown(row: Row) -> str:
    """The line as a terminal may show it: whatever would control it is a visible escape."""
    text = visible(_last_bar(decoded(row.raw).strip("\r\n")))
    if row.end - row.start > MAX_SHOWN:
        text += f" … ({size(row.end - row.start)})"
    return text


def _last_bar(text: str) -> str:
    """What a terminal would show last of a line that a progress bar wrote over, after how often it
    did, and whatever reports an error."""
    parts = [part for part in text.split("\r") if part.strip()]
    if len(parts) < 2:
        return "".join(parts)
    told = [part for part in parts[:-1] if level_of(part.encode()) == "E"]
    return f"[{len(parts) - 1}{RETURN}] " + f" {RETURN} ".join([*told, parts[-1]])


def peeled(row: Row) -> Peeled:
    """The line without its prefixes, and what they say: worker, level, time."""
    return peel(decoded(row.raw).strip("\r\n").rpartition("\r")[2])

"""One line of a log as text that is safe and true to show."""

from __future__ import annotations

from ...logs.prefix import Peeled, peel
from ...logs.text import plain, visible
from ...sources.encoding import chinese_lines
from ...sources.types import Notes
from .lines import MAX_SHOWN, Row

RETURN = " ␍ "
"""Stands where a progress bar went back to the start of its line."""


def decoded(raw: bytes) -> str:
    """The line without colours, decoded as logs are read: UTF-8, or Chinese of an older kind."""
    if not raw.isascii():
        raw = b"".join(chinese_lines(iter((raw,)), Notes("", [])))
    return plain(raw).decode("utf-8", "replace")


def shown(row: Row) -> str:
    """The line as a terminal may show it: whatever would control it is a visible escape."""
    text = visible(decoded(row.raw).strip("\r\n").replace("\r", RETURN))
    if row.end - row.start > MAX_SHOWN:
        text += f" … ({(row.end - row.start) >> 10} KB)"
    return text


def peeled(row: Row) -> Peeled:
    """The line without its prefixes, and what they say: worker, level, time."""
    return peel(decoded(row.raw).strip("\r\n").rpartition("\r")[2])

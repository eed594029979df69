"""Sizes and times as they are written everywhere."""

from __future__ import annotations

import time
from datetime import datetime, timezone


def size(count: float) -> str:
    """A number of bytes as people say it: `812 B`, `64 MiB`, `1.5 TiB`."""
    units = ["TiB", "GiB", "MiB", "KiB", "B"]
    while count >= 1024 and len(units) > 1:
        count /= 1024
        units.pop()
    return f"{count:.3g} {units[-1]}" if count < 1000 else f"{count:.0f} {units[-1]}"


def utc(stamp: float | None) -> str | None:
    """A time for programs, in seconds since the epoch: `2026-12-02T01:30:00.5Z`; None stays."""
    if stamp is None:
        return None
    return datetime.fromtimestamp(stamp, timezone.utc).isoformat().replace("+00:00", "Z")


def minute(stamp: float) -> str:
    """A time for people, on this machine's clock: `2026-12-02 01:30`."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp))


def day(stamp: float) -> str:
    """The day of a time, on this machine's clock: `2026-12-02`."""
    return time.strftime("%Y-%m-%d", time.localtime(stamp))

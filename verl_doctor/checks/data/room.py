"""A bound on the memory that reading may take: two kilobytes of parquet can stand for terabytes,
and no size in its metadata says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

MAX_MEMORY = 4 << 30
"""Bytes that data files may take beyond what this process has; a batch of rows has some MB."""
_DATA = 5
"""Place of a process's data in /proc/self/statm, in pages."""


@contextmanager
def bounded_memory(most: int = MAX_MEMORY) -> Iterator[None]:
    """Inside, this process gets `most` bytes more and then a MemoryError (Arrow's is one).

    Linux alone counts what is allocated and not what is mapped; elsewhere there is no bound.
    """
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[_DATA]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, IndexError, ValueError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    stricter = [one for one in (soft, hard, held + most) if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(stricter), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

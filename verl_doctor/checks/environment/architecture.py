"""Which GPU runs which compiled code."""

from __future__ import annotations

from collections.abc import Collection, Sequence

EMBEDDED = frozenset((53, 62, 72, 87))
"""Compute capabilities of Jetson boards, which run the code of their desktop relatives only in
part: nothing is said of them."""


def number(capability: Sequence[int]) -> int:
    """(9, 0) as 90."""
    return capability[0] * 10 + capability[1]


def written(capability: Sequence[int]) -> str:
    """(9, 0) as sm_90."""
    return f"sm_{number(capability)}"


def covers(capability: Sequence[int], sm: Collection[int], ptx: Collection[int]) -> bool:
    """Whether a GPU of that compute capability can run code of these architectures.

    Machine code runs within its major version, on the same or a later minor one; PTX is compiled by
    the driver for anything later (NVIDIA's CUDA C++ Programming Guide, "Binary Compatibility" and
    "PTX Compatibility"). True where this can't be ruled out.
    """
    gpu = number(capability)
    if gpu in EMBEDDED:
        return True
    return any(one // 10 == gpu // 10 and one <= gpu for one in sm) or any(
        one <= gpu for one in ptx
    )

"""Which GPU architectures the compiled extensions hold code for, read from their files.

NVIDIA's compiler puts all device code of a library into the ELF section `.nv_fatbin`: a row of
containers, each a row of entries whose headers name the architecture. Only these headers are read;
nothing is loaded, so a library of 1 GB costs a few pages.
"""

from __future__ import annotations

import importlib.metadata
import mmap
import os
import re
import struct
from typing import Any, Iterator

COMPILED = frozenset(
    (
        "apex",
        "causal-conv1d",
        "deep-ep",
        "deep-gemm",
        "flash-attn",
        "flash-attn-3",
        "grouped-gemm",
        "mamba-ssm",
        "sgl-kernel",
        "sglang-kernel",
        "torchaudio",
        "torchvision",
        "transformer-engine-cu12",
        "transformer-engine-cu13",
        "transformer-engine-torch",
        "vllm",
        "xformers",
    )
)
"""Distributions that bring device code of their own."""
MOST_STEPS = 100000
"""Headers read of one library, with steps over gaps; the largest known ones hold some thousands."""

_CONTAINER = struct.Struct("<IHHQ")  # magic, version, size of this header, size of what follows
_MAGIC = 0xBA55ED50
_ENTRY = struct.Struct("<HHIQ")  # kind, version, size of this header, size of what follows
_ARCH_AT = 28
_PTX, _ELF = 1, 2


def extensions(*_: str) -> list[dict[str, Any]]:
    """The libraries of known packages: `sm` are the architectures with machine code, `ptx` those
    with code that the driver can compile for later ones; both empty for a library without any."""
    found = []
    for one in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", (one.metadata["Name"] if one.metadata else "") or "").lower()
        if name not in COMPILED:
            continue
        for file in one.files or ():
            path = str(one.locate_file(file))
            if ".so" in os.path.basename(path) and os.path.isfile(path):
                sm, ptx = architectures(path)
                found.append({"package": name, "path": path, "sm": sm, "ptx": ptx})
    return found


def architectures(path: str) -> tuple[list[int], list[int]]:
    """Architectures (90 for sm_90) of machine code and of PTX in an ELF file; none in others."""
    found: dict[int, set[int]] = {_PTX: set(), _ELF: set()}
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return [], []
        with data:
            try:
                for start, size in _sections(data, b".nv_fatbin"):
                    for kind, arch in _entries(data, start, start + size):
                        found.setdefault(kind, set()).add(arch)
            except struct.error:  # cut off: what was read stands
                pass
    return sorted(found[_ELF]), sorted(found[_PTX])


def _sections(data: Any, name: bytes) -> Iterator[tuple[int, int]]:
    """Offset and size of the sections of that name, of a 64-bit little-endian ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        return
    (table,) = struct.unpack_from("<Q", data, 0x28)
    width, count, names = struct.unpack_from("<HHH", data, 0x3A)
    (names_at,) = struct.unpack_from("<Q", data, table + names * width + 0x18)
    for index in range(count):
        header = table + index * width
        (named,) = struct.unpack_from("<I", data, header)
        start, size = struct.unpack_from("<QQ", data, header + 0x18)
        at = names_at + named
        if data[at : at + len(name) + 1] == name + b"\0":
            yield start, size


def _entries(data: Any, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Kind and architecture of every entry between two offsets."""
    stop = at  # of the container that `at` is in
    for _ in range(MOST_STEPS):
        if at >= end:
            return
        if at < stop:
            kind, _version, header, size = _ENTRY.unpack_from(data, at)
            (arch,) = struct.unpack_from("<I", data, at + _ARCH_AT)
            yield kind, arch
            at += header + size
            continue
        magic, _version, header, size = _CONTAINER.unpack_from(data, at)
        if magic == _MAGIC:
            at, stop = at + header, at + header + size
        else:
            at += 8  # containers are aligned, with zeros between them


PARTS = (extensions,)

"""Environments to check: packages that are only metadata, torches that misbehave, ELF files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from verl_doctor.checks.types import Result

GPU_TORCH = """
from types import SimpleNamespace as N
__version__ = "2.8.0+cu128"
version = N(cuda="12.8", hip=None)
_C = N(_cuda_getArchFlags=lambda: "sm_80 sm_90 compute_90")
backends = N(cudnn=N(version=lambda: 91002))
cuda = N(
    nccl=N(version=lambda: (2, 27, 3)),
    is_available=lambda: True,
    init=lambda: None,
    device_count=lambda: 1,
    get_device_properties=lambda i: N(name="NVIDIA B200", major=10, minor=0, total_memory=1 << 37),
)
float32 = "float32"
device = lambda kind, index: (kind, index)
def arange(*_, **__):
    raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
"""
"""A CUDA build of torch on a GPU that it holds no code for, as far as the sections look."""


def module(folder: Path, name: str, source: str) -> Path:
    """Writes a package of one file and returns its folder."""
    package = folder / name
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(source)
    return package


def distribution(
    folder: Path, name: str, version: str, requires: Iterable[str] = (), files: Iterable[str] = ()
) -> Path:
    """Writes the metadata that pip leaves of an installed package, and returns its folder."""
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir(parents=True)
    rows = [
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {one}" for one in requires),
    ]
    (home / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *rows, ""]))
    (home / "RECORD").write_text("".join(f"{one},,\n" for one in files))
    return home


def device_code(containers: Sequence[Sequence[tuple[int, int]]]) -> bytes:
    """NVIDIA's containers of device code: of each entry its kind (1 PTX, 2 machine code) and its
    architecture, laid out as in torchvision 0.21's `_C.so`."""
    written = b""
    for entries in containers:
        body = b""
        for kind, arch in entries:
            code = b"\x55" * 24
            header = struct.pack("<HHIQ12xI40x", kind, 0x101, 72, len(code), arch)
            assert len(header) == 72
            body += header + code
        written += struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body + bytes(8)
    return written


def elf(sections: dict[str, bytes]) -> bytes:
    """A 64-bit ELF file of nothing but these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    contents = [*sections.values(), names]
    at, headers = 64, [bytes(64)]
    for name, content in zip((*sections, ".shstrtab"), contents, strict=True):
        named = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQ24x", named, 1, 0, 0, at, len(content)))
        at += len(content)
    shape = (64, 0, 0, 64, len(headers), len(headers) - 1)
    start = struct.pack("<16sHHIQQQI6H", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 0, at, 0, *shape)
    return start + b"".join(contents) + b"".join(headers)


def faults(results: Iterable[Result]) -> list[tuple[str, str]]:
    """Severity and rule of every fault."""
    return [(one.severity, one.rule) for one in results if one.state == "fault"]

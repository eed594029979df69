"""The shapes of what the sections tell. The section that fills each says what its values mean."""

from __future__ import annotations

from typing import TypedDict


class Python(TypedDict):
    """sections/interpreter.py: python."""

    version: str
    executable: str
    markers: dict[str, str]


class Package(TypedDict):
    """sections/interpreter.py: packages."""

    name: str
    version: str
    path: str
    requires: list[str]
    requires_python: str
    editable: str
    commit: str


class Module(TypedDict):
    """sections/interpreter.py: modules."""

    file: str
    folders: list[str]
    version: str


class TorchImport(TypedDict):
    """sections/torch_build.py: torch_import."""

    version: str
    file: str
    seconds: float


class TorchBuild(TypedDict):
    """sections/torch_build.py: torch_build."""

    cuda: str
    hip: str
    archs: list[str]
    cudnn: int | None
    nccl: str
    cxx11_abi: bool


class Driver(TypedDict):
    """sections/torch_build.py: driver."""

    cuda: int
    error: str


class Device(TypedDict):
    """One GPU of sections/torch_build.py: devices."""

    name: str
    capability: list[int]
    memory: int


class Devices(TypedDict):
    """sections/torch_build.py: devices."""

    available: bool
    devices: list[Device]
    error: str
    warnings: list[str]


class Extension(TypedDict):
    """sections/extensions.py: extensions."""

    package: str
    path: str
    sm: list[int]
    ptx: list[int]


class Limits(TypedDict):
    """sections/host.py: limits."""

    nofile: list[int | None]
    nproc: list[int | None]
    memlock: list[int | None]
    exempt: list[str]


class Cpus(TypedDict):
    """sections/host.py: cpus."""

    machine: int
    allowed: int
    told: bool


class SharedMemory(TypedDict):
    """sections/host.py: shared_memory."""

    total: int
    free: int


class Memory(TypedDict):
    """sections/host.py: memory."""

    total: int
    available: int
    limit: int | None
    used: int | None


class Processes(TypedDict):
    """sections/host.py: processes."""

    limit: int | None
    used: int | None


class Network(TypedDict):
    """sections/host.py: network."""

    interfaces: list[str]
    infiniband: list[str]


class Clock(TypedDict):
    """sections/host.py: clock."""

    now: float
    newest: float
    package: str


class Folder(TypedDict):
    """sections/folder.py: folder."""

    path: str
    nearest: str
    directory: bool
    writable: bool
    total: int
    free: int
    inodes: int
    inodes_free: int
    type: str


class Smoke(TypedDict):
    """sections/smoke/*.py: what was run, or why it was not."""

    what: str
    skipped: str

"""What nvidia-smi says about the GPUs of this machine and about the processes on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...logs.text import visible
from . import children

PROGRAM = "nvidia-smi"
GPU_FIELDS = (
    "index",
    "uuid",
    "name",
    "driver_version",
    "memory.total",
    "memory.used",
    "ecc.errors.uncorrected.volatile.total",
    "mig.mode.current",
)
PROCESS_FIELDS = ("gpu_uuid", "pid", "process_name", "used_memory")
MIB = 1 << 20
"""nvidia-smi counts memory in MiB."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that holds a GPU's memory."""

    pid: str
    name: str
    used: int | None
    """Bytes; None where the driver doesn't say."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of the machine, also one that CUDA_VISIBLE_DEVICES hides."""

    index: int
    uuid: str
    name: str
    driver: str
    total: int | None
    used: int | None
    """Bytes, of everybody."""
    uncorrected: int | None
    """Memory errors that ECC could not correct, since the driver was loaded."""
    mig: bool
    processes: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """The GPUs, or why they could not be listed."""

    gpus: tuple[Gpu, ...] = ()
    missing: bool = False
    """There is no nvidia-smi."""
    error: str = ""
    """What it said when it failed."""


def machine(timeout_s: float) -> Machine:
    """Asks nvidia-smi; raises nothing."""
    ended = _query("gpu", GPU_FIELDS, timeout_s)
    if ended.how == "start":
        return Machine(missing=True)
    if ended.how == "timeout":
        return Machine(error=f"nvidia-smi: no answer within {timeout_s:.0f} s")
    if ended.how != "exit" or ended.code:
        said = (ended.stdout + ended.stderr).strip() or ended.signal or f"exit {ended.code}"
        return Machine(error=visible(said, 500))
    apps = _query("compute-apps", PROCESS_FIELDS, timeout_s)
    return Machine(parse(ended.stdout, apps.stdout if apps.code == 0 else ""))


def parse(gpus: str, processes: str) -> tuple[Gpu, ...]:
    """The GPUs of the two tables (csv, no header, no units). Rows of another width are left out."""
    held: dict[str, list[Process]] = {}
    for uuid, pid, name, used in _rows(processes, len(PROCESS_FIELDS)):
        held.setdefault(uuid, []).append(Process(pid, visible(name, 80), _bytes(used)))
    return tuple(
        Gpu(
            int(index),
            uuid,
            visible(name, 80),
            driver,
            _bytes(total),
            _bytes(used),
            int(errors) if errors.isdigit() else None,
            mig == "Enabled",
            tuple(held.get(uuid, ())),
        )
        for index, uuid, name, driver, total, used, errors, mig in _rows(gpus, len(GPU_FIELDS))
        if index.isdigit()
    )


def visible_gpus(gpus: Sequence[Gpu], value: str | None) -> tuple[Gpu, ...] | None:
    """The GPUs that CUDA_VISIBLE_DEVICES of that value leaves, all where it is None.

    None where it can't be told: a MIG instance, an ambiguous UUID. As CUDA does, the list ends at
    the first entry that names no GPU.
    """
    if value is None:
        return tuple(gpus)
    chosen: list[Gpu] = []
    for entry in (part.strip() for part in value.split(",")):
        if entry.startswith("MIG-"):
            return None
        if entry.isdigit():
            named = [one for one in gpus if one.index == int(entry)]
        else:
            named = [one for one in gpus if entry and one.uuid.startswith(entry)]
        if len(named) > 1:
            return None
        if not named:
            break
        chosen += named
    return tuple(chosen)


def _query(table: str, fields: Sequence[str], timeout_s: float) -> children.Ended:
    wanted = f"--query-{table}={','.join(fields)}"
    return children.run([PROGRAM, wanted, "--format=csv,noheader,nounits"], timeout_s)


def _rows(text: str, width: int) -> list[list[str]]:
    rows = [[part.strip() for part in line.split(",")] for line in text.splitlines()]
    return [row for row in rows if len(row) == width]


def _bytes(mib: str) -> int | None:
    return int(mib) * MIB if mib.isdigit() else None

"""The GPUs as the driver sees them: whether it answers, who is on them, what they suffered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model import Fix, Text
from ...quantities import size
from ..types import Result, ok, unknown
from .nvidia import Gpu, Machine, visible_gpus
from .torch_build import rule_of

CHECK = "env.gpus"
BUSY = 2 << 30
"""Bytes in use before the run from which it matters. An idle GPU shows up to about 1 GiB: the
driver's own part, with ECC and persistence mode on."""
BUSY_SHARE = 0.1
"""Above this share of the GPU an engine that asks for 90 % of it (vLLM's default) can't start."""
SMI_RULES = (
    (r"[Dd]river/library version mismatch", "CUD016"),
    (r"GPU is lost|Unable to determine the device handle", "CUD015"),
)
"""What a failing nvidia-smi says -> the rule; else CUD025."""


def check(machine: Machine, devices: str | None, torch_sees: int | None) -> Iterator[Result]:
    """Judges nvidia-smi's answer. `devices` is CUDA_VISIBLE_DEVICES, `torch_sees` the number of
    GPUs that torch could use, None where it was not asked."""
    if machine.missing:
        if torch_sees != 0:
            yield unknown(
                CHECK,
                "nvidia-smi is not there: other processes on the GPUs were not looked for.",
                "找不到 nvidia-smi：未检查 GPU 上的其他进程。",
            )
        return
    if machine.error:
        yield _smi_failed(machine.error)
        return
    gpus = visible_gpus(machine.gpus, devices)
    faults = [*_damaged(machine.gpus), *_taken(machine.gpus if gpus is None else gpus)]
    yield from faults
    if machine.gpus and not faults:
        yield ok(
            CHECK,
            f"The memory of the GPUs is free (less than {size(BUSY)} in use on each).",
            f"各 GPU 显存空闲（已用均小于 {size(BUSY)}）。",
            *(_row(one) for one in machine.gpus),
        )


def _row(gpu: Gpu) -> str:
    used = "?" if gpu.used is None else size(gpu.used)
    total = "?" if gpu.total is None else size(gpu.total)
    mig = ", MIG" if gpu.mig else ""
    return f"GPU {gpu.index}: {gpu.name}{mig}, driver {gpu.driver}, {used} / {total}"


def _smi_failed(said: str) -> Result:
    return Result(
        CHECK,
        "fault",
        Text(f"nvidia-smi fails: {said}", f"nvidia-smi 失败：{said}"),
        "high",
        (said,),
        Fix(
            Text(
                "Look at the driver on the host; in a container that worked before, start it anew "
                "(the host took its device files away).",
                "在宿主机上检查驱动；若容器之前正常，请重启容器（宿主机收回了设备文件）。",
            ),
            run="nvidia-smi; cat /proc/driver/nvidia/version; ls -l /dev/nvidia*; "
            "dmesg -T | grep -iE 'nvrm|xid' | tail",
            risk="none",
        ),
        rule_of(said, SMI_RULES, "CUD025"),
    )


def _damaged(gpus: Sequence[Gpu]) -> Iterator[Result]:
    for gpu in gpus:
        if gpu.uncorrected:
            yield Result(
                CHECK,
                "fault",
                Text(
                    f"GPU {gpu.index} has had {gpu.uncorrected} uncorrectable memory errors since "
                    "the driver was loaded.",
                    f"自驱动加载以来，GPU {gpu.index} 出现了 {gpu.uncorrected} 次不可纠正的"
                    "显存（ECC）错误。",
                ),
                "medium",
                (_row(gpu),),
                Fix(
                    Text(
                        "Drain the node and reset the GPU; if it comes back, have it replaced.",
                        "腾空节点并重置该 GPU；若再次出现，请更换。",
                    ),
                    run=f"nvidia-smi -q -i {gpu.index} -d ECC,ROW_REMAPPER",
                    risk="none",
                ),
                "CUD015",
            )


def _taken(gpus: Sequence[Gpu]) -> Iterator[Result]:
    for gpu in gpus:
        if gpu.used is None or gpu.total is None or gpu.used < BUSY or gpu.mig:
            continue
        large = gpu.used > BUSY_SHARE * gpu.total
        holders = [
            f"pid {one.pid}: {one.name}, {'?' if one.used is None else size(one.used)}"
            for one in gpu.processes
        ]
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{size(gpu.used)} of GPU {gpu.index}'s {size(gpu.total)} are in use before the "
                "run starts.",
                f"训练尚未启动，GPU {gpu.index} 的 {size(gpu.total)} 显存已被占用 "
                f"{size(gpu.used)}。",
            ),
            "high" if large else "medium",
            (_row(gpu), *holders),
            Fix(
                Text(
                    "See whose it is; a left-over of a dead run (ray::…, VLLM::…) can be ended. "
                    "In a container the processes of others are not listed.",
                    "确认占用者；若是已死任务的残留（ray::…、VLLM::…）可结束它。"
                    "容器内看不到其他容器的进程。",
                ),
                run=f"nvidia-smi -i {gpu.index}; ps -o pid,user,lstart,args -p "
                f"{','.join(one.pid for one in gpu.processes if one.pid.isdigit()) or 'PID'}",
                risk="none",
            ),
            "CUD001",
        )

"""CUDA_VISIBLE_DEVICES and its relatives, held against the GPUs of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...model import Fix, Text
from ..types import Result
from .nvidia import Gpu, visible_gpus
from .shown_variables import fault


def hides_all(environment: Mapping[str, str], gpus: Sequence[Gpu]) -> bool:
    """Whether CUDA_VISIBLE_DEVICES leaves no GPU."""
    value = environment.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return False
    first = value.split(",")[0].strip()
    return first in ("", "-1") or (bool(gpus) and visible_gpus(gpus, value) == ())


def check(environment: Mapping[str, str], gpus: Sequence[Gpu]) -> Iterator[Result]:
    """Faults of the variables that choose GPUs. `gpus`: those of the machine, none if not known."""
    yield from _chosen(environment, gpus)
    yield from _two_vendors(environment)


def _chosen(environment: Mapping[str, str], gpus: Sequence[Gpu]) -> Iterator[Result]:
    name = "CUDA_VISIBLE_DEVICES"
    value = environment.get(name)
    if value is None:
        return
    if hides_all(environment, gpus):
        yield fault(
            environment,
            [name],
            "critical",
            f"{name} hides every GPU from the run.",
            f"{name} 使训练看不到任何 GPU。",
            "CUD025",
        )
        return
    seen = visible_gpus(gpus, value) if gpus else None
    wanted = len(value.split(","))
    if seen is not None and len(seen) < wanted:
        yield fault(
            environment,
            [name],
            "high",
            f"{name} names {wanted} GPUs, and only {len(seen)} of them exist here: CUDA stops at "
            "the first one that doesn't.",
            f"{name} 列出 {wanted} 张 GPU，但此处只有 {len(seen)} 张有效："
            "CUDA 遇到第一个无效编号即停止。",
            "CUD018",
            Fix(
                Text("Name what this lists.", "改为实际存在的编号。"),
                run="nvidia-smi -L",
                risk="none",
            ),
        )


def _two_vendors(environment: Mapping[str, str]) -> Iterator[Result]:
    """verl/single_controller/base/worker.py refuses the pair."""
    pair = [
        name for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES") if environment.get(name)
    ]
    if pair and environment.get("ROCR_VISIBLE_DEVICES"):
        yield fault(
            environment,
            [*pair, "ROCR_VISIBLE_DEVICES"],
            "critical",
            f"verl refuses ROCR_VISIBLE_DEVICES beside {' and '.join(pair)}.",
            f"verl 不允许 ROCR_VISIBLE_DEVICES 与 {'、'.join(pair)} 同时设置。",
            "",
            Fix(
                Text("Keep one of them.", "只保留其中一个。"),
                run="unset ROCR_VISIBLE_DEVICES",
                risk="none",
            ),
        )

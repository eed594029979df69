"""A checkpoint that verl wrote: every rank's file there, and for the same world size.

FSDP (verl/utils/checkpoint/fsdp_checkpoint_manager.py): `model_world_size_8_rank_0.pt`, and
`optim_…`, `extra_state_…` of the same form, below `global_step_N/actor`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from ...model import Fix, Text
from ..types import Result, ok
from .folder import fault

CHECK = "model.checkpoint"
_RANK = re.compile(
    r"(?P<part>model|optim|extra_state)_world_size_(?P<world>\d{1,6})_rank_(?P<rank>\d{1,6})\.pt"
)
_STEP = re.compile(r"global_step_(\d+)")


def is_checkpoint(path: Path) -> bool:
    """Whether a folder is one of verl's checkpoints, or holds one."""
    return bool(_STEP.fullmatch(path.name)) or any(
        _RANK.fullmatch(one.name) for one in path.iterdir()
    )


def check(path: Path) -> Iterator[Result]:
    """Every part of a checkpoint: its ranks, its world size, empty files."""
    folders = [path, *sorted(one for one in path.iterdir() if one.is_dir())]
    found = False
    for folder in folders:
        parts: dict[tuple[str, int], set[int]] = defaultdict(set)
        empty = []
        for file in folder.iterdir():
            name = _RANK.fullmatch(file.name)
            if name is None or not file.is_file():
                continue
            parts[name["part"], int(name["world"])].add(int(name["rank"]))
            if file.stat().st_size == 0:
                empty.append(file.name)
        if not parts:
            continue
        found = True
        yield from _part(folder, parts, sorted(empty))
    if not found:
        yield fault(
            path,
            "high",
            "holds no file of a rank (model_world_size_N_rank_R.pt); a Megatron checkpoint is not "
            "judged here.",
            "没有各 rank 的文件（model_world_size_N_rank_R.pt）；Megatron 检查点不在此检查范围。",
            check=CHECK,
        )


def _part(
    folder: Path, parts: dict[tuple[str, int], set[int]], empty: list[str]
) -> Iterator[Result]:
    worlds = sorted({world for _, world in parts})
    lost = [
        f"{part}: rank {', '.join(map(str, missing[:8]))} of {world}"
        for (part, world), ranks in sorted(parts.items())
        if (missing := sorted(set(range(world)) - ranks))
    ]
    if len(worlds) > 1:
        yield fault(
            folder,
            "critical",
            f"holds files of several world sizes ({', '.join(map(str, worlds))}): two runs wrote "
            "into it.",
            f"含有多种 world size（{', '.join(map(str, worlds))}）的文件："
            "有两次运行写入了同一目录。",
            check=CHECK,
        )
    if lost or empty:
        yield fault(
            folder,
            "critical",
            "is not whole: the run died while it was saved, or a node wrote elsewhere.",
            "不完整：保存过程中任务中断，或有节点写到了别处。",
            *lost[:5],
            *(f"empty: {name}" for name in empty[:3]),
            check=CHECK,
            fix=Fix(
                Text("Resume from the one before it.", "从更早的检查点恢复。"),
                set="trainer.resume_mode=resume_path trainer.resume_from_path=/path/global_step_N",
            ),
        )
    if len(worlds) == 1 and not lost and not empty:
        names = ", ".join(sorted({part for part, _ in parts}))
        yield ok(
            CHECK,
            f"{folder}: {names} of all {worlds[0]} ranks are there. FSDP loads it with the same "
            "number of ranks only.",
            f"{folder}：全部 {worlds[0]} 个 rank 的 {names} 齐全。FSDP 只能以相同 rank 数加载。",
        )

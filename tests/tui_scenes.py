"""Screens that are kept: as text, compared by a test; as pictures, for the README and the docs.

`python scripts/refresh_tui.py` writes both anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from verl_doctor.checks.types import Result, ok, unknown
from verl_doctor.model import Fix, Lang, Text
from verl_doctor.tui.screens.checking import Checked

from .tui_pilot import User, use

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOTS = ROOT / "tests" / "snapshots"
PICTURES = ROOT / "docs" / "pictures"
NCCL = "fixtures_logs/genuine/nccl-timeout-missing-rank.log"
DRIFT = "fixtures_logs/genuine/gpu-kl-drift.log"
KERNEL = "fixtures_logs/genuine/gpu-no-kernel-image-torchext.log"
PYTHON = "/opt/venv/bin/python"
CHECKED = Checked(
    PYTHON,
    (
        ok("env.packages", "What is installed of the stack.", "已安装的相关软件包。",
           "Python 3.12.11", "torch 2.8.0", "flash-attn 2.8.3", "verl 0.9.1"),
        Result(
            "env.extensions",
            "fault",
            Text(
                "flash-attn holds no code for NVIDIA B200 (sm_100): its first kernel fails with "
                "`no kernel image is available`.",
                "flash-attn 不含 NVIDIA B200（sm_100）的代码："
                "调用其 kernel 会报 `no kernel image is available`。",
            ),
            "high",
            ("flash-attn: sm_80 sm_90",),
            Fix(
                Text("Build it for this GPU, past pip's cache.",
                     "跳过 pip 缓存，针对该 GPU 重新编译。"),
                run="TORCH_CUDA_ARCH_LIST=10.0 FLASH_ATTN_CUDA_ARCHS=100 "
                "FLASH_ATTENTION_FORCE_BUILD=TRUE pip install --no-build-isolation "
                "--no-cache-dir --force-reinstall --no-deps flash-attn==2.8.3",
            ),
            "CUD004",
        ),
        Result(
            "env.limits",
            "fault",
            Text("/dev/shm holds 64 MiB: DataLoader workers and NCCL need more.",
                 "/dev/shm 仅 64 MiB：DataLoader 进程与 NCCL 需要更多。"),
            "medium",
            ("/dev/shm: 64 MiB",),
        ),
        unknown("env.gpus", "nvidia-smi did not answer within 10 s.",
                "nvidia-smi 在 10 秒内没有响应。"),
        ok("env.torch", "torch starts and sees 8 GPUs.", "torch 可启动，能看到 8 块 GPU。"),
        ok("env.variables", "No variable is set to a value known to break a run.",
           "没有变量取值会导致任务出错。"),
    ),
    ("env.extensions",),
    "CUD004",
)  # fmt: skip
"""What checks have found on the machine of the kept screens."""


class Scene(NamedTuple):
    """A log, the keys pressed, and the terminal."""

    name: str
    log: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    lang: Lang = "en"
    picture: bool = False
    light: bool = False
    checked: Checked | None = None
    """What checks have found before."""


SCENES = (
    Scene("triage-80x24", NCCL, (80, 24)),
    Scene("triage-120x36", NCCL, (120, 36), picture=True),
    Scene("triage-160x48", NCCL, (160, 48)),
    Scene("triage-zh-120x36", NCCL, (120, 36), lang="zh", picture=True, light=True),
    Scene("metrics-80x24", DRIFT, (80, 24), ("M",)),
    Scene("metrics-120x36", DRIFT, (120, 36), ("M",), picture=True),
    Scene("help-80x24", NCCL, (80, 24), ("question_mark",)),
    Scene("palette-80x24", NCCL, (80, 24), ("ctrl+p",)),
    Scene("check-question-80x24", KERNEL, (80, 24), ("p",)),
    Scene("check-question-zh-120x36", KERNEL, (120, 36), ("P",), lang="zh"),
    Scene("checks-80x24", KERNEL, (80, 24), ("P",), checked=CHECKED),
    Scene("checks-120x36", KERNEL, (120, 36), ("P",), checked=CHECKED, picture=True),
    Scene("checks-zh-160x48", KERNEL, (160, 48), ("P", "j"), lang="zh", checked=CHECKED),
)


def show(scene: Scene, look: Callable[[User], object]) -> None:
    """Opens the scene, from the project's folder, and looks at it. Nothing is recorded."""

    async def script(user: User) -> None:
        user.app.checked = scene.checked
        await user.press(*scene.keys)
        look(user)

    before = Path.cwd()
    os.chdir(ROOT)  # the log's name is on the screen
    try:
        use(
            scene.log,
            script,
            size=scene.size,
            lang=scene.lang,
            light=scene.light,
            record=False,
            python=PYTHON,
        )
    finally:
        os.chdir(before)

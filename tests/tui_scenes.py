"""Screens that are kept: as text, compared by a test; as pictures, for the README and the docs.

`python scripts/refresh_tui.py` writes both anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from verl_doctor.model import Lang

from .tui_pilot import User, use

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOTS = ROOT / "tests" / "snapshots"
PICTURES = ROOT / "docs" / "pictures"
NCCL = "fixtures_logs/genuine/nccl-timeout-missing-rank.log"
DRIFT = "fixtures_logs/genuine/gpu-kl-drift.log"


class Scene(NamedTuple):
    """A log, the keys pressed, and the terminal."""

    name: str
    log: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    lang: Lang = "en"
    picture: bool = False
    light: bool = False


SCENES = (
    Scene("triage-80x24", NCCL, (80, 24)),
    Scene("triage-120x36", NCCL, (120, 36), picture=True),
    Scene("triage-160x48", NCCL, (160, 48)),
    Scene("triage-zh-120x36", NCCL, (120, 36), lang="zh", picture=True, light=True),
    Scene("metrics-80x24", DRIFT, (80, 24), ("M",)),
    Scene("metrics-120x36", DRIFT, (120, 36), ("M",), picture=True),
    Scene("help-80x24", NCCL, (80, 24), ("question_mark",)),
)


def show(scene: Scene, look: Callable[[User], object]) -> None:
    """Opens the scene, from the project's folder, and looks at it. Nothing is recorded."""

    async def script(user: User) -> None:
        await user.press(*scene.keys)
        look(user)

    before = Path.cwd()
    os.chdir(ROOT)  # the log's name is on the screen
    try:
        use(scene.log, script, size=scene.size, lang=scene.lang, light=scene.light, record=False)
    finally:
        os.chdir(before)

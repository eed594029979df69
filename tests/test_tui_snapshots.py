"""Screens as text, at the sizes of real terminals. `python scripts/refresh_tui.py` renews them."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from .tui_scenes import PICTURES, SCENES, SNAPSHOTS, Scene, show

pytestmark = pytest.mark.usefixtures("compiled_once")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_screen_looks_as_it_did(scene: Scene) -> None:
    shown = []
    show(scene, lambda user: shown.append(user.screen()))
    assert shown[0] == (SNAPSHOTS / f"{scene.name}.txt").read_text(encoding="utf-8")


def test_every_kept_screen_is_a_scene() -> None:
    names = {scene.name for scene in SCENES}
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == names
    assert {path.stem for path in PICTURES.glob("*.svg")} == {
        scene.name for scene in SCENES if scene.picture
    }


def test_no_screen_needs_a_wider_terminal() -> None:
    for scene in SCENES:
        for line in (SNAPSHOTS / f"{scene.name}.txt").read_text(encoding="utf-8").split("\n"):
            assert cell_len(line) <= scene.size[0]

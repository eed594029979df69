"""Writes the screens that are kept anew: tests/snapshots/*.txt and docs/pictures/*.svg.

usage: python scripts/refresh_tui.py    (look at `git diff` before you commit it)
"""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.cells import cell_len

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.tui_pilot import User
from tests.tui_scenes import PICTURES, SCENES, SNAPSHOTS, Scene, show

CELL = 12.2
"""Width of a cell in rich's pictures."""
_TEXT = re.compile(r'textLength="[\d.]+"([^>]*)>([^<]*)</text>')


def widened(picture: str) -> str:
    """A picture whose Chinese text has the room of two cells a character: rich counts one."""

    def spread(found: re.Match[str]) -> str:
        cells = cell_len(html.unescape(found[2]))
        return f'textLength="{cells * CELL:.1f}"{found[1]}>{found[2]}</text>'

    return _TEXT.sub(spread, picture)


def keep(scene: Scene, user: User) -> None:
    """Writes what the screen shows."""
    (SNAPSHOTS / f"{scene.name}.txt").write_text(user.screen(), encoding="utf-8")
    if scene.picture:
        picture = user.app.export_screenshot(title=f"verl-doctor tui {scene.log}", simplify=True)
        (PICTURES / f"{scene.name}.svg").write_text(widened(picture), encoding="utf-8")


def main() -> None:
    """Shows every scene in a home of its own, so that nobody's incidents are in it."""
    for folder, kind in ((SNAPSHOTS, "txt"), (PICTURES, "svg")):
        folder.mkdir(exist_ok=True)
        for old in folder.glob(f"*.{kind}"):
            old.unlink()
    with tempfile.TemporaryDirectory() as home:
        for name in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = f"{home}/{name.lower()}"
        os.environ.pop("NO_COLOR", None)
        for scene in SCENES:
            show(scene, lambda user, scene=scene: keep(scene, user))  # type: ignore[misc]
            print(scene.name)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n\n")[0]).parse_args()
    main()

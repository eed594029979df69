"""What was copied, in a file too: not every terminal takes OSC 52, least of all over SSH."""

from __future__ import annotations

from pathlib import Path

from ..knowledge.cache import cache_folder, write_private


def keep_copy(text: str) -> Path | None:
    """Writes what was copied to `$XDG_CACHE_HOME/verl-doctor/copied.txt`, for its owner alone.

    Takes the text, which is masked already. Returns the file, or None where it can't be written.
    """
    path = cache_folder() / "copied.txt"
    return path if write_private(path, text.encode()) else None

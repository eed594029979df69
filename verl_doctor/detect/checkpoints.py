"""Checkpoints that a log says were saved or loaded.

verl prints `local_global_step_folder: …/global_step_30` (the V1 trainer and SFT: `Saving checkpoint
to …`) before it saves, its managers `Saved model to …/global_step_30/actor/…`, Megatron's `Update
latest_checkpointed_iteration.txt to step 30`; transformers `Saving model checkpoint to
…/checkpoint-500`.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import lazy
from ..model import Line

_TOLD = lazy.compile(
    r"(?:local_global_step_folder: |\b[Ss]av(?:ing|ed)\b|\b[Rr]esum(?:ing|ed) from |"
    r"Load from checkpoint folder: |Update latest_).*?"
    r"(global_step_|checkpoint-|iteration\.txt to step )(\d{1,12})\b"
)
MAX_KEPT = 1000


class Saved(NamedTuple):
    """A checkpoint and the line that first speaks of it."""

    step: int
    name: str
    line: int
    path: str
    loaded: bool
    """The run began from it, so it is whole; a line that it is being saved can be its last."""


class Checkpoints:
    """The checkpoints of a run, in the order of the log."""

    def __init__(self) -> None:
        self._saved: list[Saved] = []

    def feed(self, line: Line) -> None:
        """Takes a line that may tell of one; each rank's line of the same one counts once."""
        found = _TOLD.search(line.text)
        if found is None:
            return
        step = int(found[2])
        if self._saved and self._saved[-1].step == step:
            return
        name = f"checkpoint-{step}" if found[1] == "checkpoint-" else f"global_step_{step}"
        loaded = found[0].startswith(("Resum", "resum", "Load"))
        saved = Saved(step, name, line.number, line.path, loaded)
        self._saved = [*self._saved[1 - MAX_KEPT :], saved]

    def before(self, line: int, step: int | None = None) -> Saved | None:
        """The last checkpoint told of above a line, of a step below the given one; None without.

        verl saves step N before it prints step N's metrics: what is wrong with step N is in that
        checkpoint already.
        """
        for saved in reversed(self._saved):
            if saved.line < line and (step is None or saved.step < step):
                return saved
        return None

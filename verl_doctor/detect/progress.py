"""What shows that a run goes on: steps, phases, and the words with which it ends."""

from __future__ import annotations

import re
from bisect import bisect_right

from .. import lazy
from ..model import Line, Worker
from ..scan.anchors import PHASE_TEXTS

_PHASE = lazy.compile("|".join(re.escape(text) for text in PHASE_TEXTS))
_DAEMONS = ("raylet", "gcs_server", "dashboard", "autoscaler")
_FUNCTIONS = (
    # what update and log_prob share (_forward_micro_batch, forward_step) tells neither
    (
        lazy.compile(
            r"update_(?:actor|critic|policy)|optimizer_step|\bbackward\b|\btrain_(?:mini_)?batch\b"
        ),
        "update",
    ),
    (lazy.compile(r"compute_(?:log_prob|ref_log_prob|values)|\binfer_batch\b"), "log_prob"),
    (lazy.compile(r"generate_sequences|generate_?\b|\brollout\b|agent_loop"), "rollout"),
    (lazy.compile(r"compute_(?:score|reward)|reward_fn|reward_manager"), "reward"),
    (lazy.compile(r"\b_validate\b"), "validation"),
    (lazy.compile(r"save_checkpoint|load_checkpoint"), "checkpoint"),
    (lazy.compile(r"update_weights|wake_up|sharding_manager|rollout_mode"), "weight_sync"),
    (lazy.compile(r"from_pretrained|init_model|load_state_dict|_build_model"), "model_load"),
    (lazy.compile(r"load_dataset|RLHFDataset|_read_files|create_rl_dataset"), "data"),
    (lazy.compile(r"\bvalidate(?:_config)?\b|compose|_apply_overrides|instantiate"), "config"),
)


class Progress:
    """Steps and phases in the order of the log."""

    def __init__(self) -> None:
        self.last_step: int | None = None
        self._finished: list[int] = []
        self._worker_steps: dict[Worker, list[int]] = {}
        self._new_step_lines: list[int] = []
        self._new_steps: list[int] = []
        self._highest = -1
        self.phases: list[tuple[int, str]] = []
        """(line, phase) of each change, in the order of the log."""
        self._starts: list[int] = []
        self._steps: list[int] = []

    def reach(self, number: int, line: Line, *, counted: bool = False) -> None:
        """Takes a line of metrics and its step (`counted`: by its place, the line names none)."""
        if not counted:
            self.last_step = number
        self._steps.append(line.number)
        if number > self._highest:
            self._highest = number
            self._new_step_lines.append(line.number)
            self._new_steps.append(number)
            self._worker_steps.setdefault(line.worker, []).append(line.number)
        self.enter(line.number, "training")

    @property
    def finished(self) -> bool:
        """Whether any source came to an orderly end."""
        return bool(self._finished)

    @property
    def last_step_line(self) -> int:
        """Line of the last step; 0 before any."""
        return self._steps[-1] if self._steps else 0

    @property
    def phase(self) -> str:
        """The phase that the run is in; "unknown" before any."""
        return self.phases[-1][1] if self.phases else "unknown"

    def phase_text(self, number: int, text: str) -> None:
        """Takes a line with one of the banners."""
        for found in _PHASE.finditer(text):
            self.enter(number, PHASE_TEXTS[found.group()])

    def enter(self, number: int, phase: str) -> None:
        """The phase begins at this line."""
        if phase == "launch":
            self._starts.append(number)
        if not self.phases or self.phases[-1][1] != phase:
            self.phases.append((number, phase))

    def phase_at(self, number: int) -> tuple[str, int]:
        """The phase that a line lies in and the line that began it; ("unknown", 0) before any."""
        place = bisect_right(self.phases, (number, "\uffff"))
        if place == 0:
            return "unknown", 0
        line, phase = self.phases[place - 1]
        return phase, line

    def steps_between(self, number: int, end: int, worker: Worker | None = None) -> int:
        """New training steps (numbers not seen before) printed below one line and up to another,
        by one worker or any."""
        lines = self._new_step_lines if worker is None else self._worker_steps.get(worker, [])
        return max(0, bisect_right(lines, end) - bisect_right(lines, number))

    def reached_between(self, number: int, end: int) -> bool:
        """Whether a line of metrics stands below one line and up to another."""
        return bisect_right(self._steps, end) > bisect_right(self._steps, number)

    def step_at(self, number: int) -> int | None:
        """The highest step printed up to a line; None before any or where lines name none."""
        place = bisect_right(self._new_step_lines, number)
        return self._new_steps[place - 1] if place and self.last_step is not None else None

    def restarted_between(self, number: int, end: int, steps: int) -> bool:
        """Whether a new start stands between two lines, with at least so many steps behind it."""
        place = bisect_right(self._starts, number)
        if place == len(self._starts) or self._starts[place] > end:
            return False
        begun = bisect_right(self._steps, self._starts[place])
        return bisect_right(self._steps, end) - begun >= steps

    def finished_between(self, number: int, end: int) -> bool:
        """Whether the words of an orderly end stand below one line and up to another."""
        return any(number < line <= end for line in self._finished)

    def exit(self, number: int) -> None:
        """The run's process has ended with status 0; takes the number of its last line."""
        self._finished.append(number)

    def done(self, line: Line) -> None:
        """Takes a line with words of an orderly end; that of one of Ray's daemons is not the
        run's."""
        if line.worker.actor.startswith(_DAEMONS):
            return
        if not self._finished or self._finished[-1] != line.number:
            self._finished = [*self._finished[-999:], line.number]


def phase_of_frames(functions: str) -> str:
    """The phase that a traceback's functions (one a line, outermost first) tell, or ''."""
    best, place = "", -1
    for pattern, phase in _FUNCTIONS:
        for found in pattern.finditer(functions):
            if found.start() > place:
                best, place = phase, found.start()
    return best

"""The metrics of a run as columns: every key with the step, value and line of its points.

A run that was resumed or restarted prints steps again: from the step on at which a key comes back,
its later values count, so that a column's steps only ever grow.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from ...model import Line
from .lines import Reading

MAX_POINTS = 20_000
"""Points kept of a column; a longer one loses every second point of its older half."""
MAX_KEYS = 300
"""Columns kept beside those that rules ask for, first come."""
MAX_KEY = 200
"""Characters of a key; a longer one is none."""
MAX_REWINDS = 100


class Rewind(NamedTuple):
    """The place at which a run's steps went back."""

    line: int
    last: int
    """The highest step before it."""
    step: int
    """The step with which it went on."""


class Column:
    """One metric: step, value and line of every point."""

    __slots__ = ("lines", "steps", "values")

    def __init__(self) -> None:
        self.steps = array("q")
        self.values = array("d")
        self.lines = array("q")

    def __len__(self) -> int:
        return len(self.values)

    def add(self, step: int, value: float, line: int) -> None:
        """Takes the next point; earlier ones of this step and later ones are replaced."""
        if self.steps and step <= self.steps[-1]:
            self.rewind(step)
        elif len(self.steps) >= MAX_POINTS:
            self._thin()
        self.steps.append(step)
        self.values.append(value)
        self.lines.append(line)

    def rewind(self, step: int) -> None:
        """Forgets the points of this step and of later ones."""
        kept = len(self.steps)
        while kept and self.steps[kept - 1] >= step:
            kept -= 1
        del self.steps[kept:], self.values[kept:], self.lines[kept:]

    def _thin(self) -> None:
        half = MAX_POINTS // 2
        for points in (self.steps, self.values, self.lines):
            del points[:half:2]


class Columns:
    """Every metric of a run, bounded in number and length."""

    def __init__(self, wanted: Iterable[str] = ()) -> None:
        self._wanted = frozenset(wanted)
        self._by_key: dict[str, Column] = {}
        self._others = 0
        self._last, self._path = -1, ""
        self._unnumbered = 0
        self.rewinds: list[Rewind] = []

    def __getitem__(self, key: str) -> Column:
        return self._by_key[key]

    def keys(self) -> list[str]:
        """All keys, in the order in which they first came."""
        return list(self._by_key)

    def matching(self, names: Iterable[str]) -> Iterator[str]:
        """The keys that the names mean, in their order; `*` in a name stands for any text."""
        for name in names:
            if "*" in name:
                yield from (key for key in self._by_key if fnmatchcase(key, name))
            elif name in self._by_key:
                yield name

    def add(self, reading: Reading, line: Line) -> int:
        """Takes the metrics of a line and returns the step they were counted for."""
        step = reading.step
        if step is None:
            step = self._unnumbered = self._next_unnumbered(reading)
        # another file that tells of the same steps is no restart
        goes_back = step < self._last and line.path == self._path
        if goes_back and len(self.rewinds) < MAX_REWINDS:
            self.rewinds.append(Rewind(line.number, self._last, step))
        self._last, self._path = step, line.path
        number = line.number
        for key, value in reading.pairs:
            column = self._by_key.get(key)
            if column is None:
                column = self._open(key)
                if column is None:
                    continue
            column.add(step, value, number)
        return step

    def _open(self, key: str) -> Column | None:
        if key not in self._wanted:
            if self._others >= MAX_KEYS or len(key) > MAX_KEY:
                return None
            self._others += 1
        column = self._by_key[key] = Column()
        return column

    def _next_unnumbered(self, reading: Reading) -> int:
        """The number of a line that names no step: its place, or where its epoch belongs."""
        epochs = self._by_key.get("epoch")
        epoch = next((value for key, value in reading.pairs if key == "epoch"), None)
        if epoch is not None and epochs is not None and len(epochs) and epoch < epochs.values[-1]:
            # resumed or restarted: it goes on behind what it had printed up to this epoch
            kept = len(epochs)
            while kept and epochs.values[kept - 1] >= epoch:
                kept -= 1
            return epochs.steps[kept - 1] + 1 if kept else 1
        return self._unnumbered + 1

"""Are the data files what verl's dataset and reward function will ask for?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..config.settings import Settings
from ..types import Result
from . import files, lengths, rows
from .files import Columns
from .room import bounded_memory

__all__ = ["check"]


def check(
    train: Sequence[str],
    validation: Sequence[str],
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Result]:
    """Every result of the data checks.

    Takes the paths of the training and validation files, the settings of the run (column names,
    release), and a callback that is told the rows read and the rows to read. Files are only read;
    of a large one, row groups are sampled, and memory is bounded. Raises ImportError where pyarrow
    is not installed.
    """
    with bounded_memory():
        yield from _check(train, validation, settings, progress)


def _check(
    train: Sequence[str],
    validation: Sequence[str],
    settings: Settings,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Result]:
    columns = Columns.of(settings)
    known = []
    for path in dict.fromkeys([*train, *validation]):
        found, results = files.look(Path(path), settings)
        yield from results
        if found is None:
            continue
        try:
            told = [*files.columns(found, columns)]
        except ValueError as error:  # a column's name that is no text
            yield files.unreadable(found.path, found.kind, error)
            continue
        known.append(found)
        yield from told
    yield from files.alike([one for one in known if str(one.path) in train])
    yield from rows.check(known, columns, settings, progress)
    yield from lengths.check(known, columns, settings)
    yield from rows.overlap(
        [one for one in known if str(one.path) in train],
        [one for one in known if str(one.path) in validation],
        columns,
    )

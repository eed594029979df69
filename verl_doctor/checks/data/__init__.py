"""Are the data files what verl's dataset and reward function will ask for?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..config.settings import Settings
from ..types import Result
from . import files, lengths, rows
from .files import Columns, DataFile
from .lengths import Lengths
from .room import bounded_memory
from .rows import Rows
from .sample import MAX_ROWS, sampled

__all__ = ["check"]


def check(
    train: Sequence[str],
    validation: Sequence[str],
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Result]:
    """Every result of the data checks.

    Takes the paths of the training and validation files, the settings of the run (column names,
    release), and a callback that is told the rows read and the rows to read. Files are only read,
    once; of a large one, row groups are sampled, and memory is bounded. Raises ImportError where
    pyarrow is not installed.
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
    limits, results = lengths.limits(settings)
    yield from results
    read: dict[str, Rows] = {}
    done, to_read = 0, sum(_expected(one) for one in known)
    for found in known:
        seen, counted = Rows(columns), Lengths(limits) if limits else None
        try:
            for batch in sampled(found, [columns.prompt, columns.source, "reward_model"]):
                for row in batch:
                    seen.add(row)
                    if counted is not None:
                        counted.add(row.get(columns.prompt))
                if progress is not None:
                    progress(done + seen.rows, to_read)
        except (OSError, ValueError, MemoryError) as error:
            yield files.unreadable(found.path, found.kind, error)
        else:
            yield from rows.told(found, seen, settings)
        if counted is not None:
            yield from lengths.told(found, counted, settings)
        read[str(found.path)] = seen
        done += _expected(found)
    yield from rows.overlap(
        [seen for path, seen in read.items() if path in train],
        [seen for path, seen in read.items() if path in validation],
    )


def _expected(found: DataFile) -> int:
    """How many rows of a file are going to be read, at most."""
    return MAX_ROWS if found.rows is None else min(found.rows, MAX_ROWS)

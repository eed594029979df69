"""Rows of a data file, a bounded share of them, spread over the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from . import json_rows
from .files import DataFile

MAX_ROWS = 20_000
"""Rows of one file that are looked at; a fault that fewer than one in some thousand rows has may
stay unseen, and the results say how many were read."""
BATCH = 1_000


def sampled(found: DataFile, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """Batches of rows, those columns alone that the file has.

    Of a parquet file, whole row groups from its start, its end and evenly between are read, until
    MAX_ROWS; of JSON the first rows. Memory holds one batch. Raises OSError or ValueError (Arrow's
    errors are among them) at a damaged place, MemoryError where it becomes too large; what came
    before it is good.
    """
    here = [name for name in columns if name in found.schema.names]
    if not here:
        return
    rows = 0
    for table in _tables(found, here):
        table.validate(full=True)  # Arrow's readers give invalid arrays for some damaged files
        rows += table.num_rows
        yield table.to_pylist()
        if rows >= MAX_ROWS:
            return


def undamaged(found: DataFile, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """The batches of `sampled` up to a damaged place, where they end; `rows.check` tells of it."""
    with suppress(OSError, ValueError, MemoryError):
        yield from sampled(found, columns)


def _tables(found: DataFile, columns: list[str]) -> Iterator[Any]:
    import pyarrow

    if found.kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(found.path, memory_map=True) as file:
            groups = spread(file.num_row_groups, most=MAX_ROWS // BATCH)
            yield from (
                pyarrow.Table.from_batches([batch])
                for batch in file.iter_batches(BATCH, row_groups=groups, columns=columns)
            )
        return
    with json_rows.opened(found.path) as reader:
        for batch in reader:
            table = pyarrow.Table.from_batches([batch]).select(columns)
            for start in range(0, table.num_rows, BATCH):
                yield table.slice(start, BATCH)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`: the first, the last, the rest evenly between."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})

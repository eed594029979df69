"""Rows of a data file, a bounded share of them, spread over the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import json_rows
from .files import DataFile

MAX_ROWS = 20_000
"""Rows of one file that are looked at; a fault that fewer than one in some thousand rows has may
stay unseen, and the results say how many were read."""
BATCH = 1_000


def sampled(found: DataFile, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """Batches of rows, those columns alone that the file has.

    Of a parquet file, row groups from its start, its end and evenly between are read, an equal
    number of rows of each, MAX_ROWS in all; of JSON the first rows. Memory holds one batch.
    Raises OSError or ValueError (Arrow's errors are among them) at a damaged place, MemoryError
    where it becomes too large; what came before it is good.
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


def _tables(found: DataFile, columns: list[str]) -> Iterator[Any]:
    import pyarrow

    if found.kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(found.path, memory_map=True) as file:
            for group, rows in _groups(file.metadata):
                taken = 0
                for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns):
                    yield pyarrow.Table.from_batches([batch])
                    taken += batch.num_rows
                    if taken >= rows:
                        break
        return
    with json_rows.opened(found.path) as reader:
        for batch in reader:
            table = pyarrow.Table.from_batches([batch]).select(columns)
            for start in range(0, table.num_rows, BATCH):
                yield table.slice(start, BATCH)


def _groups(metadata: Any) -> Iterator[tuple[int, int]]:
    """The row groups of a parquet file that are read, and how many rows of each."""
    count = metadata.num_row_groups
    if metadata.num_rows <= MAX_ROWS:
        yield from ((group, MAX_ROWS) for group in range(count))
        return
    usual = max(1, metadata.num_rows // count)
    groups = spread(count, most=max(MAX_ROWS // BATCH, MAX_ROWS // usual))
    yield from ((group, MAX_ROWS // len(groups)) for group in groups)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`: the first, the last, the rest evenly between."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})

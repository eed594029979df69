"""Rows of a data file, a bounded share of them, spread over the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .files import DataFile

MAX_ROWS = 20_000
"""Rows of one file that are looked at; a fault that fewer than one in some thousand rows has may
stay unseen, and the results say how many were read."""
BATCH = 1_000
MAX_BLOCK = 64 << 20
"""Bytes of JSON that are parsed at once."""


def sampled(found: DataFile, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """Batches of rows, those columns alone that the file has.

    Of a parquet file, whole row groups from its start, its end and evenly between are read, until
    MAX_ROWS; of JSON the first rows. Memory holds one batch.
    """
    here = [name for name in columns if name in found.schema.names]
    if not here:
        return
    rows = 0
    for table in _tables(found, here):
        rows += table.num_rows
        yield table.to_pylist()
        if rows >= MAX_ROWS:
            return


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
    from pyarrow import json

    options = json.ReadOptions(block_size=min(MAX_BLOCK, max(1, found.path.stat().st_size)))
    with json.open_json(found.path, read_options=options) as reader:
        for batch in reader:
            table = pyarrow.Table.from_batches([batch]).select(columns)
            for start in range(0, table.num_rows, BATCH):
                yield table.slice(start, BATCH)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`: the first, the last, the rest evenly between."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})

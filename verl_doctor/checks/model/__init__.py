"""Is the model folder whole, and one that the run can load?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..types import Result, unreachable
from . import checkpoint, folder, weights

__all__ = ["check"]


def check(path: Path, *, nan: bool = False, role: str = "actor") -> Iterator[Result]:
    """Every result for one model folder, or a checkpoint that verl wrote.

    Takes the folder, whether to look for NaN and Inf in the weights (needs torch; reads all of
    them), and whose model it is, for the words. Only headers are read otherwise.
    """
    try:
        missing = folder.missing(path)
    except OSError as error:
        missing = unreachable(folder.CHECK, path, error)
    if missing is not None:
        yield missing
        return
    if checkpoint.is_checkpoint(path):
        yield from checkpoint.check(path)
        return
    config, results = folder.config(path)
    yield from results
    yield from folder.tokenizer(path, config, role)
    yield from weights.check(path, config)
    if nan:
        yield from weights.not_finite(path)

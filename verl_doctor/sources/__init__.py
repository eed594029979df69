"""Command-line arguments to byte chunks: files, folders, globs, compressed files, pipes.

`expand` says what can be read and what cannot; `chunks` reads one source in flat memory. Every kind
of input yields the same bytes: UTF-8 lines ended by `\\n`.
"""

from verl_doctor.sources.expand import expand
from verl_doctor.sources.read import chunks
from verl_doctor.sources.types import Failure, Source

__all__ = ["Failure", "Source", "chunks", "expand"]

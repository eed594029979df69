"""What stands in a log: lines, tracebacks, facts that detectors put together."""

from collections.abc import Mapping
from typing import NamedTuple


class Worker(NamedTuple):
    """Who printed a line, as far as its prefixes say; the empty worker is the driver or unknown.

    A named tuple, for its hash: the worker is the key by which interleaved lines are sorted out.
    """

    node: str = ""
    """Host name or IP."""
    actor: str = ""
    """Ray actor or task name, `raylet`, an engine process such as `EngineCore_DP0`."""
    pid: str = ""
    rank: str = ""

    @property
    def label(self) -> str:
        """Words for a person: `rank 3`, `WorkerDict pid=41 ip=10.0.0.2`; empty for the driver."""
        parts = []
        if self.rank:
            parts.append(f"rank {self.rank}")
        if self.actor:
            parts.append(self.actor)
        if self.pid:
            parts.append(f"pid={self.pid}")
        if self.node:
            parts.append(f"ip={self.node}")
        return " ".join(parts)


NOBODY = Worker()


class Line(NamedTuple):
    """One log line without its prefixes: what was said, by whom, where."""

    text: str
    number: int
    path: str = ""
    worker: Worker = NOBODY
    level: str = ""
    """Upper-case level word of a prefix (`ERROR`, `WARNING`, …) or empty."""
    time: float | None = None
    repeated: int = 1
    """How many times Ray says it folded this line, itself included."""


PACKAGES = ("site-packages", "dist-packages")
"""Folders that hold what was installed."""


class Frame(NamedTuple):
    """One `File "…", line N, in f` entry of a Python traceback and its source line."""

    file: str
    line: int
    function: str
    source: str = ""
    at: int = 0
    """Line of the log that names the frame."""

    @property
    def user(self) -> bool:
        """Whether the frame lies outside installed packages and the standard library."""
        return not any(
            part in self.file for part in (*PACKAGES, "/lib/python", "/bin/", "<frozen")
        ) and not self.file.endswith((".pyx", ".pxi"))

    @property
    def library(self) -> bool:
        """Whether the frame lies in Python's own library."""
        return self.file.startswith("<frozen") or (
            "/lib/python" in self.file and not any(part in self.file for part in PACKAGES)
        )

    @property
    def place(self) -> str:
        """`verl/utils/config.py:12 in f`: the path from its package on, or its last three parts."""
        return f"{_short(self.file)}:{self.line} in {self.function}"


def _short(path: str) -> str:
    for mark in PACKAGES:
        _, found, tail = path.rpartition(f"{mark}/")
        if found:
            return tail
    parts = path.split("/")
    return path if len(parts) <= 4 else "/".join(["…", *parts[-3:]])


class Exc(NamedTuple):
    """One exception of a traceback chain."""

    type: str
    """Dotted name as printed, e.g. `torch.OutOfMemoryError`."""
    message: str
    """The whole message, its continuation lines joined by `\\n`."""
    line: int
    """Line of the log that holds the exception's name."""
    last_line: int
    frames: tuple[Frame, ...] = ()
    in_handler: bool = False
    """Raised while the exception before it in the chain was being handled, not from it."""

    @property
    def name(self) -> str:
        """Last component of the type: `OutOfMemoryError`."""
        return self.type.rpartition(".")[2]


class Block(NamedTuple):
    """A traceback put together again for one worker; `chain` is in printed order, cause first."""

    worker: Worker
    path: str
    first_line: int
    last_line: int
    chain: tuple[Exc, ...]
    uncaught: bool = False
    """The outermost frame is the module: the process ended with it."""
    ignored: bool = False
    """Python says that it ignored it (`Exception ignored in …`, from a `__del__` or at exit)."""
    time: float | None = None
    repeated: int = 1

    def moved(self, lines: int, time: float | None) -> "Block":
        """The same traceback, printed so many lines further down, at another time."""
        chain = tuple(
            exc._replace(
                line=exc.line + lines,
                last_line=exc.last_line + lines,
                frames=tuple(frame._replace(at=frame.at + lines) for frame in exc.frames),
            )
            for exc in self.chain
        )
        first, last = self.first_line + lines, self.last_line + lines
        return self._replace(first_line=first, last_line=last, chain=chain, time=time)


class Event(NamedTuple):
    """A fact that a detector put together from several lines, matched by rules of kind `event`."""

    kind: str
    line: int
    text: str
    fields: Mapping[str, str]
    path: str = ""
    worker: Worker = NOBODY
    lines: tuple[int, ...] = ()
    """Further lines that show it."""

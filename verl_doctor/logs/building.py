"""A traceback that is still being read: what it has so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from ..model import Exc, Frame, Worker
from .shapes import unwrapped


class State(Enum):
    FRAMES = auto()
    BOX = auto()
    MESSAGE = auto()
    CHAIN = auto()


@dataclass(slots=True)
class OpenTraceback:
    worker: Worker
    path: str
    first: int
    indent: int
    formats: tuple[str, ...]
    time: float | None
    last: int
    state: State = State.FRAMES
    frames: list[Frame] = field(default_factory=list)
    chain: list[Exc] = field(default_factory=list)
    at: int = 0
    """Where the next exception goes in the chain: behind the last after a chain marker, before it
    where it was printed inside the last one's message."""
    message: list[str] = field(default_factory=list)
    exc_type: str = ""
    exc_line: int = 0
    exc_last: int = 0
    blanks: int = 0
    foreign: int = 0
    group: bool = False
    token: int = 0
    widths: list[int] = field(default_factory=list)
    """Length of every line taken."""
    lengths: list[int] = field(default_factory=list)
    """Length of the lines of the message."""
    backwards: bool = False
    """Printed newest line first, as some dashboards do."""
    bare: bool = False
    """Began with the exception itself: less of what follows belongs to it."""
    repeated: int = 1
    uncaught: bool = False
    in_handler: bool = False
    ignored: bool = False
    colon: bool = False
    """The exception's line ends with a colon: its message begins on the next."""

    def push(self) -> None:
        """Puts the exception just read into the chain."""
        if not self.exc_type:
            return
        message = unwrapped(self.message, self.lengths, max(self.widths, default=0)).strip("\n")
        frames = tuple(reversed(self.frames) if self.backwards else self.frames)
        if frames and frames[0].function == "<module>":
            self.uncaught = True
        exc = Exc(self.exc_type, message, self.exc_line, self.exc_last, frames, self.in_handler)
        self.chain.insert(self.at, exc)
        self.in_handler = False
        self.exc_type = ""
        self.frames = []
        self.message = []

    def backwards_begin(self) -> bool:
        """Whether an exception was followed by the source line of its last frame, as it is where
        the newest line is printed first."""
        return (
            len(self.message) == 2
            and self.message[1].startswith("    ")
            and not self.exc_type.rpartition(".")[2].startswith("RayTaskError")
        )

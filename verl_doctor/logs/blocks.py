"""Tracebacks put together again, per worker, out of interleaved lines.

Fed with peeled lines in the order of the log; gives back whole blocks. It knows how Python, Ray,
torch's DataLoader, multiprocessing and rich print a traceback, and nothing about what one means.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto

from ..model import NOBODY, Block, Frame, Line, Worker
from ..scan.anchors import LOGGING_ERROR
from .building import OpenTraceback, State
from .shapes import (
    BOX_FRAME,
    CARETS,
    CHAIN,
    EXC,
    FRAME,
    GROUP,
    GROUP_RULE,
    HEADER,
    OUTSIDE,
    is_header,
    parse_exception,
)
from .text import whole_number

MAX_GAP = 400
"""Lines of other workers after which an unfinished traceback is taken as it is."""
MAX_BARE_GAP = 64
"""The same where no traceback led to the exception: less shows that a later line belongs to it."""
MAX_MESSAGE = 60
MAX_BARE = 8
MAX_FRAMES = 400
MAX_IGNORED = 1_000


class Part(Enum):
    """What a line was to the traceback that took it."""

    FRAME = auto()
    TEXT = auto()
    """The exception's line or its message: may hold evidence."""


class Assembler:
    """Feeds on lines, keeps open tracebacks by worker, hands out finished blocks."""

    def __init__(self, nobody: Worker = NOBODY) -> None:
        self._nobody = nobody
        """Who lines without a prefix belong to."""
        self._open: dict[Worker, OpenTraceback] = {}
        self._due = 0
        """Line before which none of them has waited too long."""
        self._latest: OpenTraceback | None = None
        self.done: list[tuple[int, Block, int]] = []
        """(token, traceback, number of its lines or 0 where those of others stand between)."""
        self.opened = 0
        """Tracebacks begun so far; the token of the last one."""
        self._ignored: dict[Worker, int] = {}
        """Line of the last `Exception ignored in` or logging error of a worker: Python went on."""

    @property
    def busy(self) -> bool:
        """Whether a traceback is open, so that every following line has to be looked at."""
        return bool(self._open)

    @property
    def workers(self) -> Collection[Worker]:
        """Who has a traceback open."""
        return self._open.keys()

    def goes_on(self, number: int) -> bool:
        """Whether a line of that number belongs to the traceback before it if it has no prefix."""
        return self._latest is not None and self._latest.last == number - 1

    def feed(
        self, line: Line, formats: tuple[str, ...], *, exception: bool = False
    ) -> tuple[Part, int] | None:
        """Gives the next line; returns what it was to which traceback, None if none took it.

        The number is that of the pair in `done` later. `exception`: the line may hold an
        exception's name at its start, with no traceback above it in this log.
        """
        self._expire(line.number)
        worker = line.worker
        block = self._open.get(worker)
        if block is None and worker == self._nobody and self.goes_on(line.number) and not formats:
            # Ray prints a prefix before the first line of a message only
            block = self._latest
        if block is not None:
            part = self._take(block, line, formats)
            if part is not None:
                block.last = line.number
                block.widths.append(len(line.text))
                if part is Part.FRAME or line.number == block.exc_line:
                    # a prefix may head the first line of a message only
                    block.formats = formats
                block.repeated = max(block.repeated, line.repeated)
                self._latest = block
                return part, block.token
        return self._start(line, formats, exception)

    def _start(
        self, line: Line, formats: tuple[str, ...], exception: bool
    ) -> tuple[Part, int] | None:
        text = line.text
        if text.startswith(("Exception ignored ", LOGGING_ERROR)):
            if len(self._ignored) >= MAX_IGNORED:  # only the last three lines are ever asked for
                self._ignored.clear()
            self._ignored[line.worker] = line.number
        headed = is_header(text)
        bare = exception and not headed and parse_exception(text) is not None
        if not (headed or bare or FRAME.match(text)):
            return None
        clean = GROUP.sub("", text) if text.lstrip()[:1] in ("|", "+") else text
        indent = len(clean) - len(clean.lstrip()) if headed else 0
        if headed and not clean.lstrip().startswith((HEADER, "Exception Group", "╭")):
            indent = 0
        opened = OpenTraceback(
            line.worker,
            line.path,
            line.number,
            indent,
            formats,
            line.time,
            line.number,
            repeated=line.repeated,
        )
        self.opened += 1
        opened.token = self.opened
        opened.ignored = 0 < line.number - self._ignored.get(line.worker, -9) <= 3
        opened.group = "Exception Group" in text
        opened.bare = bare
        if "─" in text:
            opened.state = State.BOX
        old = self._open.pop(line.worker, None)
        if old is not None:
            self._close(old)
        self._open[line.worker] = opened
        self._due = min(self._due, _due(opened))
        self._latest = opened
        if headed:
            return Part.FRAME, opened.token
        return self._take(opened, line, formats) or Part.FRAME, opened.token

    def _expire(self, number: int) -> None:
        if number < self._due:
            return
        for block in list(self._open.values()):
            if number >= _due(block):
                self._end(block)
        self._due = min(map(_due, self._open.values()), default=number + MAX_BARE_GAP)

    def aside(self, worker: Worker, number: int) -> bool:
        """Whether a traceback that this worker begins at a line is sure to be one of its own, so
        that it need not be fed where its lines are known; what the worker has open is closed."""
        self._expire(number)
        block = self._open.get(worker)
        if block is None and worker == self._nobody and self.goes_on(number):
            block = self._latest
        if 0 < number - self._ignored.get(worker, -9) <= 3:
            return False
        if block is not None:
            if block.state is not State.MESSAGE or block.bare or block.group or block.backwards:
                return False
            self._end(block)
        self._latest = None
        return True

    def settle(self) -> None:
        """Closes what has its exception; a traceback that still waits for it stays open."""
        for block in list(self._open.values()):
            if block.state is State.MESSAGE:
                self._end(block)

    def finish(self) -> None:
        """Closes everything: the log has ended."""
        for block in self._open.values():
            self._close(block)
        self._open.clear()

    # --- one line into one open traceback ---------------------------------------------------

    def _take(self, block: OpenTraceback, line: Line, formats: tuple[str, ...]) -> Part | None:
        text = line.text
        if block.group and text.lstrip()[:1] in ("|", "+"):
            if GROUP_RULE.match(text) and "--" in text:
                # members of a group are its causes: they go before it in the chain
                block.push()
                block.state = State.FRAMES
                return Part.FRAME
            text = GROUP.sub("", text)
            block.indent = 0
        stripped = text.strip()
        if stripped in ('"""', "'''"):
            stripped, text = "", ""
        if block.state is State.BOX:
            return self._box(block, line, stripped)
        if block.state is State.MESSAGE:
            return self._message(block, line, text, stripped, formats)
        if block.state is State.CHAIN:
            if not stripped:
                return Part.FRAME
            if is_header(text):
                block.state = State.FRAMES
                block.indent = len(text) - len(text.lstrip())
                return Part.FRAME
            if FRAME.match(text):
                block.state = State.FRAMES
                return self._frames(block, line, text, stripped)
            self._end(block)
            return None
        return self._frames(block, line, text, stripped)

    def _box(self, block: OpenTraceback, line: Line, stripped: str) -> Part | None:
        if stripped.startswith("╰"):
            block.state = State.FRAMES
        elif stripped.startswith("│"):
            found = BOX_FRAME.match(stripped)
            if found:
                block.frames.append(
                    Frame(found[1], whole_number(found[2]), found[3], at=line.number)
                )
            elif "❱" in stripped and block.frames:
                last = block.frames[-1]
                source = stripped.partition("❱")[2].strip(" │0123456789")
                block.frames[-1] = last._replace(source=source)
        else:
            self._end(block)
            return None
        return Part.FRAME

    def _frames(self, block: OpenTraceback, line: Line, text: str, stripped: str) -> Part | None:
        found = FRAME.match(text)
        if found:
            if len(block.frames) < MAX_FRAMES:
                function = (found[3] or "<module>").strip()
                block.frames.append(
                    Frame(found[1], whole_number(found[2]), function, at=line.number)
                )
            return Part.FRAME
        if not stripped:
            return Part.FRAME
        if is_header(text):
            return None
        indent = len(text) - len(text.lstrip())
        if indent > block.indent:
            if not CARETS.match(text) and block.frames and not block.frames[-1].source:
                last = block.frames[-1]
                block.frames[-1] = last._replace(source=stripped)
            return Part.FRAME
        if stripped.startswith("ray::"):
            return Part.FRAME
        parsed = parse_exception(stripped)
        if parsed is None and block.frames and not OUTSIDE.match(stripped):
            # user classes may have any name: `mypkg.Oops`, `Oops: why`
            loose = EXC.match(stripped)
            if loose and loose[1][:1].isalpha() and (loose[2] is not None or "." in loose[1]):
                parsed = loose[1], loose[2] or ""
        if parsed is None:
            block.foreign += 1
            if block.foreign > 8:
                self._end(block)
            return None
        block.exc_type, first = parsed
        block.colon = stripped.rstrip().endswith(":")
        block.message, block.lengths = [first], [len(line.text)]
        block.exc_line = block.exc_last = line.number
        block.blanks = 0
        block.state = State.MESSAGE
        return Part.TEXT

    def _message(
        self, block: OpenTraceback, line: Line, text: str, stripped: str, formats: tuple[str, ...]
    ) -> Part | None:
        if not stripped:
            block.blanks += 1
            if block.blanks > 3:
                self._end(block)
                return None
            return Part.FRAME
        if stripped.rstrip(":").startswith(CHAIN):
            block.push()
            block.at = len(block.chain)
            block.in_handler = stripped.startswith(CHAIN[1])
            block.state = State.CHAIN
            return Part.FRAME
        frame = FRAME.match(text)
        if frame and block.bare and not block.chain and block.backwards_begin():
            source = block.message.pop().strip()
            block.lengths.pop()
            block.backwards = True
            block.frames.append(
                Frame(
                    frame[1], whole_number(frame[2]), (frame[3] or "").strip(), source, line.number
                )
            )
            return Part.FRAME
        if block.backwards:
            if is_header(text):
                self._end(block)
            elif frame:
                self._frames(block, line, text, stripped)
            return Part.FRAME
        inside = is_header(text) and not text.lstrip(" |+").startswith(HEADER)
        if (frame and text[:1] in " \t") or inside:
            # what follows was printed inside this message: the nested exception is its cause
            block.push()
            block.state = State.FRAMES
            if frame:
                return self._frames(block, line, text, stripped)
            return Part.FRAME
        empty = not any(part.strip() for part in block.message)
        if is_header(text):
            if block.bare and empty:
                # `multiprocessing.pool.RemoteTraceback:` only announces what follows
                block.exc_type, block.message = "", []
                block.state = State.FRAMES
                return Part.FRAME
            self._end(block)
            return None
        indent = len(text) - len(text.lstrip())
        same = formats == block.formats and line.number - block.exc_last <= MAX_GAP
        if CARETS.match(text):
            return Part.FRAME
        deeper = indent > block.indent
        empty = empty and block.colon and not OUTSIDE.match(stripped)
        direct = not block.blanks and not OUTSIDE.match(stripped)
        most = MAX_BARE if block.bare else MAX_MESSAGE
        if same and len(block.message) < most and (deeper or empty or direct):
            if parse_exception(stripped) and not deeper and not empty:
                self._end(block)
                return None
            block.message.append(text.rstrip())
            block.lengths.append(len(line.text))
            block.exc_last = line.number
            block.blanks = 0
            return Part.TEXT
        self._end(block)
        return None

    def _end(self, block: OpenTraceback) -> None:
        self._open.pop(block.worker, None)
        self._close(block)

    def _close(self, block: OpenTraceback) -> None:
        block.push()
        if self._latest is block:
            self._latest = None
        if not block.chain:
            return
        last = max(max(exc.last_line for exc in block.chain), block.first)
        lines = block.last - block.first + 1
        self.done.append(
            (
                block.token,
                Block(
                    worker=block.worker,
                    path=block.path,
                    first_line=block.first,
                    last_line=last,
                    chain=tuple(block.chain),
                    uncaught=block.uncaught and not block.ignored,
                    ignored=block.ignored,
                    time=block.time,
                    repeated=block.repeated,
                ),
                lines if lines == len(block.widths) + 1 else 0,
            )
        )


def _due(block: OpenTraceback) -> int:
    """Line at which a traceback has waited too long for its worker's next one."""
    return block.last + 1 + (MAX_BARE_GAP if block.bare else MAX_GAP)

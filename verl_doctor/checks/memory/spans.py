"""A quantity that is known within bounds, and the parts of one phase's memory."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes, between two bounds; both are the same where the number is exact."""

    low: float
    high: float

    @classmethod
    def exactly(cls, count: float) -> Span:
        """A number that is known."""
        return cls(count, count)

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> Span:
        """Both bounds multiplied by a factor of at least 0."""
        return Span(self.low * factor, self.high * factor)

    def gib(self) -> str:
        """In GiB: `3.5`, or `3.5-4.2` where the bounds differ."""
        low, high = f"{self.low / GIB:.1f}", f"{self.high / GIB:.1f}"
        return low if low == high else f"{low}-{high}"


NOTHING = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Part:
    """What takes a share of a phase's memory; `size` is None where that can't be told."""

    name: str
    size: Span | None


@dataclass(frozen=True, slots=True)
class Phase:
    """The parts that are on one GPU at the same moment: the fullest of the phase."""

    name: str
    parts: tuple[Part, ...]

    @property
    def known(self) -> Span:
        """The sum of the parts that can be told; its lower bound holds for the whole."""
        return sum((part.size for part in self.parts if part.size is not None), NOTHING)

    @property
    def complete(self) -> bool:
        """Whether every part can be told."""
        return all(part.size is not None for part in self.parts)

    def of(self, name: str) -> Span | None:
        """A part by its name; nothing where the phase has no such part."""
        return next((part.size for part in self.parts if part.name == name), NOTHING)

    def row(self) -> str:
        """The phase as a line of the table, in GiB."""
        told = " + ".join(
            f"{part.name} {part.size.gib() if part.size else '?'}"
            for part in self.parts
            if part.size is None or part.size.high >= GIB / 20
        )
        total = self.known.gib() if self.complete else f"at least {self.known.low / GIB:.1f}"
        return f"{self.name:<13} {total:>12} GiB = {told}"

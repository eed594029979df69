"""Lines of kilobytes to gigabytes: what stands in them is found and shown, at a cost that does not
grow with the line."""

from __future__ import annotations

import pytest

from tests.conftest import Doctor
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.logs.reader import Reader, Seen
from verl_doctor.logs.windows import MAX_WHOLE, WINDOW, windows
from verl_doctor.scan.anchors import EXCEPTION
from verl_doctor.scan.database import Scanner

OOM = (
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    b"capacity of 79.11 GiB of which 1.02 GiB is free."
)
FILLER = b" token 17"
MIB = 1 << 20


def filled(size: int) -> bytes:
    return FILLER * (size // len(FILLER))


@pytest.mark.parametrize("size", [1_000, 40_000, 200_000, 6 * MIB])
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_a_message_is_found_and_shown_wherever_in_a_line_it_stands(
    doctor: Doctor, size: int, place: float
) -> None:
    before = filled(int(size * place))
    line = before + b" " + OOM + filled(size - len(before))
    parts = [b"one\n", *(line[at : at + 4 * MIB] for at in range(0, len(line), 4 * MIB)), b"\nend"]
    report = doctor(parts)
    found = report.findings[0]
    assert found.rule == "CUD001"
    assert "2.00 GiB" in found.title
    assert found.evidence[0].line == 2
    assert "Tried to allocate 2.00 GiB" in found.evidence[0].text
    assert report.sources[0].lines == 3


def seen(shipped: tuple[RuleBase, Scanner], line: bytes) -> list[str]:
    """The texts of the parts of a line in which an exception stands."""
    items = Reader(shipped[1], "train.log").read([b"first\n", line + b"\nlast\n"])
    lines = [item.line for item in items if isinstance(item, Seen) and EXCEPTION in item.anchors]
    assert {line.number for line in lines} == {2}
    return [line.text for line in lines]


def test_bars_divide_a_long_line(shipped: tuple[RuleBase, Scanner]) -> None:
    bars = b"\r".join(b"%d%%|###" % (at % 100) for at in range(100_000))
    line = bars + b"\rKeyError: a\r" + bars + b"\r" + filled(MIB) + b" ValueError: b" + filled(MIB)
    first, second = seen(shipped, line)
    assert first == "KeyError: a"
    assert "ValueError: b token" in second
    assert "|###" not in second


def test_what_follows_a_hit_is_read_with_it(shipped: tuple[RuleBase, Scanner]) -> None:
    """However close it is to hits before it: none is cut off by the end of a window."""
    message = b" KeyError: %d" + filled(3_500) + b" end of %d"
    line = b"".join(message % (at, at) for at in range(100))
    texts = seen(shipped, line)
    for at in range(100):
        assert any(f"KeyError: {at} " in text and f"end of {at} " in f"{text} " for text in texts)


def test_hits_share_windows_that_hold_little_more_than_the_line() -> None:
    line = bytes(MIB)
    dense = [(at, 1) for at in range(1, len(line), 10)]
    found = list(windows(line, dense))
    told = [(window.start + at, ident) for window in found for at, ident in window.hits]
    assert told == dense
    assert all(window.end - window.start <= WINDOW for window in found)
    assert sum(window.end - window.start for window in found) < 3 * len(line)


@pytest.mark.parametrize("size", [MAX_WHOLE - 1, MAX_WHOLE, MAX_WHOLE + 1])
@pytest.mark.parametrize("place", [0.0, 0.3, 1.0])
def test_a_part_is_decoded_as_a_whole_up_to_the_limit(size: int, place: float) -> None:
    part = bytes(size)
    hit = max(1, int(size * place))
    (found,) = windows(b"bar\r" * 50_000 + part + b"\rbar" * 50_000, [(200_000 + hit, 7)])
    assert found.start + found.hits[0][0] == 200_000 + hit
    if size <= MAX_WHOLE:
        assert (found.start, found.end) == (200_000, 200_000 + size)
    else:
        assert found.start >= 200_000
        assert found.end <= 200_000 + size
        assert found.end - found.start <= WINDOW

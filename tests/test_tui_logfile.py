"""The log of any size: offsets and numbers agree with the file, whatever is in it."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from pathlib import Path

import pytest

from verl_doctor.sources import chunks, expand
from verl_doctor.tui import plot as plots
from verl_doctor.tui.logfile.clock import at_time, last_time
from verl_doctor.tui.logfile.find import Query, Selection, find
from verl_doctor.tui.logfile.fold import traceback_at
from verl_doctor.tui.logfile.levels import ERRORS, WARNINGS, level_of
from verl_doctor.tui.logfile.lines import BLOCK, MAX_SHOWN, Lines
from verl_doctor.tui.logfile.shown import Shown, Spans
from verl_doctor.tui.logfile.tape import Tape
from verl_doctor.tui.logfile.text import shown
from verl_doctor.tui.plot import Plot
from verl_doctor.tui.presence import Presence, Sighting, axis, drawn, ranks
from verl_doctor.tui.reading import Input, open_lines

from .conftest import GENUINE


def kept(data: bytes, *, step: int = 1 << 22, finished: bool = True) -> Lines:
    """Lines of a source that has no file, read in chunks of `step` bytes."""
    lines = Lines("<stdin>", Tape())
    for start in range(0, len(data), step):
        lines.grow(data[start : start + step])
    lines.finished = finished
    return lines


def never() -> bool:
    return False


def many(seed: int = 3) -> bytes:
    """Lines of all lengths, some longer than a block, the last one without an end."""
    rng = random.Random(seed)
    lengths = [rng.choice((0, 1, 30, 120, 5000)) for _ in range(2000)]
    lengths[100], lengths[700] = 3 * BLOCK, BLOCK
    return b"\n".join(b"%d:" % i + b"x" * n for i, n in enumerate(lengths))


@pytest.mark.parametrize("step", [1 << 22, 10_007])
def test_numbers_and_offsets_agree_with_the_file(step: int) -> None:
    data = many()
    lines = kept(data, step=step)
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == 10)]
    for number in [1, 2, 3, 99, 100, 101, 102, 700, 701, 702, 1999, 2000]:
        start = starts[number - 1]
        assert lines.start_of_number(number) == start
        assert lines.number_of(start) == number
        row = lines.row(start)
        assert row is not None
        assert row.raw.startswith(b"%d:" % (number - 1))
        assert row.end == (starts[number] if number < 2000 else len(data))
        assert lines.start_of(max(start, row.end - 1)) == start
        assert lines.before(start) == (starts[number - 2] if number > 1 else None)
    assert lines.start_of_number(0) is None
    assert lines.start_of_number(2001) is None
    assert lines.last() == starts[-1]


def test_walking_back_is_walking_forth_reversed() -> None:
    view = Shown(kept(many()))
    forth, place = [], view.first()
    while place is not None:
        forth.append(place)
        row = view.row(place)
        assert row is not None
        place = view.after(row)
    back, place = [], view.last()
    while place is not None:
        back.append(place)
        place = view.before(place)
    assert back == forth[::-1]
    assert len(forth) == 2000


def test_a_file_is_shown_before_it_has_been_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\nthree\n")
    (lines,) = open_lines(Input(tuple(expand([str(path)])[0])))
    last = lines.row(lines.last())
    assert last is not None
    assert last.raw == b"three"
    assert lines.number_of(last.start) is None
    lines.grow(b"one\ntwo\nthree\n")
    assert lines.number_of(last.start) == 3


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    (source,) = expand([str(path)])[0]
    (lines,) = open_lines(Input((source,)))
    for chunk in chunks(source):
        lines.grow(chunk)
    assert lines.size == 8
    assert [lines.row(lines.start_of_number(n) or 0).raw for n in (1, 2)] == [b"one", b"two"]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["a.log.gz", "utf16.log", "gb.log"])
def test_what_is_not_in_the_file_as_it_is_read_is_kept(tmp_path: Path, name: str) -> None:
    text = "plain\n" * 3 + "显存不足，任务失败，请检查日志中的错误信息\n" * 5
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_bytes(text.encode("utf-16" if name == "utf16.log" else "gb18030"))
    (source,) = expand([str(path)])[0]
    (lines,) = open_lines(Input((source,)))
    notes: list[str] = []
    noted = 0
    for chunk in chunks(source, notes=notes, size=1 << 10):
        lines.grow(chunk, check=len(notes) != noted)
        noted = len(notes)
    for number, line in enumerate(text.split("\n")[:-1], 1):
        row = lines.row(lines.start_of_number(number) or 0)
        assert row is not None
        assert shown(row) == line


def test_a_rotated_file_stays_readable(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old one\nold two\n")
    lines = Lines(str(path), Tape(str(path)))
    lines.grow(b"old one\nold two\n")
    path.rename(tmp_path / "a.log.1")
    path.write_bytes(b"new one\n")
    lines.grow(b"new one\n", check=True)
    lines.grow(b"new two\n")
    rows = [lines.row(lines.start_of_number(n) or 0) for n in (1, 2, 3, 4)]
    assert [row and row.raw for row in rows] == [b"old one", b"old two", b"new one", b"new two"]
    lines.tape.release()  # reopened, the path is another file: nothing rather than the wrong text
    assert lines.tape.read(0, 8) == b""


def test_a_line_of_megabytes_is_shown_in_part() -> None:
    lines = kept(b"a\n" + b"y" * 3_000_000 + b"\nend\n")
    row = lines.row(2)
    assert row is not None
    assert (len(row.raw), row.end) == (MAX_SHOWN, 3_000_003)
    assert shown(row).endswith("(2.86 MiB)")
    after = lines.row(row.end)
    assert after is not None
    assert after.raw == b"end"


def test_the_index_is_flat(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    block = b"(WorkerDict pid=7) a usual line of a usual log, nothing to see here\n" * 60_000
    with path.open("wb") as file:
        for _ in range(40):
            file.write(block)
    lines = Lines(str(path), Tape(str(path)))
    tracemalloc.start()
    for _ in range(40):
        lines.grow(block)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines.size > 150_000_000
    assert used < 200_000
    assert lines.number_of(lines.last()) == 2_400_000


def test_searching_finds_every_line_in_both_directions() -> None:
    data = b"".join(b"%d hit\n" % i if i % 5000 == 0 else b"%d filler text\n" % i
                    for i in range(1, 150_001))  # fmt: skip
    lines = kept(data)
    query = Query.parse("HIT".lower())
    assert query is not None
    forth, start = [], 0
    while (place := find(lines, query, start, True, never)) is not None:
        forth.append(lines.number_of(place))
        start = lines.row(place).end  # type: ignore[union-attr]
    assert forth == list(range(5000, 150_001, 5000))
    back, start = [], lines.size
    while (place := find(lines, query, start, False, never)) is not None:
        back.append(lines.number_of(place))
        start = place
    assert back == forth[::-1]
    assert find(lines, query, 0, True, lambda: True) is None


def test_queries() -> None:
    def hits(typed: str, text: bytes) -> list[int]:
        query = Query.parse(typed)
        assert query is not None
        return list(query.starts(text))

    text = b"Alpha\nbeta [0]\n\ngamma"
    assert hits("alpha", text) == [0]
    assert hits("ALPHA", text) == []
    assert hits("!a", text) == [15]
    assert hits("[0]", text) == [6]  # a character class, as typed
    assert hits("[0", text) == [6]  # no pattern: plain text
    assert hits("^$", text) == [15]
    assert hits("a$", text) == [0, 16]
    assert Query.parse("!") is None


def test_a_pattern_that_explodes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verl_doctor.tui.logfile.find.TIMEOUT_S", 0.1)
    query = Query.parse("(a+)+$x|(a|aa)+b")
    assert query is not None
    with pytest.raises(TimeoutError):
        find(kept(b"a" * 4000 + b"!\n"), query, 0, True, never)


def test_filters_leave_the_lines_that_they_should() -> None:
    data = b"".join(b"%d %s\n" % (i, b"in" if i % 3 else b"out") for i in range(3000)) + b"9 in"
    lines = kept(data)

    def left(*typed: str) -> list[bytes]:
        queries = [query for text in typed if (query := Query.parse(text)) is not None]
        selection = Selection(lines, queries)
        selection.extend(never)
        view = Shown(lines)
        view.spans = selection.spans
        rows, place = [], view.first()
        while place is not None:
            row = view.row(place)
            assert row is not None
            rows.append(row.raw)
            place = view.after(row)
        return rows

    every = data.split(b"\n")
    assert left(" in$") == [row for row in every if row.endswith(b"in")]
    assert left("!out") == [row for row in every if b"out" not in row]
    assert left("^1", "!out", "^2") == [
        row for row in every if row[:1] in (b"1", b"2") and b"out" not in row
    ]


def test_a_filter_follows_a_log_that_grows() -> None:
    lines = kept(b"a hit\nb\n", finished=False)
    query = Query.parse("hit")
    assert query is not None
    selection = Selection(lines, [query])
    selection.extend(never)
    lines.grow(b"c h")
    selection.extend(never)
    lines.grow(b"it\nd\n")
    selection.extend(never)
    assert selection.spans.from_(1) == 1
    assert selection.spans.from_(6) == 8
    assert len(selection.spans) == 2


def test_spans() -> None:
    spans = Spans()
    for start, end in ((10, 20), (20, 30), (50, 60)):
        spans.add(start, end)
    assert len(spans) == 2
    assert [spans.from_(at) for at in (0, 10, 29, 30, 59, 60)] == [10, 10, 29, 50, 59, None]
    assert [spans.before(at) for at in (10, 11, 30, 40, 60, 99)] == [None, 11, 30, 30, 60, 60]


def test_levels_are_known_without_their_colours() -> None:
    text = (
        b"fine\n[rank0]:[E1201 06:03:12.314 ProcessGroupNCCL.cpp:689] x\n"
        b"W1201 06:02:47.907000 1159 run.py:851] y\nValueError: z\nUserWarning: v\n"
    )
    starts = [0, *(i + 1 for i, byte in enumerate(text) if byte == 10)]
    assert [starts.index(at) + 1 for at in ERRORS.starts(text)] == [2, 4]
    assert [starts.index(at) + 1 for at in WARNINGS.starts(text)] == [3, 5]


def test_a_line_on_the_screen_has_the_level_that_a_search_finds() -> None:
    for path in sorted(GENUINE.glob("*.log")):
        text = path.read_bytes()
        starts = [0, *(i + 1 for i, byte in enumerate(text) if byte == 10)]
        lines = text.split(b"\n")
        shown_levels = [at for at, line in zip(starts, lines, strict=True) if level_of(line) == "E"]
        assert list(ERRORS.starts(text)) == shown_levels, path.name


def test_a_traceback_with_another_worker_in_between() -> None:
    text = (
        b"(A pid=1) before\n(A pid=1) Traceback (most recent call last):\n"
        b'(A pid=1)   File "x.py", line 1, in f\n(B pid=2) hello\n(A pid=1)     f()\n'
        b"(A pid=1) ValueError: no\n(A pid=1) after\n"
    )
    lines = kept(text)
    number = {n: lines.start_of_number(n) for n in range(1, 8)}
    for inside in (2, 3, 4, 5, 6):
        assert traceback_at(lines, number[inside] or 0) == (number[2], number[6])
    assert traceback_at(lines, number[1] or 0) is None
    assert traceback_at(lines, number[7] or 0) is None


def test_hostile_bytes_become_text() -> None:
    lines = kept(b"\x1b[31mred\x1b[0m \x1b]0;title\x07 \xe2\x80\xae \x9b31m \xff\x08\x00[bold]\n")
    row = lines.row(0)
    assert row is not None
    text = shown(row)
    assert "red" in text
    assert "[bold]" in text
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e" for c in text)


def test_a_progress_bar_is_its_last_state_and_its_errors() -> None:
    bar = "\r".join(["", *(f"{i}%|#" for i in range(50)), "ValueError: x", "51%|##"])
    row = kept(bar.encode() + b"\n").row(0)
    assert row is not None
    assert shown(row) == "[51␍] ValueError: x ␍ 51%|##"


def test_a_time_is_found_in_a_few_reads() -> None:
    stamped = (
        f"2026-12-01 {i // 3600:02}:{i // 60 % 60:02}:{i % 60:02} x\n" + "no time\n" * (i % 7)
        for i in range(40_000)
    )
    lines = kept("".join(stamped).encode())
    end = last_time(lines)
    assert end is not None
    for back in (0, 1, 59, 3600, 39_000):
        row = lines.row(at_time(lines, end - back))
        assert row is not None
        second = 39_999 - back
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        assert row.raw == f"2026-12-01 {clock} x".encode()
    assert at_time(lines, end - 1e6) == 0
    assert last_time(kept(b"no time\n" * 9)) is None


def test_ranks_in_few_characters() -> None:
    assert ranks([f"rank {i}" for i in (0, 1, 2, 3, 7)]) == "rank 0-3,7"
    assert ranks(["WorkerDict pid=1"]) == "WorkerDict pid=1"
    assert ranks(["rank 0", "raylet"]) == "2x"
    assert ranks([]) == ""


def test_the_strip_is_over_time_only_where_the_log_tells_it() -> None:
    def one(label: str, first: Sighting, last: Sighting) -> Presence:
        return Presence(label, first, last, None)

    told = [one("a", (1, 10.0), (90, 90.0)), one("b", (2, 11.0), (40, 55.0))]
    assert axis(told, 99) == ((10.0, 90.0), True)
    assert drawn(told[1], (10.0, 90.0), 9, True) == "----|    "
    carried = [one("a", (1, 10.0), (90, 20.0)), one("b", (2, 10.0), (40, 20.0))]
    assert axis([*carried, one("c", (3, 10.0), (99, 20.0))], 99) == ((1.0, 99.0), False)
    assert axis([one("a", (1, None), (50, 20.0))], 99) == ((1.0, 99.0), False)
    assert axis([], 0) == ((1.0, 1.0), False)


def test_a_metric_with_holes_is_drawn() -> None:
    values = (1.0, float("nan"), 3.0, 2.0)
    plot = Plot("k", (1, 2, 3, 4), values, (1, 2, 3, 4), ((1, 2, "MET001"),))
    assert plots.drawn(plot, 4, 3) == ["  * ", "   *", "*N  "]
    assert plots.marks(plot, 4) == " !! "
    flat = Plot("k", (1, 2), (5.0, 5.0), (1, 2))
    assert plots.drawn(flat, 2, 3) == ["  ", "**", "  "]
    dense = Plot("k", tuple(range(100)), tuple(float(i % 10) for i in range(100)), ())
    assert plots.drawn(dense, 10, 2) == ["|" * 10, "|" * 10]

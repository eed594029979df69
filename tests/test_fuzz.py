"""Every reader on generated input: no crash, no lost line, the same answer in pieces.

Derandomised: a failure here fails for everyone. docs/fuzzing.md has the longer, coverage-guided
runs.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import GENUINE, Doctor
from verl_doctor.detect.config import Settings
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.patterns import fault_of
from verl_doctor.knowledge.read import read_rule
from verl_doctor.logs.blocks import Assembler
from verl_doctor.logs.prefix import peel
from verl_doctor.logs.text import visible
from verl_doctor.model import Line
from verl_doctor.render import json_v1, markdown, text
from verl_doctor.scan.database import Scanner
from verl_doctor.sources import Source, chunks

STDIN = Source("<stdin>", "stdin")


def bounded(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many examples, the same ones each time, however slow the machine."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


GENUINE_LINES = sorted(
    {
        line[:300]
        for path in sorted(GENUINE.glob("*.log"))[::8]
        for line in path.read_bytes().splitlines()
    }
)
PIECES = st.sampled_from(
    [
        b"Traceback (most recent call last):",
        b'  File "a.py", line 1, in f',
        b"    x = 1",
        b"KeyError: 'a'",
        b"During handling of the above exception, another exception occurred:",
        b"",
        b"\r",
        b"\x1b[31m",
        b"\x1b]0;t\x07",
        b"\xff\xfe",
        b"\0",
        b"(W pid=1) ",
        b"[rank3]: ",
        b"\xe8\xae\xad",
        b"step:1 - a:1",
        b'{"message": "x", "level": "ERROR"}',
        b"{'algorithm': {",
        b"}",
        b"[prompt] a",
        b"[score] 1",
        b"[repeated 3x across cluster]",
        b"\xd1\xb5\xc1\xb7",
        b"  + Exception Group Traceback",
        b"  | x: y",
    ]
)
LINES = st.one_of(st.sampled_from(GENUINE_LINES), PIECES, st.binary(max_size=40))
GLUE = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"", b" "])
LOGS = st.lists(st.tuples(LINES, GLUE), max_size=25).map(
    lambda parts: b"".join(line + glue for line, glue in parts)
)


@bounded(60)
@given(log=LOGS)
def test_a_log_of_anything_gives_a_report_that_can_be_printed(
    shipped: tuple[RuleBase, Scanner], log: bytes
) -> None:
    report = Doctor(*shipped)(log)
    for page in (text.render(report), markdown.render(report), json_v1.render(report)):
        page.encode()
        page = page.replace("@\u200b", "@")
        assert page == visible(page)


@bounded(60)
@given(log=LOGS, data=st.data())
def test_a_log_in_pieces_is_the_same_log(
    shipped: tuple[RuleBase, Scanner], log: bytes, data: st.DataObject
) -> None:
    lines = log.splitlines(keepends=True) if b"\r" not in log else [log]
    cut = data.draw(st.integers(0, len(lines)))
    doctor = Doctor(*shipped)
    parts = [part for part in (b"".join(lines[:cut]), b"".join(lines[cut:])) if part]
    assert doctor(parts).findings == doctor(log).findings


@bounded(150)
@given(data=st.one_of(LOGS, st.binary(max_size=300)), size=st.sampled_from([1, 7, 1024]))
def test_any_stream_gives_whole_lines(data: bytes, size: int) -> None:
    class Slow(io.BytesIO):
        def read1(self, count: int | None = -1, /) -> bytes:
            return super().read1(size)

    notes: list[str] = []
    parts = list(chunks(STDIN, stdin=Slow(data), size=1024, notes=notes))
    assert all(part.endswith(b"\n") for part in parts[:-1])
    joined = b"".join(parts)
    if not notes and joined.isascii() and data.isascii():
        assert joined in (data, data.replace(b"\0", b""))


@bounded(100)
@given(
    log=LOGS,
    pack=st.sampled_from([gzip.compress, bz2.compress, lzma.compress, zstandard.compress]),
    keep=st.floats(0, 1),
    flip=st.integers(0, 10_000),
)
def test_a_spoilt_archive_is_read_as_far_as_it_goes(
    log: bytes, pack: Callable[[bytes], bytes], keep: float, flip: int
) -> None:
    packed = bytearray(pack(log))[: int(len(pack(log)) * keep)]
    if packed:
        packed[flip % len(packed)] ^= flip % 256
    for _ in chunks(STDIN, stdin=io.BytesIO(bytes(packed)), notes=[]):
        pass


@bounded(200)
@given(st.one_of(LINES.map(lambda line: line.decode("utf-8", "replace")), st.text(max_size=200)))
def test_prefixes_come_off_from_the_left(line: str) -> None:
    peeled = peel(line)
    assert line.endswith(peeled.rest) or "json_line" in peeled.formats


@bounded(100)
@given(st.lists(st.tuples(LINES, st.booleans()), max_size=30))
def test_a_traceback_never_reaches_beyond_its_lines(lines: list[tuple[bytes, bool]]) -> None:
    assembler = Assembler()
    for number, (raw, exception) in enumerate(lines, 1):
        line = raw.decode("utf-8", "replace").partition("\n")[0]
        assembler.feed(Line(line, number, "a.log"), (), exception=exception)
    assembler.finish()
    for _, block, _ in assembler.done:
        assert 1 <= block.first_line <= block.last_line <= len(lines)
        assert block.chain


@bounded(200)
@given(st.text(alphabet="ab='\"[]{}(),\\ +~.-1\ud800", max_size=80))
def test_overrides_of_anything(items: str) -> None:
    settings_ = Settings()
    settings_.overrides_line(f"Error executing job with overrides: [{items}")
    settings_.overrides_line(f"-m verl.trainer.main_ppo {items}")
    settings_.dump(items)
    assert all(isinstance(item, str) for item in settings_.overrides)


YAML = st.recursive(
    st.one_of(
        st.sampled_from(
            [
                "id: DST001",
                "match:",
                "line:",
                "- contains: x",
                "title: {en: x}",
                "!!x y",
                "&a b",
                "*a",
                "? k",
                "---",
                "...",
                "%YAML 9.9",
                "|",
                ">",
                "'",
                '"\\ud800"',
            ]
        ),
        st.text(max_size=12),
    ),
    lambda inner: st.lists(inner, max_size=6).map(
        lambda parts: "\n".join("  " + line for part in parts for line in part.split("\n"))
    ),
    max_leaves=20,
)


@bounded(200)
@given(YAML)
def test_a_rule_file_of_anything_gives_a_rule_or_its_problems(content: str) -> None:
    plain, problems = read_rule(content, "x.yaml")
    assert (plain is None) == bool(problems)
    assert all(one.line >= 1 and one.column >= 1 for one in problems)


@bounded(200)
@given(st.text(alphabet="ab(|)[]{}*+?\\d,19^$:<>P=.", max_size=30))
def test_a_pattern_compiles_or_is_refused(pattern: str) -> None:
    import regex

    if fault_of(pattern) is None:
        regex.compile(pattern)

"""Prefixes: what each format takes off, how they stack, and what must stay as it is."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from verl_doctor.logs import formats
from verl_doctor.logs import prefix as prefix_module
from verl_doctor.logs.formats import LEVEL_STARTS, LEVEL_THEN, LEVELS, Format, Sample, discover
from verl_doctor.logs.prefix import MAX_DEPTH, Peeled, parse_time, peel
from verl_doctor.model import NOBODY, Worker
from verl_doctor.scan.colours import plain

FORMATS = discover()
CASES = [
    pytest.param(fmt, sample, id=f"{fmt.name}-{number}")
    for fmt in FORMATS
    for number, sample in enumerate(fmt.samples)
]
GENUINE = Path(__file__).parent.parent / "fixtures_logs" / "genuine"


def _epoch(iso: str) -> float:
    return datetime.fromisoformat(iso).replace(tzinfo=timezone.utc).timestamp()


# --- each format ----------------------------------------------------------------------------


def test_every_module_of_the_package_is_a_format() -> None:
    folder = Path(formats.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {fmt.name for fmt in FORMATS} == files
    assert all(fmt.samples for fmt in FORMATS)


@pytest.mark.parametrize(("fmt", "sample"), CASES)
def test_sample(fmt: Format, sample: Sample) -> None:
    peeled = peel(sample.line)
    expected = dict(sample.fields)
    iso = expected.pop("time", "")
    said = {key: value for key, value in peeled.worker._asdict().items() if value}
    if peeled.level:
        said["level"] = peeled.level
    assert peeled.rest == sample.rest
    assert said == expected
    assert peeled.time == (pytest.approx(_epoch(iso), abs=1e-3) if iso else None)
    if peeled.rest != sample.line:
        assert fmt.name in peeled.formats


def test_level_letters_cover_the_level_words() -> None:
    words = LEVELS.split("|")
    assert {word[0] for word in words} <= set(LEVEL_STARTS)
    assert {word[1] for word in words} <= set(LEVEL_THEN)


@pytest.mark.parametrize(
    "month", ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
)
def test_journald_knows_each_month(month: str) -> None:
    assert peel(f"{month} 17 18:42:18 host unit[1]: x").formats == ("journald",)


# --- stacks ---------------------------------------------------------------------------------


def _prefix(fmt: Format, sample: Sample) -> str:
    if fmt.unwrap or not sample.rest or not sample.line.endswith(sample.rest):
        return ""
    return sample.line[: -len(sample.rest)]


def _at_line_start(fmt: Format) -> bool:
    return fmt.pattern.startswith(r"(?<![^\n])")


FREE = [
    (fmt, prefix)
    for fmt in FORMATS
    for sample in fmt.samples
    # NCCL's prefix is one only before NCCL's own text; a rank tag that came without its blank looks
    # like one with it as soon as the text is indented
    if (prefix := _prefix(fmt, sample))
    and fmt.name != "nccl"
    and not (fmt.name == "rank_tag" and prefix.endswith(":"))
]
OUTER = [prefix for _, prefix in FREE]
INNER = [prefix for fmt, prefix in FREE if not _at_line_start(fmt)]
CONTENT = [
    "text",
    "Traceback (most recent call last):",
    '  File "/a/b.py", line 3, in f',
    "    return self._call_impl(*args, **kwargs)",
    "           ^^^^^^^^^^^^^^",
    "ValueError: x",
    "KeyError: 'lr'",
    "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB",
    "step:3 - actor/pg_loss:0.1 - critic/rewards/mean:0.5",
    "'lr': 1e-06,",
    "",
]
WORDS = st.text(alphabet="abcXYZ 0189.,;'-_()=/", min_size=1).map(lambda text: "q" + text)


@given(
    first=st.sampled_from(OUTER),
    further=st.lists(st.sampled_from(INNER), max_size=2),
    text=st.sampled_from(CONTENT) | WORDS,
)
def test_stacked_prefixes_give_back_the_text(first: str, further: list[str], text: str) -> None:
    assert peel(first + "".join(further) + text).rest == text


def test_every_pair_gives_back_the_text() -> None:
    for first in OUTER:
        for second in INNER:
            for text in CONTENT:
                assert peel(first + second + text).rest == text, (first, second, text)


@given(
    further=st.lists(st.sampled_from(INNER), max_size=2),
    inner=st.sampled_from([s for fmt in FORMATS for s in fmt.samples if not _at_line_start(fmt)]),
)
def test_any_sample_may_stand_behind_other_prefixes(further: list[str], inner: Sample) -> None:
    # a level that is part of the text counts as a prefix behind a bare stamp
    assume(peel(inner.line).rest != inner.line)
    assert peel("".join(further) + inner.line).rest == inner.rest


@given(st.text())
def test_any_text_keeps_its_end(text: str) -> None:
    peeled = peel(text)
    assert "{" in text or text.endswith(peeled.rest)
    assert peeled.worker != NOBODY or peeled.worker is NOBODY


def test_formats_may_come_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_module, "discover", lambda: FORMATS[::-1])
    monkeypatch.setattr(prefix_module, "_BY_START", prefix_module._ByStart())
    for fmt in FORMATS:
        for sample in fmt.samples:
            assert peel(sample.line).rest == sample.rest


def test_documented_stack() -> None:
    assert peel(
        "[default0]:[rank0]:[E1201 06:03:12.314158169 ProcessGroupNCCL.cpp:689] [Rank 0] text"
    ) == Peeled("text", Worker(rank="0"), "ERROR", None, ("role_tag", "rank_tag", "c10d"))


def test_the_outermost_time_counts() -> None:
    line = "2025-08-07T21:02:33Z (raylet) [2026-12-01 06:21:24,693 E 1 1] (raylet) a.cc:1: x"
    assert peel(line).time == _epoch("2025-08-07T21:02:33")


def test_the_innermost_level_counts() -> None:
    assert peel("2024-01-22 14:32:27 | ERROR | stderr | INFO 01-22 14:32:27 [a.py:1] x") == Peeled(
        "x", NOBODY, "INFO", _epoch("2024-01-22T14:32:27"), ("pipe_log", "vllm")
    )


# --- who it was -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        [
            "[rank0]: Traceback (most recent call last):",
            "[rank0]:[E1201 06:03:00.917549497 ProcessGroupNCCL.cpp:612] [Rank 0] x",
            "[rank0]:[W1201 06:04:09.856223201 Utils.hpp:137] Warning: x",
            "[rank0]:W1201 06:08:42.856000 11121 torch/_dynamo/convert_frame.py:844] x",
            "[default0]:[rank0]: x",
            "0: [rank0]: x",
        ],
        [
            "[rank5]: x",
            # the rank within a tensor parallel group of two
            "[rank5]:[E820 11:47:24.169946254 ProcessGroupNCCL.cpp:607] [Rank 1] x",
            "[rank5]:[E820 11:47:24.1 ProcessGroupNCCL.cpp:1] [PG ID 2 PG GUID 9(tp) Rank 1] x",
        ],
        [
            "(WorkerDict pid=41, ip=10.0.0.2) x",
            "(WorkerDict pid=41, ip=10.0.0.2) ERROR 12-01 06:04:40 [core.py:708] x",
            "(WorkerDict pid=41, ip=10.0.0.2) vm:41:99 [0] NCCL INFO x",
            "(WorkerDict pid=41, ip=10.0.0.2) [E ProcessGroupNCCL.cpp:828] [Rank 3] x",
            "(WorkerDict pid=41, ip=10.0.0.2) [2026-12-01 06:39:38,338 E 41 42] core.cc:2: x",
            "2025-08-07T21:02:33Z (WorkerDict pid=41, ip=10.0.0.2) WARNING:root:x",
        ],
        [
            "(raylet) Traceback (most recent call last):",
            "(raylet) [2026-12-01 06:21:24,693 E 15678 15689] (raylet) file_system.cc:116: x",
        ],
        [
            "(TaskRunner pid=5) (EngineCore_DP0 pid=77) Process EngineCore_DP0:",
            "(TaskRunner pid=5) (EngineCore_DP0 pid=77) ERROR 12-01 06:04:40 [core.py:708] x",
            "[36m(TaskRunner pid=5)[0m (EngineCore_DP0 pid=77) x",
        ],
        [
            "Traceback (most recent call last):",
            "[2025-06-22 16:13:55 TP0] Scheduler hit an exception: Traceback",
            "E1201 06:08:42.856000 11121 torch/distributed/run.py:1] failed",
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed",
            "[2026-12-01 06:39:38,338 E 30030 30257] rpc_client.h:204: x",
        ],
    ],
)
def test_lines_of_one_process_have_one_worker(lines: list[str]) -> None:
    assert len({peel(line).worker for line in lines}) == 1


def test_engines_of_two_actors_differ() -> None:
    engine = "(EngineCore_DP0 pid=77) x"
    one, two = peel(f"(vLLMHttpServer pid=5) {engine}"), peel(f"(vLLMHttpServer pid=6) {engine}")
    other_node = peel(f"(vLLMHttpServer pid=5, ip=10.0.0.3) {engine}")
    assert one.worker == two.worker == Worker("", "vLLMHttpServer/EngineCore_DP0", "77")
    assert other_node.worker.node == "10.0.0.3"


# --- what is no prefix ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ValueError: x",
        "KeyError: 'lr'",
        "RuntimeError: [/__w/pytorch/third_party/gloo/pair.cc:537] Read error [127.0.0.1]:27363",
        "Error executing job with overrides: ['data.train_files=/a|b', 'x=10%']",
        "'lr': 1e-06,",
        "{'actor_rollout_ref': {'actor': {'_target_': 'verl.workers.config.FSDPActorConfig',",
        '{"time": 3, "metric": 2}',
        '{"message": "no time and no level"}',
        '{"message": broken, "time": 3}',
        "step:3 - actor/pg_loss:0.1 - critic/rewards/mean:0.5",
        "[prompt] Traceback (most recent call last): ValueError",
        "[response] 3: text",
        "[score] 0.0",
        "[rank0] and [red] in prose",
        "[validate_config] All configuration checks passed successfully!",
        "[0]:",
        "[1]:",
        "[0, 1, 2, 3]",
        "[1/3] /opt/gcc/bin/g++ -MMD",
        "[2]+  Done                    ( sleep 5; kill -KILL $P )",
        "[Node 192.0.2.2] Traceback (most recent call last):",
        "[ERROR_CODE] x",
        '  File "x.py", line 3',
        "  0x7f3b6e7236fc in clone",
        "   0: rust_begin_unwind",
        "    0: value",
        "(most recent call last)",
        "(score) response: 'Traceback (most recent call last): ZeroDivisionError' -> reward 0.0",
        "(pid=3, ip=10.0.0.2, actor_id=ab, repr=<x>)",
        "W&B syncing is set to `offline`",
        "wandb sync /tmp/wandb",
        "07: text",
        "0:text",
        "123456: text",
        "12:30: text",
        "a 3: text",
        "time      : 2026-12-01_06:03:10",
        "rank      : 4 (local_rank: 0)",
        "ERRORS: 3",
        "INFO about it",
        "WARNING:http://example.org",
        "Marker 17 18:42:18 host unit[123]: x",
        "mean | max | min",
        "GPU 3 is 10%|20% busy",
        "ValueError: Training Progress:  10%|#   | 116/1155 [7:54:43<67:30:48, 233.93s/it]",
        "cause: bad Training Progress:  10%|#   | 116/1155 [7:54:43<67:30:48, 233.93s/it]",
        "step:3 - x:1Training Progress:  10%|#   | 116/1155 [7:54:43<67:30:48, 233.93s/it]",
        "took 3 [00:12, see log/s]: x: y",
        "host:12:34 [0] text without the library",
        "NCCL version 2.28.9+cuda13.0",
        "frame #1: c10d::ProcessGroupNCCL::checkTimeout() + 0x380 (0x7f8a in /opt/libtorch.so)",
    ],
)
def test_left_whole(text: str) -> None:
    assert peel(text) == Peeled(text, NOBODY, "", None, ())


def test_a_number_behind_a_prefix_is_no_task() -> None:
    peeled = peel("(WorkerDict pid=41) 3: x")
    assert peeled.rest == "3: x"
    assert peeled.worker == Worker("", "WorkerDict", "41")


def test_a_level_in_the_text_is_no_prefix() -> None:
    assert peel("ERROR: x") == Peeled("ERROR: x", NOBODY, "ERROR", None, ())


# --- times ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stamp", "iso"),
    [
        ("2026-12-01 06:00:00", "2026-12-01T06:00:00"),
        ("2026-12-01T06:00:00.5Z", "2026-12-01T06:00:00.500"),
        ("2026-12-01T06:00:00,123", "2026-12-01T06:00:00.123"),
        ("2026-12-01T06:00:00+08:00", "2026-11-30T22:00:00"),
        ("2026-12-01T06:00:00-0530", "2026-12-01T11:30:00"),
        ("02/29/2024 06:00:00", "2024-02-29T06:00:00"),
        ("1764568800", "2025-12-01T06:00:00"),
        ("1764568800500", "2025-12-01T06:00:00.500"),
    ],
)
def test_time(stamp: str, iso: str) -> None:
    assert parse_time(stamp) == pytest.approx(_epoch(iso), abs=1e-3)


@pytest.mark.parametrize("stamp", ["2025-02-29 06:00:00", "2025-13-01 06:00:00", "x", "nan", "7"])
def test_no_time(stamp: str) -> None:
    assert parse_time(stamp) is None


# --- limits ---------------------------------------------------------------------------------


def test_depth_is_bounded() -> None:
    peeled = peel("[rank0]: " * 50 + "x")
    assert len(peeled.formats) == MAX_DEPTH
    assert peeled.rest.endswith("[rank0]: x")


@pytest.mark.parametrize(
    "unit",
    [
        "[rank0]:",
        "(",
        "(a ",
        " ",
        "1: ",
        "[",
        "10%|",
        "a: 1%",
        '{"',
        "ERROR:a",
        "0 [00:00, ",
        "vm:",
    ],
)
def test_a_megabyte_costs_little(unit: str) -> None:
    line = (unit * (1_000_000 // len(unit))) + " pid=1 NCCL %| /s]"
    peel(line)
    start = time.perf_counter()
    peel(line)
    assert time.perf_counter() - start < 0.1


def test_genuine_logs_keep_their_text() -> None:
    """No line of a real log loses more than a prefix, and tracebacks keep their indentation."""
    frames = 0
    for path in sorted(GENUINE.glob("*.log")):
        for raw in plain(path.read_bytes()).replace(b"\r", b"\n").split(b"\n"):
            text = raw.decode("utf-8", "replace")
            peeled = peel(text)
            assert text.endswith(peeled.rest)
            if ", line " in text and 'File "' in text[:40]:
                frames += 1
                assert peeled.rest.lstrip(" ").startswith(("File", "|")), text
                assert peeled.rest.startswith(" "), text
    assert frames > 400


def test_nothing_is_compiled_at_import() -> None:
    code = (
        "import sys, verl_doctor.logs.prefix as p, verl_doctor.logs.formats as f\n"
        "assert not [m for m in sys.modules if m.startswith('verl_doctor.logs.formats.')]\n"
        "assert p._matcher.cache_info().currsize == 0\n"
        "p.peel('ValueError: x')\n"
        "assert p._matcher.cache_info().currsize < 5, p._matcher.cache_info()\n"
        "assert 'json' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)

"""What checks, dumps, live runs and the store read, on generated input: no crash, no hang.

Derandomised like tests/test_fuzz.py; docs/fuzzing.md has the longer, coverage-guided runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.store_samples import finding, report
from tests.test_fuzz import LOGS, bounded
from verl_doctor.checks import config, data, memory, model
from verl_doctor.detect.flight_recorder import compare
from verl_doctor.detect.metrics.columns import Columns
from verl_doctor.detect.metrics.lines import read_dict_line, read_json_line, read_step_line
from verl_doctor.errors import DoctorError
from verl_doctor.knowledge import verl_config
from verl_doctor.live import News
from verl_doctor.logs.mask import mask
from verl_doctor.logs.text import visible
from verl_doctor.model import Line
from verl_doctor.render.news import line as told
from verl_doctor.run.copying import Copy
from verl_doctor.run.stacks import merged, threads_of
from verl_doctor.sources.flight_recorder import read_dumps
from verl_doctor.store import export, record, take_in

RELEASE = "0.9.1"
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 8, 2**31, 10**30, 0.5, float("nan"), "", "x", "${a", "${data.seed}"]),
    st.text(max_size=6),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


# --- live runs and their logs ---------------------------------------------------------------

NUMBERS = st.sampled_from(
    ["0.5", "nan", "-inf", "1e400", "np.float64(0.1)", "np.float64(", "9" * 400, "1_0", "", "²"]
)
KEYS = st.sampled_from(["actor/grad_norm", "loss", "a b", "a:b", "", "\x1b[31m", "epoch"])
STEPS = st.sampled_from(["0", "1", "2", "7", "9" * 12, "9" * 13, "-1", "1.5", "true"])
METRIC_LINES = st.one_of(
    st.builds("step:{} - {}:{} - loss:{}".format, STEPS, KEYS, NUMBERS, NUMBERS),
    st.builds("{{'loss': {}, '{}': {}, 'epoch': '{}'}}".format, NUMBERS, KEYS, NUMBERS, NUMBERS),
    st.builds("Global step {}: {{'{}': {}}}".format, STEPS, KEYS, NUMBERS),
    st.builds('{{"step": {}, "{}": {}, "data": {{}}}}'.format, STEPS, KEYS, NUMBERS),
    st.dictionaries(st.sampled_from(["step", "_step", "data", "loss"]), VALUES).map(json.dumps),
    st.text(max_size=30),
)


@bounded(150)
@given(st.lists(METRIC_LINES, max_size=12))
def test_metrics_of_anything_are_columns_whose_steps_grow(lines: list[str]) -> None:
    columns = Columns()
    for number, text in enumerate(lines, 1):
        for read in (read_step_line, read_dict_line, read_json_line):
            reading = read(text)
            if reading is not None:
                columns.add(reading, Line(text, number, "a.log"))
    for key in columns.keys():  # noqa: SIM118 - no mapping
        assert all(one < other for one, other in pairwise(columns[key].steps))


@bounded(100)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([b"A", b"AA\n", b"\n", b"\r", b"x"]))))
def test_a_copy_holds_whole_lines_of_each_stream(parts: list[tuple[int, bytes]]) -> None:
    """One stream prints in capitals, the other does not: no line holds both."""
    read, write = os.pipe()
    copy = Copy(write)
    given_ = [b"", b""]
    for stream, part in parts:
        part = part.upper() if stream else part.lower()
        given_[stream] += part
        copy.add(stream, part)
    copy.finish()
    os.close(write)
    with os.fdopen(read, "rb") as file:
        kept = file.read()
    assert sorted(kept) == sorted(b"".join(given_))
    whole = [line for line in kept.split(b"\n")[:-1] if line.isalpha()]
    assert all(line.isupper() or line.islower() for line in whole)


@bounded(100)
@given(title=st.text(max_size=60), kind=st.sampled_from(["alert", "revised", "again", "cleared"]))
def test_what_is_sent_of_a_finding_is_harmless(title: str, kind: str) -> None:
    one = finding(title=visible(title))
    text = visible(mask(told(News(kind, None if kind == "cleared" else one), "zh", 0.0)))
    text.encode()
    assert text == visible(text)


THREADS = st.dictionaries(
    st.sampled_from(["pid", "os_thread_id", "thread_name", "owns_gil", "active", "frames"]), VALUES
)


@bounded(100)
@given(st.one_of(VALUES, st.lists(THREADS, max_size=2)))
def test_stacks_of_anything_are_threads_or_an_error_that_is_expected(printed: Any) -> None:
    with contextlib.suppress(KeyError, TypeError):
        merged([(1, threads_of(printed))])


# --- settings -------------------------------------------------------------------------------

SCRIPT_PARTS = st.sampled_from(
    ["A=1", "A=(a.b=1", ")", "A+=(", '"', "'", "\\\n", "\n", "${A:-${B}}", "$((A+1))", "`x`",
     "python -m verl.trainer.main_ppo ", " a.b=$A", " \"${A[@]}\"", "if x; then", "fi", "<<EOF",
     "EOF", "#", " ", "|", "\0", "训"]
)  # fmt: skip


@bounded(200)
@given(st.lists(SCRIPT_PARTS, max_size=20).map("".join))
def test_a_script_of_anything_gives_words(text: str) -> None:
    for one in config.script(text, {"HOME": "/home/a"}).overrides:
        assert isinstance(one.text, str)


WORDS = st.builds(
    "{}{}={}".format,
    st.sampled_from(["", "+", "++", "~"]),
    st.sampled_from(
        ["data.train_batch_size", "actor_rollout_ref", "actor_rollout_ref.rollout", "no.such",
         "trainer.nnodes", "actor_rollout_ref.actor.strategy", "data.max_prompt_length", "nope"]
    ),
    st.sampled_from(
        ["0", "-1", "8", "9" * 30, "1e400", "null", "true", "x", "[1,{a:2}]", "${data.seed}", "'",
         "megatron", "range(1,9)", "???"]
    ),
)  # fmt: skip


@bounded(12)
@given(st.lists(WORDS, max_size=4))
def test_settings_of_anything_are_judged(words: list[str]) -> None:
    settings = config.compose(config.command(words), RELEASE)
    assert config.check(settings)
    memory.check(settings, 80e9)


SECTIONS = sorted(verl_config.configs(RELEASE)["ppo_trainer"])


@bounded(12)
@given(st.dictionaries(st.one_of(st.sampled_from(SECTIONS), st.text(max_size=4)), VALUES))
def test_a_config_of_anything_is_refused_or_judged(base: dict[str, Any]) -> None:
    with contextlib.suppress(DoctorError):
        config.check(config.compose(config.command([]), RELEASE, base))


# --- files ----------------------------------------------------------------------------------

ENTRIES = st.dictionaries(
    st.sampled_from(
        ["process_group", "collective_seq_id", "seq_id", "is_p2p", "profiling_name", "state",
         "input_sizes", "time_created_ns", "frames"]
    ),
    st.one_of(VALUES, st.just(("0", "default_pg")), st.integers(0, 3)),
)  # fmt: skip
DUMPS = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {"entries": st.lists(ENTRIES, max_size=3)},
        optional={"pg_config": VALUES, "version": VALUES},
    ),
)


@bounded(100)
@given(dump=DUMPS, cut=st.integers(0, 400), flip=st.integers(0, 4000))
def test_a_dump_of_anything_is_compared_or_told(
    tmp_path_factory: Any, dump: Any, cut: int, flip: int
) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    pickled = bytearray(pickle.dumps(dump, flip % 5))
    broken = pickled[: cut or None]
    broken[flip % len(broken)] ^= flip % 256
    paths = [folder / name for name in ("fuzz_rank_0", "fuzz_rank_1", "fuzz_rank_2")]
    for path, content in zip(paths, (pickled, broken, json.dumps(dump).encode()), strict=True):
        path.write_bytes(content)
    notes: list[str] = []
    compare(read_dumps([str(path) for path in paths], notes))
    assert all(note == visible(note) for note in notes)


@bounded(60)
@given(st.one_of(VALUES.map(json.dumps).map(str.encode), st.binary(max_size=60)))
def test_a_model_folder_of_anything_is_told(tmp_path_factory: Any, content: bytes) -> None:
    folder: Path = tmp_path_factory.getbasetemp() / "model"
    folder.mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "a.safetensors"):
        (folder / name).write_bytes(content)
    (folder / "b.safetensors").write_bytes(len(content).to_bytes(8, "little") + content)
    assert list(model.check(folder))


def _parquet(row: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([row]), file)
    return file.getvalue()


ROW = {"prompt": [{"role": "user", "content": "?"}], "reward_model": {"ground_truth": "1"}}
SETTINGS = config.compose(config.command([]), RELEASE)


@bounded(40)
@given(
    rows=st.lists(
        st.one_of(VALUES, st.fixed_dictionaries({"prompt": VALUES, "data_source": VALUES})),
        max_size=3,
    ),
    flip=st.integers(0, 1 << 20),
)
def test_data_files_of_anything_are_told(tmp_path_factory: Any, rows: Any, flip: int) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    spoilt = bytearray(_parquet(ROW))
    spoilt[flip % len(spoilt)] ^= 1 + flip % 255
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for name, content in (("fuzz.parquet", bytes(spoilt)), ("fuzz.jsonl", lines)):
        (folder / name).write_bytes(content)
        path = str(folder / name)
        assert list(data.check([path], [path], SETTINGS))


@bounded(25)
@given(
    place=st.integers(0, 3),
    key=st.sampled_from(["type", "uid", "fingerprint", "run", "logs", "evidence", "versions", "x"]),
    value=VALUES,
)
def test_lines_of_anything_are_taken_in_or_refused(
    tmp_path_factory: Any, place: int, key: str, value: Any
) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    path = folder / "fuzz.db"
    if not path.exists():
        record(report("/a.log", finding()), db_path=path)
    before = list(export(db_path=path))
    lines = [json.loads(line) for line in before]
    lines[place][key] = value
    try:
        take_in(map(json.dumps, lines), db_path=path)
    except DoctorError:
        assert list(export(db_path=path)) == before


@bounded(40)
@given(LOGS)
def test_lines_that_no_store_wrote_are_refused(tmp_path_factory: Any, log: bytes) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "fuzz-log.db"
    with contextlib.suppress(DoctorError):
        assert take_in(log.decode("utf-8", "replace").split("\n"), db_path=path).runs == 0

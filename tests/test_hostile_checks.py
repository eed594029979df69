"""Files that `check` and `--flight-recorder` read, made to hurt (docs/threats.md, C1 to C15)."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from tests.test_cli import run
from verl_doctor.checks import config, data, memory, model
from verl_doctor.checks.config import command, compose, script
from verl_doctor.checks.config import settings as settings_
from verl_doctor.checks.data import room
from verl_doctor.checks.data.lengths import limits
from verl_doctor.checks.environment.ask import Answer
from verl_doctor.checks.examine import Subject, examine
from verl_doctor.checks.model.folder import MAX_JSON
from verl_doctor.checks.names import SUBJECTS
from verl_doctor.errors import DoctorError
from verl_doctor.sources import flight_recorder
from verl_doctor.sources.flight_recorder import read_dumps

RELEASE = "0.9.1"
ROW = {
    "prompt": [{"role": "user", "content": "a" * 40}],
    "data_source": "openai/gsm8k",
    "reward_model": {"ground_truth": "1"},
}

SOON_S = 20
"""Without its limit each of these takes minutes or all memory; a busy machine is given time."""


def test_a_script_that_doubles_its_variables_ends_soon() -> None:
    begun = time.process_time()
    lines = ["A=xxxxxxxxxx", *["A=$A$A"] * 60, "B=(a.b=$A)", *['B+=("${B[@]}")'] * 60]
    script("\n".join([*lines, 'python -m verl.trainer.main_ppo "${B[@]}" c.d=$A']), {})
    assert time.process_time() - begun < SOON_S


def test_a_long_script_is_read_once() -> None:
    begun = time.process_time()
    script("A=(\n" + "  a.b='1' # (\n" * 40_000, {})
    script("'\n" * 200_000, {})
    assert time.process_time() - begun < SOON_S


def test_deep_json_rows_are_a_fault_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"prompt": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    found = list(data.check([str(path)], [], compose(command([]), "0.9.1")))
    assert [one.state for one in found] == ["fault"]
    assert "nested deeper" in found[0].seen[0]


def test_json_rows_that_arrow_does_not_survive_are_a_fault_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    nulls = '{"prompt": null, "data_source": null}\n{"prompt": null, "data_source": [null, "0"]}\n'
    for text in (nulls, "null\n", "null\nnull\n", "0\n", "[]\n", '"x"\n', "\n"):
        path.write_text(text)
        found = list(data.check([str(path)], [], compose(command([]), RELEASE)))
        assert "can't be read as json" in found[-1].text.en, text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[]",
        '{"model_type": 7, "vocab_size": 1e999}',
        '{"weight_map": []}',
        "1" * 5000,
    ],
)
def test_a_model_folder_of_odd_shapes_never_raises(tmp_path: Path, text: str) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text(text)
    (tmp_path / "model.safetensors.index.json").write_text(text)
    header = json.dumps({"a": {"dtype": [], "shape": "x", "data_offsets": [0, -1]}}).encode()
    (tmp_path / "m.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    assert any(one.state == "fault" for one in model.check(tmp_path))


@pytest.mark.parametrize(
    "dump",
    [
        {1: 2, None: 3},
        {"actor_rollout_ref": [1]},
        {"actor_rollout_ref": {"actor": 7, "rollout": None}},
        {"critic": [{}], "trainer": {"nnodes": [1], "n_gpus_per_node": -3}},
        {"data": {"train_files": {1, 2}, "val_files": b"x"}},
        {"data": {"train_batch_size": "${", "max_prompt_length": 10**400}},
        {"data": {"train_files": "\0", "val_files": ["a" * 5000]}},
        {"actor_rollout_ref": {"model": {"path": "a" * 5000}}},
    ],
)
def test_the_dumped_config_of_a_log_may_be_anything(dump: dict[object, object]) -> None:
    settings = compose(command([]), "0.9.1", dump)  # type: ignore[arg-type]
    subject = Subject("python", Answer(), "0.9.1", settings, named=True)
    wanted = [name for name in SUBJECTS if not name.startswith("env.")]
    assert list(examine(subject, wanted))


def test_a_data_file_that_is_a_pipe_or_a_device_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "train.parquet"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero"):
        found = list(data.check([path], [], compose(command([]), "0.9.1")))
        assert [one.text.en for one in found] == [f"{path}: is no regular file."]


def test_a_huge_tokenizer_is_not_loaded(tmp_path: Path) -> None:
    with (tmp_path / "tokenizer.json").open("wb") as file:
        file.truncate(MAX_JSON + 1)
    settings = compose(command([f"actor_rollout_ref.model.path={tmp_path}"]), "0.9.1")
    found, [said] = limits(settings)
    assert found is None
    assert "larger than 64 MiB" in said.text.en


def test_a_pickle_of_nested_tuples_is_refused(tmp_path: Path) -> None:
    nested: tuple[object, ...] = ()
    for _ in range(500):
        nested = (nested,)
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(pickle.dumps({nested: 1, "version": "2.5", "entries": []}))
    notes: list[str] = []
    assert read_dumps([str(path)], notes) == []
    assert "nested deeper" in " ".join(notes)


def test_a_dump_of_too_many_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte of a dump can become a hundred in memory."""
    monkeypatch.setattr(flight_recorder, "MAX_PIECES", 1000)
    entries = [{} for _ in range(2000)]
    (tmp_path / "dump_rank_0").write_bytes(pickle.dumps({"entries": entries}))
    (tmp_path / "dump_rank_1").write_text(json.dumps({"entries": entries}))
    notes: list[str] = []
    assert read_dumps([str(tmp_path)], notes) == []
    assert ["more than 1000 values" in note for note in notes] == [True, True]


# --- what is no file ------------------------------------------------------------------------


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A script names files; a pipe among them would be waited for, a device has no end."""
    fifo, zeros = tmp_path / "fifo_rank_0", tmp_path / "zeros_rank_0"
    os.mkfifo(fifo)
    zeros.symlink_to("/dev/zero")
    for path in (fifo, zeros):
        for read in (config.read_script, config.read_config):
            with pytest.raises(DoctorError, match="is no regular file"):
                read(str(path))
        (found,) = data.check([str(path)], [], compose(command([]), RELEASE))
        assert "is no regular file" in found.text.en
        notes: list[str] = []
        assert read_dumps([str(path)], notes) == []
        assert "is no regular file" in notes[0]


def test_a_path_that_no_system_takes_is_told(tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    settings = compose(command([]), RELEASE)
    for path in ("/" + "a" * 5000, "/a\0b", "/\udcff", str(loop), "/proc/self/mem"):
        assert [one.state for one in data.check([path], [], settings)] == ["fault"]
        assert [one.state for one in model.check(Path(path))] == ["fault"]


def test_a_model_folder_of_odd_files_never_hangs(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "qwen2"}')
    os.mkfifo(tmp_path / "tokenizer.json")
    os.mkfifo(tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors").mkdir()
    (tmp_path / "c.safetensors").symlink_to("/dev/zero")
    (tmp_path / "d.safetensors").symlink_to(tmp_path / "gone")
    assert "has no weights." in " ".join(one.text.en for one in model.check(tmp_path))
    rank = tmp_path / "global_step_5" / "model_world_size_2_rank_0.pt"
    rank.parent.mkdir()
    rank.symlink_to(tmp_path / "gone")
    assert [one.state for one in model.check(rank.parent)] == ["fault"]


# --- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}, *{p}, *{p}]\n" for p, n in
         zip("abcdefghij", "bcdefghijk", strict=True)), "aliases written out"),
        ("a: " + "[" * 200 + "]" * 200, "nested deeper"),
        ("a: " + "[" * 200_000, "nest"),
        ("a: &a {b: *a}", "alias *a"),
        ("a: !!python/object/apply:os.system [id]", "tag"),
        ("a: " + "9" * 5000, "digits"),
        ("a: \0", "characters"),
        ("null: 1", "key type"),
        ("- 1", "no mapping"),
        ("x" * 100 + ": " + "y" * (5 << 20), "larger than"),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_hostile_config_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    begun = time.process_time()
    with pytest.raises(DoctorError, match=r"config\.yaml") as refused:
        config.read_config(str(path))
    assert words in str(refused.value)
    assert time.process_time() - begun < SOON_S


@pytest.mark.parametrize(
    ("base", "unknown"),
    [
        ({"data": [1]}, {"data"}),
        ({"data": {"train_batch_size": 2j}}, {"data.train_batch_size"}),
        ({"data": {"x": 2j}}, {"data.x"}),
        ({"a": "${"}, {"a"}),
    ],
)
def test_values_of_other_kinds_in_a_config_count_as_not_known(
    base: dict[str, object], unknown: set[str]
) -> None:
    found = compose(command([]), RELEASE, base)
    assert found.unread | {*found.strange} == unknown
    assert found.given == {}


@pytest.mark.parametrize(
    "words",
    [
        ["data.train_batch_size=" + "9" * 5000],
        ["trainer.nnodes=" + "9" * 300],
        ["actor_rollout_ref.actor.ppo_mini_batch_size=9999999999999999"],
        ["data.x=" + "[" * 1500 + "]" * 1500],
        ["+" + "a." * 2000 + "b=1"],
        ["actor_rollout_ref=null"],
        ["actor_rollout_ref.rollout=null"],
        ["~actor_rollout_ref"],
        ["no_such=null"],
        ["data.max_prompt_length=${data.max_prompt_length}"],
        ["actor_rollout_ref.model.path=~nobody-here/x"],
    ],
    ids=lambda words: words[0][:40],
)
def test_hostile_settings_are_judged_soon(words: list[str]) -> None:
    begun = time.process_time()
    settings = compose(command(words), RELEASE)
    assert config.check(settings)
    memory.check(settings, 80e9)
    assert time.process_time() - begun < SOON_S


@pytest.mark.parametrize("words", [["data.x=[" + "1," * 60_000 + "1]"], ["a=1"] * 100_000])
def test_what_would_take_hydra_hours_is_left_unread(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(settings_, "MAX_PARTS", 100)
    begun = time.process_time()
    assert compose(command(words), RELEASE).unread
    assert time.process_time() - begun < SOON_S


# --- data -----------------------------------------------------------------------------------


def parquet(path: Path, rows: list[dict[str, object]], **options: object) -> str:
    """Writes rows and returns the path."""
    import pyarrow
    from pyarrow import parquet as format_

    format_.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return str(path)


def test_a_parquet_bomb_is_told_within_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text of 256 KiB that 1000 rows refer to: kilobytes on disk, 256 MiB in memory."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux counts what is allocated")
    import resource

    row = {**ROW, "prompt": [{"role": "user", "content": "x" * (1 << 18)}]}
    path = parquet(tmp_path / "a.parquet", [row] * 1000, compression="zstd")
    assert os.path.getsize(path) < 20_000
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(room.bounded_memory.__wrapped__, "__defaults__", (64 << 20,))
    found = list(data.check([path], [], compose(command([]), RELEASE)))
    assert [one.state for one in found] == ["fault"]
    assert "too large for memory" in found[0].seen[0]
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits


def test_a_column_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet(path, [ROW], store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"content", b"\xff\xfe\xff\xff\xff\xff\xff"))
    (found,) = data.check([str(path)], [], compose(command([]), RELEASE))
    assert found.state == "fault"


@pytest.mark.parametrize("pattern", ["(a|aa)+$b|(a+a+)+b", "b"])
def test_a_tokenizer_that_cannot_encode_is_told(tmp_path: Path, pattern: str) -> None:
    """Its pattern may backtrack for ever, which ends in a panic; its vocabulary may be empty."""
    pytest.importorskip("tokenizers")
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {**split, "invert": False}, "post_processor": None,
        "decoder": None, "model": {"type": "WordLevel", "vocab": {"b": 0}, "unk_token": "c"},
    }  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW) + "\n")
    words = [f"actor_rollout_ref.model.path={tmp_path}", "data.max_prompt_length=10"]
    found = data.check([str(tmp_path / "a.jsonl")], [], compose(command(words), RELEASE))
    assert ["can't encode" in one.text.en for one in found if one.state == "unknown"] == [True]


# --- what is printed and imported -----------------------------------------------------------


def test_escapes_of_a_script_reach_no_output(tmp_path: Path) -> None:
    script_ = tmp_path / "run\x1b]0;owned\x07.sh"
    nasty = "/x\x1b[31m\x9b0m\u202e\U000e0041"
    script_.write_text(
        f"python -m verl.trainer.main_ppo data.train_files='{nasty}' '+no{nasty}=1' trainer.x=1 \n"
    )
    for form in ("text", "json"):
        done = run("check", script_, "--only", "config", "--only", "data", "--format", form)
        assert b"trainer.x" in done.stdout, done.stderr
        shown = (done.stdout + done.stderr).decode()
        assert [c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf")] == []
    told = run("check", f"{script_}.gone").stderr.decode()
    assert "\x1b" not in told


def test_what_a_check_imports_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run started here would import a torch.py that lies here, so the check of torch does; no
    other check does, and nothing takes a part of Python's own from here."""
    seen = tmp_path / "seen"
    folder = tmp_path / "here"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, "torch", "verl", "sitecustomize"}:
        code = f"open({str(seen)!r}, 'a').write('{name} ')\nraise ImportError"
        (folder / f"{name}.py").write_text(code)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    program = Path(sys.executable).with_name("verl-doctor")
    if not program.exists():
        pytest.skip("not installed")
    for groups, imported in ((["config", "data", "model"], set()), (["env"], {"torch"})):
        words = [word for group in groups for word in ("--only", group)]
        subprocess.run(
            [program, "check", *words, "data.train_batch_size=4"],
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert set(seen.read_text().split() if seen.exists() else ()) == imported

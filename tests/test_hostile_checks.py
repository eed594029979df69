"""Files that `check` and `--flight-recorder` read, made to hurt (docs/threats.md, C1 to C7)."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path

import pytest

from verl_doctor.checks import data, model
from verl_doctor.checks.config import command, compose, script
from verl_doctor.checks.data.lengths import limits
from verl_doctor.checks.environment.ask import Answer
from verl_doctor.checks.examine import Subject, examine
from verl_doctor.checks.model.folder import MAX_JSON
from verl_doctor.checks.names import SUBJECTS
from verl_doctor.sources.flight_recorder import read_dumps

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

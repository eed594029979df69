"""`check`, data: real parquet, JSON and Arrow files, each with one fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from verl_doctor.checks import data
from verl_doctor.checks.config import command, compose
from verl_doctor.checks.data import sample
from verl_doctor.checks.types import Result


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": f"{number} + 1?"}],
        "reward_model": {"style": "rule", "ground_truth": str(number + 1)},
        **changes,
    }


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def looked(
    *train: str, val: tuple[str, ...] = (), words: tuple[str, ...] = (), release: str = "0.9.1"
) -> list[Result]:
    return list(data.check(list(train), list(val), compose(command(words), release)))


def faults(*train: str, **how: Any) -> list[Result]:
    return [one for one in looked(*train, **how) if one.state == "fault"]


ROWS = [row(number) for number in range(50)]


def test_sound_files_pass_and_say_how_many_rows_were_read(tmp_path: Path) -> None:
    train = written(tmp_path / "train.parquet", ROWS)
    val = written(tmp_path / "val.parquet", [row(number) for number in range(100, 120)])
    found = looked(train, val=(val,))
    assert [one.state for one in found] == ["ok", "ok"]
    assert "50 rows were read" in found[0].text.en


BROKEN = [
    ([row(1) | {"Prompt": row(1)["prompt"], "prompt": None}], {}, "have nothing in `prompt`"),
    ([{"Prompt": one["prompt"], **{k: one[k] for k in one if k != "prompt"}} for one in ROWS],
     {}, "it has `Prompt` (case counts)"),
    ([row(1, prompt="text")], {}, "wants a list of messages"),
    ([row(1, prompt=[{"text": "x"}])], {}, "no `role` and `content`"),
    ([*ROWS, row(99, prompt=[])], {}, "1 of 51 rows have nothing in `prompt`"),
    ([*ROWS, row(99, prompt=[{"role": "user", "content": None}])], {}, "without role or content"),
    ([row(1, prompt=[{"role": "assistant", "content": "4"}])], {}, "the answer stands in"),
    ([*ROWS, row(99, reward_model={"style": "rule", "ground_truth": None})], {},
     "have no reward_model.ground_truth"),
    ([{k: one[k] for k in one if k != "reward_model"} for one in ROWS], {}, "no column `reward_m"),
    ([{k: one[k] for k in one if k != "data_source"} for one in ROWS], {}, "no column `data_sou"),
    ([row(1, data_source="my/own")], {}, "no reward function for data_source 'my/own'"),
    (ROWS + ROWS, {}, "repeat a prompt"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "how", "words"), BROKEN)
def test_a_fault_of_the_rows_is_named(
    tmp_path: Path, rows: list[dict[str, Any]], how: dict[str, Any], words: str
) -> None:
    found = faults(written(tmp_path / "train.parquet", rows), **how)
    assert words in "\n".join(one.text.en for one in found)


def test_the_configured_column_is_the_one_that_is_asked_for(tmp_path: Path) -> None:
    rows = [{**row(number), "question": row(number)["prompt"]} for number in range(3)]
    train = written(tmp_path / "train.parquet", rows)
    assert faults(train, words=("data.prompt_key=question",)) == []
    [one] = faults(train, words=("data.prompt_key=questions",))
    assert one.fix is not None
    assert one.fix.set == "data.prompt_key=question"


def test_an_own_reward_function_may_know_any_source(tmp_path: Path) -> None:
    train = written(tmp_path / "train.parquet", [row(1, data_source="my/own")])
    assert faults(train, words=("reward.custom_reward_function.path=/r.py",)) == []


def test_files_with_other_columns_or_types_are_compared(tmp_path: Path) -> None:
    first = written(tmp_path / "a.parquet", ROWS)
    types = written(tmp_path / "b.parquet", [row(1, data_source=7)])
    fewer = written(tmp_path / "c.parquet", [{**row(2), "extra": 1}])
    assert "other types" in "\n".join(one.text.en for one in faults(first, types))
    assert "differ in columns (extra)" in "\n".join(one.text.en for one in faults(first, fewer))


def test_prompts_in_both_train_and_validation_are_counted(tmp_path: Path) -> None:
    train = written(tmp_path / "train.parquet", ROWS)
    val = written(tmp_path / "val.parquet", ROWS[:10])
    [one] = faults(train, val=(val,))
    assert one.text.en.startswith("10 of 50 training prompts stand in the validation files too")


@pytest.mark.parametrize(
    ("name", "content", "release", "words"),
    [
        ("train.parquet", b"", "0.9.1", "is empty"),
        ("train.parquet", b"PAR1 cut short", "0.9.1", "can't be read as parquet"),
        ("train.parquet", b"version https://git-lfs.github.com/spec/v1\n", "0.9.1", "LFS pointer"),
        ("train.parquet", b'{"prompt": 1}\n', "0.9.1", "the content is json"),
        ("train.jsonl", b'{"prompt": 1}\n', "0.8.0", "verl 0.8.0 does not read this"),
        ("train.csv", b"prompt,answer\n", "0.9.1", "the name ends in `.csv`"),
        ("train.json", b"{nonsense", "0.9.1", "can't be read as json"),
    ],
)
def test_a_file_that_is_not_what_it_seems(
    tmp_path: Path, name: str, content: bytes, release: str, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    [one] = faults(str(tmp_path / name), release=release)
    assert words in one.text.en
    assert one.severity == "critical"


def test_json_lines_are_read_where_the_release_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    assert faults(str(path)) == []


def test_an_arrow_file_is_refused_with_the_way_to_parquet(tmp_path: Path) -> None:
    path = tmp_path / "train.arrow"
    feather.write_feather(pa.Table.from_pylist(ROWS), path, compression="uncompressed")
    [one] = faults(str(path))
    assert one.rule == "VRL026"
    assert one.fix is not None
    assert "to_parquet" in one.fix.code


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    written(tmp_path / "train.parquet", ROWS)
    [one] = faults(str(tmp_path / "tain.parquet"))
    assert one.seen == (f"there is: {tmp_path / 'train.parquet'}",)
    [remote] = looked("hdfs://cluster/train.parquet")
    assert remote.state == "unknown"


def test_of_a_large_file_row_groups_from_its_whole_length_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MAX_ROWS", 40)
    monkeypatch.setattr(sample, "BATCH", 10)
    rows = [row(number) for number in range(1000)]
    rows[-1] = row(999, prompt=[])
    path = tmp_path / "train.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=10)
    found = faults(str(path))
    assert [one.text.en.partition(": ")[2] for one in found] == [
        "1 of 40 rows have nothing in `prompt`."
    ]


def test_evenly_spread_numbers() -> None:
    assert sample.spread(3, 5) == [0, 1, 2]
    assert sample.spread(101, 5) == [0, 25, 50, 75, 100]

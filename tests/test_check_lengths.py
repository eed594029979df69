"""`check`, data: prompts against data.max_prompt_length, with a real tokenizer file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from verl_doctor.checks import data
from verl_doctor.checks.config import command, compose
from verl_doctor.checks.data import lengths
from verl_doctor.checks.types import Result

from .test_check_data import row, written

tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers package is optional")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a tokenizer that takes a word for a token."""
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"?": 0, "word": 1}, unk_token="?")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def prompt(content: Any) -> dict[str, Any]:
    return row(1, prompt=[{"role": "user", "content": content}])


def told(model: Path, rows: list[dict[str, Any]], release: str = "0.9.1", *more: str) -> Result:
    train = written(model / "train.parquet", rows)
    words = [f"actor_rollout_ref.model.path={model}", "data.max_prompt_length=10", *more]
    found = [
        one
        for one in data.check([train], [], compose(command(words), release))
        if one.check == lengths.CHECK
    ]
    assert len(found) == 1
    return found[0]


MIXED = [prompt("word " * 10), prompt("word " * 11), prompt("word " * 30), prompt("word")]


def test_the_share_above_the_limit_and_the_longest_are_told(model: Path) -> None:
    found = told(model, MIXED)
    assert found.state == "fault"
    assert "at least 2 of 4 prompts" in found.text.en
    assert "the longest 30" in found.text.en
    assert found.fix is not None
    assert found.fix.set.startswith("data.filter_overlong_prompts=True")


@pytest.mark.parametrize(
    ("release", "more", "severity", "rule", "outcome"),
    [
        ("0.6.1", (), "critical", "VRL025", "verl stops at the first"),
        ("0.6.1", ("data.truncation=left",), "medium", "", "verl cuts them (left)"),
        ("0.7.1", (), "high", "", "the batch can't be put together"),
        ("0.8.0", (), "medium", "VRL087", "verl cuts their beginning"),
        ("0.9.1", ("data.filter_overlong_prompts=True",), "medium", "", "the filter drops these"),
    ],
)
def test_what_follows_depends_on_the_release_and_the_filter(
    model: Path, release: str, more: tuple[str, ...], severity: str, rule: str, outcome: str
) -> None:
    found = told(model, MIXED, release, *more)
    assert (found.severity, found.rule) == (severity, rule)
    assert outcome in found.text.en.partition("the longest 30: ")[2]


def test_a_filter_that_leaves_nothing_is_told_as_such(model: Path) -> None:
    found = told(model, MIXED[1:3], "0.9.1", "data.filter_overlong_prompts=True")
    assert (found.severity, found.rule) == ("high", "VRL020")


def test_prompts_within_the_limit_pass(model: Path) -> None:
    found = told(model, [MIXED[0], MIXED[3]])
    assert found.state == "ok"
    assert "none of 2 prompts" in found.text.en


def test_text_parts_are_counted_and_pictures_are_not(model: Path) -> None:
    parts = [{"type": "image", "text": None}, {"type": "text", "text": "word " * 12}]
    found = told(model, [prompt(parts)])
    assert "the longest 12" in found.text.en


def test_a_broken_tokenizer_is_unknown(model: Path) -> None:
    (model / "tokenizer.json").write_text("{}")
    assert told(model, MIXED).state == "unknown"


def test_without_a_local_tokenizer_nothing_is_said(model: Path) -> None:
    (model / "tokenizer.json").unlink()
    train = written(model / "train.parquet", MIXED)
    settings = compose(command([f"actor_rollout_ref.model.path={model}"]), "0.9.1")
    assert not [one for one in data.check([train], [], settings) if one.check == lengths.CHECK]

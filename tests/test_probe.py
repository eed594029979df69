"""`--probe`: only what the rules ask for is looked at, and it moves their causes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from tests.environment_samples import module
from verl_doctor.cli import main

pytestmark = pytest.mark.usefixtures("compiled_once")
RULE = """
id: {id}
slug: {name}-offline
status: experimental
severity: high
role: root
layer: system
title: {{en: The {name} is offline, zh: 设备离线}}
summary: {{en: It is offline., zh: 已离线。}}
match: {{line: {{contains: [{name} offline]}}}}
causes:
  - id: power
    likelihood: high
    text: {{en: It has no power., zh: 没有电源。}}
    evidence: [{power}]
  - id: other
    likelihood: low
    text: {{en: Something else., zh: 其他原因。}}
    evidence: [{other}]
references: [{{url: "https://example.org/", kind: article, checked: 2026-12-01}}]
examples:
  match: [{{origin: synthetic, log: {name} offline}}]
  no_match: [{{origin: synthetic, log: nothing, because: it says nothing}}]
"""
OVERRIDES = (
    "Error executing job with overrides: ['data.train_files={folder}/train.parquet', "
    "'data.train_batch_size=32', 'actor_rollout_ref.rollout.name=vllm']\n"
)


EVIDENCE = {
    "flux": (
        "{check: env.limits, state: ok, effect: rules_out}",
        "{check: env.limits, matches: no such words, effect: confirms}",
    ),
    "capacitor": (
        "{check: config.batch, matches: 'larger than the batch', effect: confirms}",
        "{check: data.files, matches: 'no such file', effect: supports}",
    ),
    "gigawatt": (
        "{check: config.keys, effect: confirms}",
        "{check: model.folder, effect: supports}",
    ),
}
"""What is offline -> what its two causes wait for."""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a rule for each; the same one for all tests, so that it is compiled once."""
    folder = tmp_path_factory.mktemp("rules") / "system"
    folder.mkdir()
    for i, (name, (power, other)) in enumerate(EVIDENCE.items()):
        text = RULE.format(id=f"ZZZ00{i}", name=name, power=power, other=other)
        (folder / f"ZZZ00{i}-{name}-offline.yaml").write_text(text, encoding="utf-8")
    return folder.parent


@pytest.fixture
def diagnosed(  # type: ignore[no-untyped-def]
    tmp_path: Path, rules: Path, capsys: pytest.CaptureFixture[str]
):
    """Diagnoses a log that ends with something offline; returns the finding and what stands on
    standard error."""

    def run(name: str, log: str = "") -> tuple[dict[str, Any], str]:
        path = tmp_path / "train.log"
        path.write_text(f"{log}{name} offline\n")
        given = ["--no-record", "--lang", "en", "--format", "json", "--probe"]
        with pytest.raises(SystemExit):
            main(["diagnose", str(path), *given, "--rules", str(rules)])
        captured = capsys.readouterr()
        found = json.loads(captured.out)["findings"]
        return next(one for one in found if one["slug"] == f"{name}-offline"), captured.err

    return run


def test_nothing_is_looked_at_that_no_rule_asked_for(
    diagnosed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "imported"
    module(tmp_path / "site", "torch", f"open({str(mark)!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    found, said = diagnosed("flux")
    assert "checking on this machine: env.limits\n" in said
    assert not mark.exists()
    assert found["checks"] == []
    states = {one["id"]: one["state"] for one in found["causes"]}
    assert states["other"] == "possible"


def test_settings_and_data_of_the_log_tell_causes_apart(diagnosed, tmp_path: Path) -> None:
    found, said = diagnosed("capacitor", OVERRIDES.format(folder=tmp_path))
    assert "checking on this machine: config.batch, data.files\n" in said
    assert [(one["id"], one["state"]) for one in found["causes"]] == [
        ("power", "confirmed"),
        ("other", "supported"),
    ]
    assert "train.parquet: there is no such file" in found["causes"][1]["because"][0]


def test_what_the_log_does_not_tell_is_said_and_stays_open(diagnosed) -> None:
    found, said = diagnosed("gigawatt")
    assert "nothing to look at, the log does not tell it: config.keys, model.folder" in said
    assert found["checks"] == ["config.keys", "model.folder"]


@pytest.mark.parametrize("words", [("--probe", "--follow"), ("--probe", "--bundle", __file__)])
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.log"
    path.touch()
    with pytest.raises(SystemExit) as end:
        main([str(path), *words])
    assert end.value.code == 2
    assert "--probe" in capsys.readouterr().err


ROW = {
    "data_source": "my/own",
    "prompt": [{"role": "user", "content": "1 + 1?"}],
    "reward_model": {"style": "rule", "ground_truth": "2"},
}
FOLDER = {
    "config.json": {"model_type": "qwen2", "vocab_size": 8},
    "model.safetensors.index.json": {
        "weight_map": {"a.weight": "model-00001-of-00002.safetensors"}
    },
}


@pytest.mark.parametrize(
    ("overrides", "error", "rule", "cause", "state"),
    [
        (["data.train_files={data}", "data.prompt_key=question"], "KeyError: 'question'",
         "VRL035", "name", "possible"),
        (["data.train_files={data}", "data.reward_fn_key=source"],
         "NotImplementedError: Reward function is not implemented for data_source='my/own'",
         "VRL040", "own-data", "possible"),
        (["data.train_files={data}"],
         "NotImplementedError: Reward function is not implemented for data_source='my/own'",
         "VRL040", "own-data", "supported"),
        (["actor_rollout_ref.model.path={model}"],
         "FileNotFoundError: No such file or directory: "
         '"{model}/model-00001-of-00002.safetensors"', "HF011", "incomplete", "confirmed"),
        (["data.train_batch_size=64", "trainer.n_gpus_per_node=8", "actor_rollout_ref.rollout.n=1"],
         "ValueError: train_batch_size (64) must be >= actor.ppo_mini_batch_size (256)",
         "VRL004", "too-large", "confirmed"),
        (["data.train_files={data}", "actor_rollout_ref.rollout.n=1"],
         "ValueError: train_batch_size (64) must be >= critic.ppo_mini_batch_size (256)",
         "VRL004", "too-large", "possible"),
    ],
)  # fmt: skip
def test_the_rules_causes_move_by_what_is_really_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], overrides: list[str], error: str,
    rule: str, cause: str, state: str,
) -> None:  # fmt: skip
    """Also that what is in order, or another fault, confirms nothing."""
    data, model = tmp_path / "train.parquet", tmp_path / "model"
    parquet.write_table(pyarrow.Table.from_pylist([ROW]), data)
    model.mkdir()
    for name, content in FOLDER.items():
        (model / name).write_text(json.dumps(content))
    given = [one.format(data=data, model=model) for one in overrides]
    log = tmp_path / "train.log"
    log.write_text(
        f"Error executing job with overrides: {given!r}\nTraceback (most recent call last):\n"
        '  File "/opt/verl/verl/utils/dataset/rl_dataset.py", line 260, in doc2len\n'
        f"    doc[prompt_key]\n{error.format(model=model)}\n"
    )
    with pytest.raises(SystemExit):
        main(["diagnose", str(log), "--no-record", "--format", "json", "--probe"])
    found = json.loads(capsys.readouterr().out)["findings"][0]
    assert found["rule"] == rule
    assert {one["id"]: one["state"] for one in found["causes"]}[cause] == state

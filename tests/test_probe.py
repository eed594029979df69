"""`--probe`: only what the rules ask for is looked at, and it moves their causes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.environment_samples import module
from verl_doctor.cli import main

RULE = """
id: ZZZ001
slug: flux-capacitor-offline
status: experimental
severity: high
role: root
layer: system
title: {{en: The flux capacitor is offline, zh: 通量电容器离线}}
summary: {{en: It is offline., zh: 已离线。}}
match: {{line: {{contains: [flux capacitor offline]}}}}
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
  match: [{{origin: synthetic, log: flux capacitor offline}}]
  no_match: [{{origin: synthetic, log: nothing, because: it says nothing}}]
"""
OVERRIDES = (
    "Error executing job with overrides: ['data.train_files={folder}/train.parquet', "
    "'data.train_batch_size=32', 'actor_rollout_ref.rollout.name=vllm']\n"
)


@pytest.fixture
def diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Diagnoses a log with one rule whose two causes name the given evidence; returns the finding
    and what stands on standard error."""

    def run(log: str, power: str, other: str, *words: str) -> tuple[dict[str, Any], str]:
        rules = tmp_path / "rules" / "system"
        rules.mkdir(parents=True)
        text = RULE.format(power=power, other=other)
        (rules / "ZZZ001-flux-capacitor-offline.yaml").write_text(text, encoding="utf-8")
        path = tmp_path / "train.log"
        path.write_text(log + "flux capacitor offline\n")
        given = ["--no-record", "--no-cache", "--lang", "en", "--format", "json", "--probe"]
        with pytest.raises(SystemExit):
            main(["diagnose", str(path), *given, "--rules", str(rules.parent), *words])
        captured = capsys.readouterr()
        [found] = [one for one in json.loads(captured.out)["findings"] if one["rule"] == "ZZZ001"]
        return found, captured.err

    return run


def test_nothing_is_looked_at_that_no_rule_asked_for(
    diagnosed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "imported"
    module(tmp_path / "site", "torch", f"open({str(mark)!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    ok = "{check: env.limits, state: ok, effect: rules_out}"
    never = "{check: env.limits, matches: no such words, effect: confirms}"
    found, said = diagnosed("", ok, never)
    assert "checking on this machine: env.limits\n" in said
    assert not mark.exists()
    assert found["checks"] == []
    states = {one["id"]: one["state"] for one in found["causes"]}
    assert states["other"] == "possible"


def test_settings_and_data_of_the_log_tell_causes_apart(diagnosed, tmp_path: Path) -> None:
    keys = "{check: config.batch, matches: 'larger than the batch', effect: confirms}"
    files = "{check: data.files, matches: 'no such file', effect: supports}"
    found, said = diagnosed(OVERRIDES.format(folder=tmp_path), keys, files)
    assert "checking on this machine: config.batch, data.files\n" in said
    assert [(one["id"], one["state"]) for one in found["causes"]] == [
        ("power", "confirmed"),
        ("other", "supported"),
    ]
    assert "train.parquet: there is no such file" in found["causes"][1]["because"][0]


def test_what_the_log_does_not_tell_is_said_and_stays_open(diagnosed) -> None:
    keys = "{check: config.keys, effect: confirms}"
    folder = "{check: model.folder, effect: supports}"
    found, said = diagnosed("", keys, folder)
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

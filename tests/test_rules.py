"""Every rule as data, and every rule on its own examples through the real pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.conftest import Doctor
from verl_doctor.authoring.lint import lint
from verl_doctor.authoring.proof import Prover
from verl_doctor.knowledge.compiled import Shelf
from verl_doctor.knowledge.load import load, read_rules, rule_folders, shipped_rules
from verl_doctor.knowledge.read import read_rule
from verl_doctor.knowledge.schema import rule_schema

PLAINS, PROBLEMS, NOTES = read_rules([shipped_rules()])
IDS = sorted(plain["id"] for plain in PLAINS)


def test_no_rule_file_has_a_problem() -> None:
    assert [str(problem) for problem in PROBLEMS + lint(PLAINS)] == []
    assert NOTES == []
    assert len(PLAINS) >= 40


@pytest.fixture(scope="module")
def prover() -> Prover:
    base, _ = load(cache=False)
    return Prover(base)


@pytest.mark.parametrize("rule_id", IDS)
def test_examples(prover: Prover, rule_id: str) -> None:
    rule = prover._base.rule(rule_id)
    assert [str(outcome) for outcome in prover.prove(rule)] == []


def test_schema_accepts_every_rule() -> None:
    validator = jsonschema.Draft202012Validator(rule_schema())
    for plain in PLAINS:
        with open(plain["path"], encoding="utf-8") as file:
            data = json.loads(json.dumps(yaml.safe_load(file), default=str))
        assert [error.message for error in validator.iter_errors(data)] == [], plain["path"]


def test_schema_refuses_an_unknown_key() -> None:
    validator = jsonschema.Draft202012Validator(rule_schema())
    assert list(validator.iter_errors({"id": "XXX001", "colour": "red"}))


GOOD = (shipped_rules().parent / "docs" / "rules.md").read_text(encoding="utf-8")
GOOD = GOOD.partition("```yaml\n")[2].partition("```")[0]


def test_the_rule_in_the_guide_is_a_good_rule() -> None:
    plain, problems = read_rule(GOOD, "guide.yaml")
    assert [str(problem) for problem in problems] == []
    assert plain is not None


@pytest.mark.parametrize(
    ("old", "new", "where", "words"),
    [
        ("severity: high", "severity: hgih", "4:11", "did you mean 'high'"),
        ("severity: high", "sevrity: high", "4:1", "did you mean 'severity'"),
        ("severity: high", "severity: high\nseverity: low", "5:1", "given twice"),
        ("(?P<script>\\S+)", "(?P<script>\\S+", "18:16", "bad regular expression"),
        ("phase: [data]", "phase: data\nphases: 1", "8:1", "did you mean 'phase'"),
        ("exception: RuntimeError", "exeption: RuntimeError", "17:7", "did you mean 'exception'"),
        ("status: stable", "status: !!python/object:os.system stable", "3:9", "tag"),
        ("layer: datasets", "layer: *x", "6:8", "aliases"),
        ("layer: datasets", "layer: [a, b", "7:", "YAML syntax"),
    ],
)
def test_faults_are_told_with_line_and_column(old: str, new: str, where: str, words: str) -> None:
    assert old in GOOD
    plain, problems = read_rule(GOOD.replace(old, new, 1), "x.yaml")
    assert plain is None
    told = "\n".join(str(problem) for problem in problems)
    assert f"x.yaml:{where}" in told
    assert words in told


def test_all_faults_of_a_file_at_once() -> None:
    text = GOOD.replace("severity: high", "severity: hgih").replace("role: root", "rule: root")
    _, problems = read_rule(text.replace("likelihood: high", "likelihood: 5"), "x.yaml")
    assert len(problems) == 4  # the word, the key, the missing key, the likelihood


def test_a_yaml_bomb_is_refused() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    _, problems = read_rule(bomb, "x.yaml")
    assert "aliases" in str(problems[0])
    _, problems = read_rule("x" * 300_000, "x.yaml")
    assert "larger than" in str(problems[0])


USER_RULE = """
id: {id}
slug: {slug}
status: test
severity: high
role: root
layer: mine
title: {{en: "My site's proxy: {{proxy}}", zh: "代理"}}
summary: {{en: The proxy of our site., zh: 本站代理}}
match:
  line:
    - contains: corporate proxy says
      regex: 'corporate proxy says (?P<proxy>\\w+)'
causes:
  - id: proxy
    likelihood: high
    text: {{en: It is down., zh: 已停机}}
references: []
examples: {{}}
"""


def test_a_users_folder_adds_a_rule_and_replaces_one(private_home: Path) -> None:
    folder = private_home / "config" / "verl-doctor" / "rules"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(USER_RULE.format(id="MINE001", slug="my-proxy"))
    (folder / "other.yaml").write_text(USER_RULE.format(id=IDS[0], slug="replaced"))
    base, scanner = load()
    report = Doctor(base, scanner)(b"corporate proxy says no\n")
    assert {finding.rule for finding in report.findings} <= {"MINE001", IDS[0]}
    assert base.rule(IDS[0]).slug == "replaced"
    assert any("replaced by" in note for note in report.notes)


def test_a_broken_rule_of_the_users_is_left_out_and_told(private_home: Path) -> None:
    folder = private_home / "config" / "verl-doctor" / "rules"
    folder.mkdir(parents=True)
    (folder / "bad.yaml").write_text("id: MINE001\n")
    base, _ = load()
    assert "MINE001" not in base
    assert any("rule left out" in note and "bad.yaml:1:1" in note for note in base.notes)


def test_a_changed_rule_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "rules" / "mine.yaml"
    file.parent.mkdir()
    file.write_text(USER_RULE.format(id="MINE001", slug="one"))
    assert load([str(file.parent)])[0].rule("MINE001").slug == "one"
    assert load([str(file.parent)])[0].rule("MINE001").slug == "one"
    file.write_text(USER_RULE.format(id="MINE001", slug="another"))
    assert load([str(file.parent)])[0].rule("MINE001").slug == "another"


def test_a_spoilt_cache_is_ignored(private_home: Path) -> None:
    load()
    cached = private_home / "cache" / "verl-doctor" / "rules"
    whole = cached.read_bytes()
    changed = whole.replace(whole[-400_000:-399_000], b"x" * 1000)  # within the rules
    for spoilt in (b"{}", whole[:-1000], changed):
        cached.write_bytes(spoilt)
        base, scanner = load()
        assert len(base) == len(IDS)
        assert scanner.scan(b"Traceback (most recent call last):\n")


def test_rules_from_the_cache_are_the_rules_that_were_read() -> None:
    read, _ = load()
    cached, _ = load()
    assert isinstance(cached.plains, Shelf)
    assert not isinstance(read.plains, Shelf)
    assert cached.literals == read.literals
    assert cached.by_kind == read.by_kind
    assert [cached.spec(rule_id) for rule_id in IDS] == [read.spec(rule_id) for rule_id in IDS]
    assert [cached.rule(rule_id) for rule_id in IDS] == [read.rule(rule_id) for rule_id in IDS]
    assert dict(cached.plains) == dict(read.plains)


def test_rules_of_ones_own_do_not_cost_the_shipped_ones_their_cache(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(USER_RULE.format(id="MINE001", slug="my-proxy"))
    for extra in ([], [str(tmp_path)], [], [str(tmp_path)]):
        base, _ = load(extra)
    assert isinstance(base.plains, Shelf)
    assert "MINE001" in base
    again, _ = load()
    assert isinstance(again.plains, Shelf)
    assert "MINE001" not in again


def test_a_rule_that_backtracks_is_stopped_and_told(tmp_path: Path) -> None:
    text = USER_RULE.format(id="MINE001", slug="slow").replace(
        r"corporate proxy says (?P<proxy>\w+)", r"says (?P<proxy>(?:x|xx)+)!?\d$"
    )
    (tmp_path / "mine.yaml").write_text(text)
    base, scanner = load([str(tmp_path)])
    report = Doctor(base, scanner)(b"corporate proxy says " + b"x" * 60 + b"\n")
    assert "MINE001" not in {finding.rule for finding in report.findings}
    assert any("ran out of time" in note for note in report.notes)


def test_rules_are_found_beside_the_package_and_in_a_wheel() -> None:
    assert rule_folders()[0].name == "rules"
    assert any(rule_folders()[0].rglob("*.yaml"))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ({"key": ["x"], "for_steps": 3}, "asks for nothing"),
        ({"key": ["x"], "trend": {"window": 50}}, "either rises_by or falls_by"),
        ({"key": ["x"], "above": 1, "for_steps": 3, "once_well": 5}, "more than for_steps"),
        ({"key": ["x"], "change": {"falls_to": 0.5}}, ""),
    ],
)
def test_lint_reads_metric_rules(metric: dict[str, object], words: str) -> None:
    plain = next(plain for plain in PLAINS if plain["id"] == "MET052")
    problems = [str(one) for one in lint([{**plain, "match": {"metric": metric}}])]
    told = [one for one in problems if "match.metric" in one]
    assert len(told) == bool(words)
    assert words in "".join(told)

"""Tools for rule authors: a draft out of a log is a rule that holds on that log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import GENUINE, ROOT, genuine
from tests.test_rules import USER_RULE
from verl_doctor.authoring.backtracking import too_slow
from verl_doctor.authoring.draft import draft, pattern_of
from verl_doctor.authoring.proof import Prover
from verl_doctor.errors import RuleError
from verl_doctor.knowledge.base import RuleBase, by_id
from verl_doctor.knowledge.read import read_rule
from verl_doctor.knowledge.verl_config import (
    newest,
    refused_by,
    releases,
    unknown_overrides,
)
from verl_doctor.scan.database import Scanner


def run(*args: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "verl_doctor", *map(str, args)], capture_output=True, check=False
    )


@pytest.mark.parametrize(
    ("slug", "line", "words"),
    [
        ("verl-unequal-chunk", 9, "exception: AssertionError"),
        ("torch-load-weights-only", 8, "exception: UnpicklingError"),
        ("ray-tmp-disk-full-warning", 10, "contains:"),
        ("ray-task-error-nested", 36, "exception: ValueError"),
    ],
)
def test_a_draft_holds_on_the_log_it_came_from(
    shipped: tuple[RuleBase, Scanner], slug: str, line: int, words: str
) -> None:
    text = draft(*shipped, [genuine(slug)], line, "mine", "2026-12-01")
    assert words in text
    plain, problems = read_rule(text, "draft.yaml")
    assert [str(problem) for problem in problems] == []
    assert plain is not None
    base = RuleBase(by_id([plain]))
    matches = Prover(base).matches(genuine(slug))
    assert line in [match.line for match in matches]


def test_a_draft_takes_the_next_number_of_its_layer(shipped: tuple[RuleBase, Scanner]) -> None:
    base, scanner = shipped
    text = draft(base, scanner, [genuine("ray-get-timeout")], 20, "ray", "2026-12-01")
    rule_id = text.partition("id: ")[2].partition("\n")[0]
    assert rule_id.startswith("RAY")
    assert rule_id not in base


def test_no_such_line(shipped: tuple[RuleBase, Scanner]) -> None:
    with pytest.raises(RuleError, match="no text at line 900"):
        draft(*shipped, [genuine("ray-get-timeout")], 900, "ray", "2026-12-01")


def test_pattern_keeps_words_and_captures_what_varies() -> None:
    import regex

    pattern = pattern_of("size 14 of '/data/a.parquet' at 0x7f: 3.5 GiB (of 80)")
    assert regex.search(pattern, "size 99 of '/other.parquet' at 0x1a: 7 GiB (of 40)")
    assert not regex.search(pattern, "length 14 of '/data/a.parquet' at 0x7f: 3.5 GiB (of 80)")


def test_rules_new_writes_a_file_and_refuses_to_overwrite(tmp_path: Path) -> None:
    log = f"{GENUINE / 'verl-unequal-chunk.log'}:9"
    first = run("rules", "new", "--from", log, "-o", tmp_path)
    assert first.returncode == 0, first.stderr
    (written,) = tmp_path.glob("USR001-*.yaml")
    assert "only support equal chunk" in written.read_text()
    assert run("rules", "new", "--from", log, "-o", tmp_path).returncode == 2
    assert run("rules", "new").returncode == 2
    assert run("rules", "new", "--from", "train.log").returncode == 2


def test_rules_new_from_an_incident_on_record(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(genuine("verl-unequal-chunk"))
    run(log)
    done = run("rules", "new", "--from-incident", "1")
    assert b"only support equal chunk" in done.stdout, done.stderr
    assert run("rules", "new", "--from-incident", "99").returncode == 2


def test_coverage_of_logs_groups_unknown_errors_by_shape(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for i in range(3):
        (logs / f"{i}.log").write_text(
            f'Traceback (most recent call last):\n  File "a.py", line {i}, in <module>\n'
            f"my.SplineError: bent at {i}\n"
        )
    out = run("rules", "coverage", logs).stdout.decode()
    assert out.split()[0] == "3"
    assert "bent at" in out


def test_rules_test_says_why_a_rule_did_not_fire(tmp_path: Path) -> None:
    text = USER_RULE.format(id="MINE001", slug="mine").replace(
        "examples: {}",
        "examples: {match: [{origin: synthetic, log: 'corporate proxy said no'}], no_match: []}",
    )
    (tmp_path / "MINE001-mine.yaml").write_text(text)
    done = run("rules", "test", tmp_path, "--rules", tmp_path)
    assert done.returncode == 1
    assert b"the text 'corporate proxy says' is not in the example" in done.stdout


def test_a_rule_is_named_by_its_id() -> None:
    done = run("rules", "test", "CFG033")
    assert done.returncode == 0
    assert b"1 rules, 4 examples, 0 failed" in done.stderr
    done = run("rules", "lint", "CFG9")
    assert done.returncode == 2
    assert b"CFG9 is no file, folder or rule id; `verl-doctor rules list`" in done.stderr


def test_a_bad_regular_expression_is_found() -> None:
    assert too_slow(r"(x+x+)+y") is not None
    assert too_slow(r"Dataset scripts are no longer supported, but found (\S+)") is None


def test_override_keys_are_held_against_the_newest_release() -> None:
    assert newest() == "0.9.1"
    assert len(releases()) >= 6
    assert unknown_overrides("actor_rollout_ref.rollout.gpu_memory_utilization=0.5") == []
    (told,) = unknown_overrides("actor_rollout_ref.rollout.gpu_memory_utilisation=0.5")
    assert "did you mean actor_rollout_ref.rollout.gpu_memory_utilization?" in told
    (told,) = unknown_overrides("+data.train_batch_size=8")
    assert "without the +" in told
    (told,) = unknown_overrides("data.train_batch_size=8 reward_model.model.input_tokenizer=null")
    assert "only in 0.4.1" in told


@pytest.mark.parametrize(
    ("overrides", "refusing"),
    [
        ("data.train_batch_size=8", []),
        ("data.dataloader_num_workers=0", ["0.4.1"]),
        ("ray_kwargs.ray_init.num_cpus=null data.train_batch_size=8", ["0.4.1", "0.5.0"]),
        ("++no.such.key=1", []),
        ("+data.train_batch_size=8", list(releases())),
    ],
)
def test_the_releases_that_refuse_an_override(overrides: str, refusing: list[str]) -> None:
    assert refused_by(overrides) == refusing


def test_the_reference_site_has_a_page_a_rule(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "gen_docs.py"), str(tmp_path / "site")],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {path.stem for path in (tmp_path / "site").glob("*.html")}
    rules = {path.name[:6] for path in (ROOT / "rules").rglob("*.yaml")}
    assert len(pages) == len(rules) + 1 or len(pages) > 400
    page = (tmp_path / "site" / "VRL002.html").read_text(encoding="utf-8")
    assert 'lang="zh"' in page
    assert "<script" not in page

"""What `check --save` keeps: masked, small, moves the causes of a log elsewhere, and is read as a
stranger's text."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from verl_doctor.checks import bundle
from verl_doctor.checks.types import Result, ok
from verl_doctor.cli import main
from verl_doctor.errors import BundleError
from verl_doctor.model import Fix, Text

pytestmark = pytest.mark.usefixtures("compiled_once")
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device\n"
FOUND = Result(
    "env.extensions",
    "fault",
    Text(
        "flash-attn has no code for the GPU: no kernel image is available.",
        "flash-attn 没有该 GPU 的代码。",
    ),
    "critical",
    ("/home/alice/venv/lib/flash_attn_2_cuda.so", "HF_TOKEN=hf_" + "aB3" * 12),
    Fix(Text("Build it for this GPU.", "为该 GPU 重新编译。"), run="pip install flash-attn"),
    "CUD004",
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A bundle of one fault and one check that was in order."""
    results = [FOUND, ok("env.limits", "The limits leave room.", "限制足够。", "nofile: 1048576")]
    path = tmp_path / "node7.json"
    made = bundle.made_here(results, "/home/alice/venv/bin/python", "0.9.1", time.time())
    path.write_text(bundle.written(made))
    return path


def test_what_is_kept_is_masked_fits_its_schema_and_holds_no_command(saved: Path) -> None:
    text = saved.read_text()
    assert "alice" not in text
    assert "aB3aB3" not in text
    assert "pip install" not in text
    jsonschema.validate(json.loads(text), bundle.schema())
    read = bundle.read(str(saved))
    assert read.verl == "0.9.1"
    assert [one.check for one in read.results] == ["env.extensions", "env.limits"]
    assert read.results[0].seen[0] == "~/venv/lib/flash_attn_2_cuda.so"
    assert read.results[0].text.zh == FOUND.text.zh


def test_a_log_is_diagnosed_with_what_was_found_elsewhere(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(NO_KERNEL)
    read = diagnosed(capsys, log, "--bundle", str(saved))
    [cause] = [one for one in read["causes"] if one["state"] == "confirmed"]
    assert cause == read["causes"][0]
    host = bundle.read(str(saved)).where
    assert cause["because"] == [f"on {host}: {FOUND.text.en.rstrip('.')}"]
    assert "env.extensions" not in read["checks"]
    without = diagnosed(capsys, log)
    assert {one["state"] for one in without["causes"]} == {"possible"}
    assert "env.extensions" in without["checks"]


def diagnosed(capsys: pytest.CaptureFixture[str], log: Path, *words: str) -> Any:
    """The first finding of a log, as JSON."""
    with pytest.raises(SystemExit):
        main(["diagnose", str(log), "--no-record", "--lang", "en", "--format", "json", *words])
    return json.loads(capsys.readouterr().out)["findings"][0]


@pytest.mark.parametrize(("minutes", "older"), [(-5, False), (5, True)])
def test_a_bundle_that_is_older_than_the_log_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], minutes: int, older: bool
) -> None:
    now = time.time()
    made = bundle.Bundle("node7", now, 0.0, "python", "", (FOUND,))
    path, log = tmp_path / "b.json", tmp_path / "train.log"
    path.write_text(bundle.written(made))
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now + 60 * minutes))
    log.write_text(f"{stamp},000 ERROR {NO_KERNEL}")
    with pytest.raises(SystemExit):
        main(["diagnose", str(log), "--no-record", "--lang", "en", "--bundle", str(path)])
    said = capsys.readouterr().err
    assert f"checked on node7, {made.when}" in said
    assert ("older than the end of the log" in said) is older


def test_a_clock_in_local_time_does_not_make_a_bundle_old() -> None:
    made = bundle.Bundle("node7", 1_796_000_000.0, 8 * 3600.0, "python", "", ())
    assert not made.older_than(made.made_at + 7 * 3600)
    assert made.older_than(made.made_at + 9 * 3600)


def test_it_is_printed_again(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["check", "--lang", "en", "--from", str(saved)])
    captured = capsys.readouterr()
    assert end.value.code == 1
    assert "checked on " in captured.err
    assert "flash-attn has no code for the GPU" in captured.out
    assert "1 would stop or spoil the run" in captured.out


def test_check_saves_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.json"
    words = ["--only", "config", "--verl", "0.9.1", "--save", str(path)]
    with pytest.raises(SystemExit):
        main(["check", "--lang", "en", *words, "actor_rollout_ref.rollout.temperature=0"])
    printed = capsys.readouterr().out
    read = bundle.read(str(path))
    assert read.verl == "0.9.1"
    assert "VRL091" in {one.rule for one in read.results}
    assert all(one.text.en[:30] in printed for one in read.results)


def test_a_file_that_cannot_be_written_takes_no_result_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--only", "config", "--verl", "0.9.1", "--save", str(tmp_path / "none" / "b.json")]
    with pytest.raises(SystemExit) as end:
        main(["check", "--lang", "en", *words, "actor_rollout_ref.rollout.temperature=0"])
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert "[VRL091]" in captured.out
    assert "cannot write" in captured.err


def test_what_was_found_before_and_something_to_check_exclude_each_other(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["check", "--from", str(saved), "data.train_batch_size=8"])
    assert end.value.code == 2
    assert "name nothing to check" in capsys.readouterr().err


def changed(saved: Path, **changes: Any) -> str:
    """The bundle with keys of its first result replaced."""
    document = json.loads(saved.read_text())
    document["results"][0] |= changes
    return json.dumps(document)


HOSTILE = [
    ("", "is no JSON"),
    ("[" * 100_000, "is no JSON"),
    ("9" * 5000, "is no JSON"),
    ("[1, 2]", "is no bundle"),
    ('{"kind": "verl-doctor checks", "schema_version": 2}', "schema_version 2"),
    ('{"kind": "verl-doctor checks", "schema_version": 1, "results": {}}', "results is no list"),
    ('{"kind": "verl-doctor checks", "schema_version": 1, "results": [7], "host": "h", '
     '"made_at": 1, "utc_offset": 0, "python": "p", "verl": ""}', "results[0] is no object"),
    ('{"kind": "verl-doctor checks", "schema_version": 1, "results": [], "host": "h", '
     '"made_at": NaN, "utc_offset": 0, "python": "p", "verl": ""}', "made_at is no number"),
    ('{"kind": "verl-doctor checks", "schema_version": 1, "results": [], "host": [], '
     '"made_at": 1, "utc_offset": 0, "python": "p", "verl": ""}', "host is no text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), HOSTILE)
def test_what_is_no_bundle_is_refused_in_a_line(
    tmp_path: Path, text: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["check", "--from", str(path)])
    assert end.value.code == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "changes",
    [
        {"check": "env.nothing_such"},
        {"check": ["env.limits"]},
        {"state": "fine"},
        {"severity": None},
        {"seen": "text"},
        {"seen": [1]},
        {"seen": ["x"] * (bundle.MAX_SEEN + 1)},
        {"text": {"en": "no Chinese"}},
        {"fix": []},
        {"rule": 7},
    ],
)
def test_a_value_that_cannot_be_is_refused(saved: Path, changes: dict[str, Any]) -> None:
    saved.write_text(changed(saved, **changes))
    with pytest.raises(BundleError, match=r"results\[0\]"):
        bundle.read(str(saved))


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b" " * (bundle.MAX_BYTES + 1))
    with pytest.raises(BundleError, match="larger than"):
        bundle.read(str(path))


def test_text_of_a_bundle_is_neither_escape_code_nor_command(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = {"en": "\x1b]52;c;evil\x07[red]x[/red]\ud800", "zh": "x"}
    fix = {"en": "Do this.", "zh": "x", "run": "rm -rf ~", "set": "a=1;b", "code": "import os"}
    saved.write_text(changed(saved, text=evil, seen=["\x1b[2J"], fix=fix, rule="\x1b[31m"))
    with pytest.raises(SystemExit):
        main(["check", "--lang", "en", "--all", "--from", str(saved)])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[red]x[/red]" in printed
    assert "Do this." in printed
    assert "rm -rf" not in printed

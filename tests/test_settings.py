"""Config files: where they are found, what `[[mute]]` leaves out, what is told of a broken one."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from verl_doctor import settings, store
from verl_doctor.cli.app import cli
from verl_doctor.model import Muted
from verl_doctor.settings import Mute, Settings

from .conftest import GENUINE
from .store_samples import finding, report
from .tui_pilot import User, use

NCCL = GENUINE / "nccl-timeout-missing-rank.log"
CASCADE = 'rule = "DST016"'


def written(folder: Path, text: str, name: str = "verl-doctor.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def mute(*lines: str, head: str = "[[mute]]") -> str:
    return "\n".join([head, *lines, ""])


# --- where they are found ---------------------------------------------------------------------


def test_the_nearest_project_file_and_the_users_hold(tmp_path: Path, private_home: Path) -> None:
    written(tmp_path, mute('rule = "AAA001"', 'reason = "too far up"'))
    written(tmp_path / "a", mute('rule = "AAA002"', 'reason = "nearest"'))
    written(tmp_path / "a" / "b", '[tool.other]\nx = "tool.verl"\n', "pyproject.toml")
    written(private_home / "config" / "verl-doctor", mute('rule = "AAA003"', 'reason = "mine"'),
            "config.toml")  # fmt: skip
    found = settings.load(tmp_path / "a" / "b" / "c")
    assert found.problems == ()
    assert [(one.rule, one.origin) for one in found.mutes] == [
        ("AAA002", "verl-doctor.toml"),
        ("AAA003", "config.toml"),
    ]


def test_a_table_of_pyproject_is_a_config_file(tmp_path: Path) -> None:
    written(tmp_path, mute('rule = "AAA001"', 'reason = "x"', head="[[tool.verl-doctor.mute]]"),
            "pyproject.toml")  # fmt: skip
    (one,) = settings.load(tmp_path).mutes
    assert (one.rule, one.origin) == ("AAA001", "pyproject.toml")


def test_a_variable_names_one_file_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, mute('rule = "AAA001"', 'reason = "x"'))
    other = written(tmp_path / "o", mute('rule = "AAA002"', 'reason = "x"'), "other.toml")
    monkeypatch.setenv("VERL_DOCTOR_CONFIG", str(other))
    assert [one.rule for one in settings.load(tmp_path).mutes] == ["AAA002"]
    monkeypatch.setenv("VERL_DOCTOR_CONFIG", "")
    assert settings.load(tmp_path) == Settings()


# --- what is read -----------------------------------------------------------------------------


def test_every_key_of_a_mute_is_read(tmp_path: Path) -> None:
    text = mute('rule = "oom"', 'fingerprint = "0123456789"', 'reason = " known "',
                "until = 2026-12-24T18:00:00Z", "wake_above = 5")  # fmt: skip
    written(tmp_path, text)
    (one,) = settings.load(tmp_path).mutes
    until = 1798135200.0
    assert one == Mute("known", "verl-doctor.toml", "oom", "0123456789", until, 5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (mute('rule = "AAA001"'), 'no. 1: the reason is missing. Write: reason = "'),
        (mute('rule = "AAA001"', 'reason = "  "'), "the reason is missing"),
        (mute('reason = "x"'), "says not what it mutes"),
        (mute('rule = 7', 'reason = "x"'), "rule is no text. Put it in quotes"),
        (mute('rule = "A"', 'reason = "x"', 'until = "soon"'), "until is no date"),
        (mute('rule = "A"', 'reason = "x"', "until = 18:00:00"), "until is no date"),
        (mute('rule = "A"', 'reason = "x"', "wake_above = 0"), "wake_above is no number"),
        (mute('rule = "A"', 'reason = "x"', "wake_above = true"), "wake_above is no number"),
        (mute('rule = "A"', 'reason = "x"', "untill = 1"), "Meant: until?"),
        (mute('fingerprint = "0123"', 'reason = "x"'), "at least 8 characters"),
        ('[mute]\nrule = "A"\n', "Write [[mute]], with two brackets"),
        ("mute = [1]\n", "is no table"),
        ("[[mutes]]\n", "mutes: is no setting. Meant: [[mute]]?"),
        ("rule = \n", "is no TOML"),
        ("x = " + "[" * 2000, "is no TOML"),
        ("# \udcff", "is no TOML"),
        ("#" * (1 << 20) + "#", "larger than 1 MiB"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "verl-doctor.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    found = settings.load(tmp_path)
    assert found.mutes == ()
    assert any(one.startswith(str(path)) and told in one for one in found.problems), found.problems


def test_a_good_mute_holds_beside_a_broken_one(tmp_path: Path) -> None:
    written(tmp_path, mute('rule = "A"') + mute('rule = "AAA002"', 'reason = "x"'))
    found = settings.load(tmp_path)
    assert [one.rule for one in found.mutes] == ["AAA002"]
    assert len(found.problems) == 1


# --- what is left out -------------------------------------------------------------------------


def test_a_mute_ends_wakes_and_is_about_one_fault() -> None:
    now = time.time()
    noise = finding("noise")._replace(role="symptom", fingerprint="0123456789abcdef", count=5)
    one = report("/a.log", finding(), noise)

    def left(**given: object) -> list[str]:
        said = Mute("why", "f", **{"rule": "", "fingerprint": "01234567", **given})  # type: ignore[arg-type]
        shown = settings.silence(one, [said], now)
        assert shown.hidden.get("muted", 0) == 2 - len(shown.findings)
        return [each.fingerprint for each in shown.findings]

    both = [each.fingerprint for each in one.findings]
    assert left() == both[:1]
    assert left(until=now + 1) == both[:1]
    assert left(until=now) == both
    assert left(wake_above=5) == both[:1]
    assert left(wake_above=4) == both
    assert left(fingerprint="01234568") == both
    assert left(rule=noise.slug) == both[:1]
    assert left(rule="another-rule") == both


def test_what_ended_the_run_is_shown_with_the_reason() -> None:
    one = report("/a.log", finding())
    fits = Mute("we know", "verl-doctor.toml", fingerprint=one.findings[0].fingerprint)
    shown = settings.silence(one, [fits], time.time())
    assert shown.findings[0].muted == Muted("we know", "verl-doctor.toml")
    assert shown.hidden.get("muted", 0) == 0


# --- what a user sees -------------------------------------------------------------------------


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, [*args, str(NCCL)], standalone_mode=False)
    return result.return_value, result.stdout, result.stderr


@pytest.mark.usefixtures("compiled_once")
def test_a_report_counts_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, mute(CASCADE, 'reason = "always so"') + mute('rule = "DST001"',
            'reason = "under repair"') + mute('rule = "X"'))  # fmt: skip
    _, text, told = run("--all")
    text = " ".join(text.split())  # however it is wrapped
    assert "DST016" not in text
    assert "1 muted" in text
    assert "muted: under repair (verl-doctor.toml; it ended this run, so it is shown)" in text
    assert "[[mute]] no. 3: the reason is missing" in told
    status, text, _ = run("--format", "json", "--fail-on", "critical")
    document = json.loads(text)
    assert document["hidden"]["muted"] == 1
    assert document["findings"][0]["muted"] == {"reason": "under repair", "by": "verl-doctor.toml"}
    assert status == 0  # what is muted does not count
    monkeypatch.setenv("VERL_DOCTOR_CONFIG", "")
    status, text, _ = run("--format", "json", "--fail-on", "critical")
    assert json.loads(text)["findings"][0]["muted"] is None
    assert status == 1


@pytest.mark.usefixtures("compiled_once")
def test_the_screen_leaves_it_out_too() -> None:
    said = Settings((Mute("always so", "f", rule="DST016"),), ("f: [[mute]] no. 2: broken",))

    async def script(user: User) -> None:
        report = user.triage.snapshot.report
        assert report is not None
        assert "DST016" not in [one.rule for one in report.findings]
        assert report.hidden["muted"] == 1
        assert "f: [[mute]] no. 2: broken" in user.messages()

    use(NCCL, script, said=said)


def test_no_config_file_costs_nothing(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from verl_doctor import settings; settings.load(); "
        "sys.exit('tomllib' in sys.modules or 'tomli' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(GENUINE.parent.parent)}
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env).returncode == 0


@pytest.mark.usefixtures("compiled_once")
def test_mutes_are_listed_with_what_they_are_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("--format", "json")
    store.mute(store.find("1")[0].fingerprint, "of the store")
    written(tmp_path, mute(CASCADE, 'reason = "used"', "until = 2020-01-01") + mute(
            'rule = "RAY001"', 'reason = "no use"') + "[[mute]]\n")  # fmt: skip
    result = CliRunner().invoke(cli, ["incidents", "mutes"], standalone_mode=False)
    number = next(one.number for one in store.incidents().incidents if one.rule == "DST016")
    first, second, third = result.stdout.splitlines()
    assert first == f"verl-doctor.toml  DST016: used (over since 2020-01-01 00:00); mutes #{number}"
    assert second == "verl-doctor.toml  RAY001: no use; unused: nothing on record is this"
    assert third.startswith("#1  DST001 ")
    assert third.endswith(": of the store")
    assert "[[mute]] no. 3" in result.stderr
    result = CliRunner().invoke(
        cli, ["incidents", "mutes", "--format", "json"], standalone_mode=False
    )
    rows = json.loads(result.stdout)["mutes"]
    assert [(row["by"], row["rule"], row["holds"], row["incidents"]) for row in rows] == [
        ("verl-doctor.toml", "DST016", False, [number]),
        ("verl-doctor.toml", "RAY001", True, []),
        ("store", "DST001", True, [1]),
    ]

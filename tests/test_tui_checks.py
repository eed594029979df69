"""Checks in the TUI: asked for, confirmed, run in real children, stopped, and their results."""

from __future__ import annotations

from pathlib import Path

import pytest

from verl_doctor import store
from verl_doctor.checks.names import SUBJECTS
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.database import Scanner
from verl_doctor.tui.reading import Input
from verl_doctor.tui.screens.ask import Confirm
from verl_doctor.tui.screens.checking import Running
from verl_doctor.tui.screens.checks import Checks, ResultList
from verl_doctor.tui.widgets.page import Page

from .conftest import GENUINE
from .test_environment_children import gone, until
from .tui_pilot import User, use

pytestmark = pytest.mark.usefixtures("compiled_once")

NCCL = GENUINE / "nccl-timeout-missing-rank.log"
NOWHERE = "/no/such/[red]python"
LINE = b"RuntimeError: the flux capacitor is offline\n"
RULE = """
id: ZZZ001
slug: flux-capacitor-offline
status: experimental
severity: high
role: root
layer: system
title: {en: The flux capacitor is offline, zh: 通量电容器离线}
summary: {en: It is offline., zh: 已离线。}
match:
  line:
    - {contains: [flux capacitor is offline], regex: flux capacitor is offline}
causes:
  - id: power
    likelihood: high
    text: {en: It has no power., zh: 没有供电。}
    evidence: [{check: env.limits, matches: no such words, effect: confirms}]
    fixes: [{text: {en: Plug it in., zh: 接上电源。}, risk: none}]
  - id: interpreter
    likelihood: low
    text: {en: Its interpreter is gone., zh: 解释器已不存在。}
    evidence: [{check: env.python, matches: does not start, effect: confirms}]
    fixes: [{text: {en: Bring it back., zh: 恢复解释器。}, risk: none}]
references:
  - {url: "https://example.org/flux", kind: article, checked: 2026-12-01}
examples:
  match:
    - {origin: synthetic, log: "RuntimeError: the flux capacitor is offline"}
  no_match:
    - {origin: synthetic, log: "RuntimeError: the flux capacitor is warm", because: another message}
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_bytes(LINE)
    return path


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A folder with a rule whose causes a check of the interpreter tells apart; the same one for
    all tests, so that it is compiled once."""
    folder = tmp_path_factory.mktemp("rules") / "system"
    folder.mkdir()
    (folder / "ZZZ001-flux-capacitor-offline.yaml").write_text(RULE, encoding="utf-8")
    return [str(folder.parent)]


async def checked(user: User) -> ResultList:
    """Says yes to the question, and waits for the results."""
    assert isinstance(user.app.screen, Confirm)
    await user.press("y")
    await user.until(lambda: isinstance(user.app.screen, Checks))
    await user.settle()
    return user.app.screen.query_one(ResultList)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_a_check_is_explained_confirmed_run_and_moves_the_causes(
    log: Path, rules: list[str], size: tuple[int, int]
) -> None:
    async def script(user: User) -> None:
        finding = user.triage.finding
        assert finding is not None
        assert [cause.id for cause in finding.causes] == ["power", "interpreter"]
        await user.press("p")
        question = user.screen()
        for text in ("causes of ZZZ001", "env.limits", "env.python  whether the interpreter",
                     NOWHERE, "only read", "y or Enter"):  # fmt: skip
            assert text in question
        results = await checked(user)
        assert results.chosen is not None
        assert results.chosen.check == "env.python"  # what the finding asked for comes first
        assert results.chosen.state == "fault"
        screen = user.screen()
        assert f"The interpreter {NOWHERE} does not start" in screen
        assert "X  env.python" in screen
        assert "which -a python3" in screen
        assert all(len(line) <= size[0] for line in screen.split("\n"))
        await user.press("y")
        assert user.app.clipboard.startswith(f"X The interpreter {NOWHERE} does not start")
        await user.press("j")
        assert results.chosen.check == "env.limits"
        assert "nofile:" in user.screen()
        await user.press("enter")
        assert user.app.screen.query_one(Page).has_focus
        await user.press("j", "escape", "escape")
        assert user.app.screen is user.triage
        await user.until(lambda: user.triage.finding and user.triage.finding.causes[0].because)
        finding = user.triage.finding
        assert finding is not None
        assert [(one.id, one.state) for one in finding.causes] == [
            ("interpreter", "confirmed"),
            ("power", "possible"),
        ]
        user.detail.focus()
        await user.press("plus")
        assert "[confirmed] Its interpreter is gone." in user.screen()
        assert "on this machine: The interpreter" in user.screen()
        assert "p runs" not in user.screen()
        await user.until(lambda: user.app.recorded)
        assert store.occurrences(finding.fingerprint)[0].cause == "Its interpreter is gone."

    use(log, script, size=size, rule_dirs=rules, python=NOWHERE)


def test_no_and_esc_run_nothing(log: Path) -> None:
    log.write_bytes(b"CUDA error: no kernel image is available for execution on the device\n")

    async def script(user: User) -> None:
        for key in ("n", "escape"):
            await user.press("p")
            assert isinstance(user.app.screen, Confirm)
            await user.press(key)
            assert user.app.screen is user.triage
        assert user.app.checked is None
        copied = [item.copy for item in user.detail.values if item is not None]
        assert any(text.startswith("env.extensions, env.torch would tell") for text in copied)

    use(log, script, python=NOWHERE)


def test_all_checks_can_be_run_again_and_looked_at_later_in_chinese(tmp_path: Path) -> None:
    async def script(user: User) -> None:
        await user.press("p")
        assert "没有检查能区分" in user.messages()[-1]
        await user.press("P")
        question = user.screen()
        assert "全部环境检查" in question
        assert "env.folders" in question
        results = await checked(user)
        assert "本机检查" in user.screen()
        assert f"解释器 {NOWHERE} 无法启动" in user.screen()
        assert "项会中止或破坏训练" in user.screen()
        first = user.app.checked
        await user.press("p")
        again = await checked(user)
        assert again is results
        assert user.app.checked is not first
        await user.press("escape", "P")
        assert isinstance(user.app.screen, Checks)

    use(NCCL, script, lang="zh", python=NOWHERE)


def endless_python(folder: Path) -> tuple[Path, Path]:
    """An interpreter that never answers, and the file to which it writes its process ids."""
    pids, python = folder / "pids", folder / "python"
    python.write_text(f'#!/bin/sh\necho $$ >> "{pids}"\nexec sleep 3600\n')
    python.chmod(0o755)
    return python, pids


def test_esc_stops_the_checks_and_ends_their_children(tmp_path: Path) -> None:
    python, pids = endless_python(tmp_path)

    async def script(user: User) -> None:
        await user.press("P")
        await user.pilot.press("enter")
        await user.until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
        await user.until(lambda: "answers. Esc stops" in user.screen())
        assert isinstance(user.app.screen, Running)
        await user.press("escape")
        await user.until(lambda: user.app.screen is user.triage)
        assert "Checks stopped" in user.messages()
        assert user.app.checked is None
        until(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))

    use(NCCL, script, python=str(python))


def test_leaving_the_app_ends_the_checks(tmp_path: Path) -> None:
    python, pids = endless_python(tmp_path)

    async def script(user: User) -> None:
        await user.press("P")
        await user.pilot.press("enter")
        await user.until(lambda: pids.exists() and len(pids.read_text().split()) == 3)

    use(NCCL, script, python=str(python))
    until(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))


def test_the_causes_move_while_the_log_still_grows(log: Path, rules: list[str]) -> None:
    async def script(user: User) -> None:
        await user.until(lambda: user.triage.finding is not None)
        await user.press("p")
        await checked(user)
        await user.press("escape")
        await user.until(lambda: user.triage.finding and user.triage.finding.causes[0].because)
        assert not user.triage.snapshot.finished
        user.app.reading.stop()
        with log.open("ab") as file:
            file.write(b"more\n")
        await user.until(lambda: user.triage.snapshot.finished)
        finding = user.triage.finding
        assert finding is not None
        assert finding.causes[0].state == "confirmed"

    use(Input(follow=str(log)), script, rule_dirs=rules, python=NOWHERE, read=False)


def test_what_every_check_of_a_rule_looks_at_can_be_told(
    shipped: tuple[RuleBase, Scanner],
) -> None:
    base, _ = shipped
    named = {
        hint["check"]
        for plain in base.plains.values()
        for cause in plain.get("causes", ())
        for hint in cause.get("evidence", ())
        if hint.get("check")
    }
    assert named
    assert named <= SUBJECTS.keys()

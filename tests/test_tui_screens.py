"""Incidents, rules, metrics, help, the palette; both languages; text that wants to be markup."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from verl_doctor import store
from verl_doctor.tui.keys import PANES, help_lines
from verl_doctor.tui.palette import commands
from verl_doctor.tui.screens.incidents import IncidentList, Incidents
from verl_doctor.tui.screens.metrics import Chart, Metrics
from verl_doctor.tui.screens.rules import RuleList, Rules
from verl_doctor.tui.words import _WORDS, word

from .conftest import GENUINE, ROOT
from .tui_pilot import User, use

pytestmark = pytest.mark.usefixtures("compiled_once")

NCCL = GENUINE / "nccl-timeout-missing-rank.log"
DRIFT = GENUINE / "gpu-kl-drift.log"


def of(number: str) -> store.Incident:
    (one,) = store.find(number)
    return one


def test_what_people_say_is_kept_and_shown_the_next_time(tmp_path: Path) -> None:
    async def first(user: User) -> None:
        finding = user.triage.finding
        assert finding is not None
        name = finding.fingerprint
        assert "not seen on this machine" in user.screen() or user.app.recorded
        await user.press("a")
        assert of(name).state == "acknowledged"
        await user.press("c")
        await user.type("node 7 [red]only[/red]")
        assert [note.text for note in store.notes(name)] == ["node 7 [red]only[/red]"]
        await user.press("m")
        await user.type("known")
        await user.until(lambda: user.app.screen.query(OptionList))
        await user.press("2")
        one = of(name)
        assert one.mute_reason == "known"
        assert one.muted_until is not None
        assert 6.9 < (one.muted_until - time.time()) / 86400 < 7.1
        await user.press("r")
        await user.press("enter")
        assert of(name).state == "resolved"
        assert of(name).fix.startswith(finding.fixes[0].text[:20])
        await user.press("r")
        await user.press(*"j" * len(finding.fixes), "enter")
        await user.type("another NIC")
        assert of(name).fix == "another NIC"
        await user.press("m", "escape")
        assert of(name).mute_reason == "known"

    use(NCCL, first)
    again = tmp_path / "second run.log"
    again.write_bytes(NCCL.read_bytes())

    async def second(user: User) -> None:
        assert "seen once, in run" in user.screen()
        assert "another NIC" in user.screen()

    use(again, second)


def test_without_a_record_the_keys_say_why_not(tmp_path: Path) -> None:
    async def script(user: User) -> None:
        await user.press("a")
        assert "Not on record" in user.messages()[-1]

    use(NCCL, script, record=False)
    assert not store.default_path().exists()


def test_a_store_that_cannot_be_read_is_told_and_no_more() -> None:
    path = store.default_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all" * 100)

    async def script(user: User) -> None:
        await user.until(lambda: len(user.messages()) >= 2)
        assert any("not recorded" in told for told in user.messages())
        await user.press("a", "i")
        assert isinstance(user.app.screen, Incidents)
        assert user.line == 10

    use(NCCL, script, read=False)


def test_the_incidents_screen_lists_searches_and_tells() -> None:
    async def script(user: User) -> None:
        finding = user.triage.finding
        assert finding is not None
        await user.press("i")
        incidents = user.app.screen.query_one(IncidentList)
        await user.until(lambda: incidents.chosen is not None)
        await user.settle()
        assert incidents.chosen is not None
        assert incidents.chosen.fingerprint == finding.fingerprint
        screen = user.screen()
        assert "nccl-timeout-missing-rank.log" in screen
        assert "FAILED" in screen
        total = len(incidents.values)
        assert total == 5
        await user.press("c")
        await user.type("cable was loose")
        assert "cable was loose" in user.screen()
        await user.press("slash")
        await user.type("cable")
        assert len(incidents.values) == 1
        await user.press("a")
        assert "acknowledged" in user.screen()
        await user.press("y")
        assert user.app.clipboard.startswith(f"#{of(finding.fingerprint).number} ")
        await user.press("slash")
        await user.type("zebra")
        assert "No incidents" in user.screen()
        await user.press("escape")
        assert user.app.screen is user.triage

    use(NCCL, script)


def test_the_rules_screen_explains_the_rule_of_the_finding_and_searches() -> None:
    async def script(user: User) -> None:
        await user.press("R")
        assert isinstance(user.app.screen, Rules)
        rules = user.app.screen.query_one(RuleList)
        assert rules.chosen == "DST001"
        assert "nccl-timeout-rank-missing" in user.screen()
        await user.press("slash")
        await user.type("kl drift")
        assert rules.chosen == "MET007"
        assert "KL coefficient" in user.screen()
        await user.press("y")
        assert "MET007" in user.app.clipboard
        await user.press("slash")
        await user.type("no such words")
        assert "No rule fits" in user.screen()
        await user.press("slash")
        await user.type("")
        await user.press("G")
        last = rules.chosen
        await user.press("k", "j")
        assert rules.chosen == last
        await user.press("tab", "j", "escape")
        assert user.app.screen is user.triage

    use(NCCL, script, size=(80, 24))


def test_the_metrics_screen_marks_the_bad_stretch_and_opens_its_line() -> None:
    async def script(user: User) -> None:
        await user.press("M")
        assert isinstance(user.app.screen, Metrics)
        chart = user.app.screen.query_one(Chart)
        assert chart.plot is not None
        assert chart.plot.key == "actor/kl_loss"
        assert chart.plot.steps[chart.point] == 205
        assert "bad by MET007, steps 205 to 300" in user.screen()
        await user.press("right", "left", "l", "h")
        assert chart.plot.steps[chart.point] == 205
        await user.press("j")
        assert chart.plot.key == "response_length/clip_ratio"
        await user.press("k", "enter")
        assert user.app.screen is user.triage
        assert user.line == 207

    use(DRIFT, script)


def test_a_log_without_metrics_says_so() -> None:
    async def script(user: User) -> None:
        await user.press("M")
        assert "no metrics" in user.screen()
        await user.press("enter", "right", "escape")
        assert user.app.screen is user.triage

    use(GENUINE / "verl-unequal-chunk.log", script)


def test_help_is_that_of_the_focused_pane() -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.press("question_mark")
        assert "mark this line" in user.screen()
        await user.press("escape")
        user.findings.focus()
        await user.press("f1")
        assert "mark this line" not in user.screen()
        assert "next error" in user.screen()
        await user.press("j", "k", "q")
        assert user.app.screen is user.triage

    use(NCCL, script, size=(100, 60))


def test_every_key_can_be_found_in_the_palette_and_run() -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.settle()
        titles = {command.title for command in commands(user.app)}
        for pane in ("log", "triage", "app"):
            for key in PANES[pane]:
                if key.name != "command_palette":
                    assert word(key.word, "en", n=key.argument) in titles
        await user.press("ctrl+p")
        await user.until(lambda: user.app.screen.query(Input))
        user.app.screen.query_one(Input).value = "wrap long"
        await user.until(lambda: "wrap long" in user.screen() and user.app.screen.query(OptionList))
        await user.pilot.pause(0.3)
        await user.pilot.press("down")
        await user.pilot.press("enter")
        await user.until(lambda: user.log.wrap)

    use(NCCL, script)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_everything_can_be_reached_at_any_size(size: tuple[int, int]) -> None:
    async def script(user: User) -> None:
        for widget in (user.findings, user.detail, user.log, user.strip):
            region = widget.region
            assert region.width >= 20
            assert region.height >= 3
            assert region.right <= size[0]
            assert region.bottom <= size[1]
        assert "? help" in user.screen()
        assert "q" in user.screen().rstrip("\n").split("\n")[-1]

    use(NCCL, script, size=size)


def test_chinese_throughout() -> None:
    async def script(user: User) -> None:
        screen = user.screen()
        for text in ("失败", "根因", "原因（按可能性排序）", "帮助"):
            assert text in screen
        user.log.focus()
        await user.press("question_mark")
        assert "下一个错误" in user.screen()

    use(NCCL, script, lang="zh", size=(120, 60))


def test_every_word_is_in_both_languages_with_the_same_values() -> None:
    import re

    for key, (en, zh) in _WORDS.items():
        assert en, key
        assert zh, key
        assert set(re.findall(r"\{(\w+)\}", en)) == set(re.findall(r"\{(\w+)\}", zh)), key
    for pane in PANES.values():
        for key_ in pane:
            assert word(key_.word, "zh")
            if key_.hint:
                assert word(key_.brief, "zh")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "[red]evil[bold].log"
    path.write_bytes(
        b"[bold]start[/bold] :smile: [link=http://x]y[/link]\n"
        b"Traceback (most recent call last):\n"
        b'  File "/x/[blink]a.py", line 3, in <module>\n'
        b"    f()\n"
        b"RuntimeError: [red]CUDA[/red] \x1b]52;c;ZXZpbA==\x07\x1b[2J \xe2\x80\xaeevil [/no]\n"
    )

    async def script(user: User) -> None:
        screen = user.screen()
        assert "[red]evil[bold].log" in screen
        assert screen.count("RuntimeError: [red]CUDA[/red]") >= 3  # finding, detail, log
        assert "[bold]start[/bold] :smile: [link=http://x]y[/link]" in screen
        assert not any(c in screen for c in "\x1b\x07\u202e")
        for key in ("a", "Y", "y", "i"):
            await user.press(key)
        assert "[red]CUDA[/red]" in user.screen()
        await user.press("escape")
        user.log.focus()
        await user.press("slash")
        await user.type("[/no]")
        assert "\x1b" not in user.app.clipboard
        assert user.app.is_running

    use(path, script, size=(160, 40))


def test_light_and_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(user: User) -> None:
        assert user.app.theme == "textual-light"
        colours = {
            (segment.style.color, segment.style.bgcolor)
            for strip in user.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None
        }
        for pair in colours:
            for colour in pair:
                if colour is not None and colour.triplet is not None:
                    assert len(set(colour.triplet)) == 1  # a grey
        await user.press("ctrl+t")
        assert user.app.theme == "textual-dark"

    use(NCCL, script, light=True)


def test_a_missing_rule_folder_ends_the_app_with_its_reason(tmp_path: Path) -> None:
    async def script(user: User) -> None:
        await user.until(lambda: user.app.failure)
        assert "none" in user.app.failure
        assert user.app.return_code == 2

    use(NCCL, script, read=False, rule_dirs=[str(tmp_path / "none")])


def test_the_docs_list_every_key() -> None:
    text = (ROOT / "docs" / "tui.md").read_text(encoding="utf-8")
    for pane in PANES:
        for (keys, en), (_, zh) in zip(help_lines(pane, "en"), help_lines(pane, "zh"), strict=True):
            assert f"| `{keys}` | {en} | {zh} |" in text

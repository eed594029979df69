"""Every key of the main screen does what the help says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import GENUINE
from .tui_pilot import User, use

pytestmark = pytest.mark.usefixtures("compiled_once")

NCCL = GENUINE / "nccl-timeout-missing-rank.log"

LOG = """\
2026-12-01 06:00:00 start
2026-12-01 06:00:01 WARNING: slow disk
2026-12-01 06:00:02 (WorkerDict pid=7) step one alpha
2026-12-01 06:00:03 (WorkerDict pid=8) step one beta
2026-12-01 06:03:03 ERROR something odd
2026-12-01 06:03:04 Traceback (most recent call last):
2026-12-01 06:03:04   File "/home/u/train.py", line 3, in main
2026-12-01 06:03:04     run(alpha)
2026-12-01 06:03:04 RuntimeError: alpha went wrong
2026-12-01 06:03:05 WARNING: late
2026-12-01 06:03:06 end alpha
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


def test_the_log_opens_at_the_decisive_line_and_the_verdict_is_said() -> None:
    async def script(user: User) -> None:
        assert user.line == 10
        screen = user.screen()
        assert "FAILED" in screen
        assert "NCCL timeout: rank 0 waited" in screen
        assert ">E 10▌[rank0]" in screen

    use(NCCL, script)


def test_errors_and_warnings_have_a_colour_and_evidence_is_bold(log: Path) -> None:
    async def script(user: User) -> None:
        user.log.goto(0)

        def look(number: int) -> tuple[object, bool]:
            segment = list(user.log.page[number - 1][1])[1]
            style = segment.style
            return (style.color, bool(style.bold)) if style is not None else (None, False)

        error, warning, evidence, plain = (look(number) for number in (5, 2, 9, 1))
        assert error[0] == user.log.get_component_rich_style("log--error").color
        assert warning[0] == user.log.get_component_rich_style("log--warning").color
        assert evidence[1]
        assert not error[1]
        assert plain == (None, False)

    use(log, script)


def test_moving_in_the_log(log: Path) -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.press("g")
        assert user.line == 1
        await user.press("j", "down")
        assert user.line == 3
        await user.press("k", "up")
        assert user.line == 1
        await user.press("G")
        assert user.line == 11
        await user.press("home", "ctrl+d")
        half = user.log.size.height // 2
        assert user.line == 1 + half
        await user.press("ctrl+u")
        assert user.line == 1
        await user.press("pagedown")
        assert user.line == min(11, user.log.size.height)
        await user.press("pageup")
        assert user.line == 1
        assert not user.log.following
        await user.press("end", "end")
        assert user.log.following
        await user.press("F")
        assert not user.log.following

    use(log, script)


def test_errors_and_warnings_in_both_directions(log: Path) -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.press("g")
        stops = []
        for _ in range(3):
            await user.press("e")
            stops.append(user.line)
        assert stops == [5, 6, 9]
        await user.press("e")
        assert user.line == 9
        assert "no further" in user.messages()[-1]
        await user.press("E", "E")
        assert user.line == 5
        await user.press("W")
        assert user.line == 2
        await user.press("w")
        assert user.line == 10

    use(log, script)


def test_search_and_its_inverse(log: Path) -> None:
    async def script(user: User) -> None:
        await user.press("n")
        assert "No search yet" in user.messages()[-1]
        user.log.focus()
        await user.press("g", "slash")
        await user.type("ALPHA")  # a capital letter: exactly so
        assert "no further" in user.messages()[-1]
        await user.press("slash")
        await user.type("alpha")
        assert user.line == 3
        await user.press("n", "n")
        assert user.line == 9
        await user.press("N")
        assert user.line == 8
        await user.press("g", "slash")
        await user.type("!2026-12-01 06:0[0-2]")
        assert user.line == 5

    use(log, script)


def test_filters_keep_the_line_and_can_be_switched_off(log: Path) -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.press("ctrl+o")
        await user.type("9")
        assert user.line == 9
        await user.press("f")
        await user.type("alpha")
        assert user.line == 9
        assert re.findall(r" (\d+)[ ▌]2026", user.screen()) == ["3", "8", "9", "11"]
        await user.press("f")
        await user.type("!went wrong")
        assert user.line == 11  # the line itself is hidden: the next one that is shown
        await user.press("t")
        assert user.line == 11
        assert " 10 2026" in user.screen()
        assert "filter off" in user.screen()
        await user.press("t", "k")
        assert user.line == 8
        await user.press("f")
        await user.type("")
        assert " 9 2026" in user.screen()
        await user.press("t")
        assert "No filters" in user.messages()[-1]

    use(log, script)


def test_jumping_to_a_line(log: Path) -> None:
    async def script(user: User) -> None:
        for typed, line in (("5", 5), ("+2", 7), ("-6", 1)):
            await user.press("ctrl+o")
            await user.type(typed)
            assert user.line == line
        for typed, told in (("77", "not there"), ("x", "no line number")):
            await user.press("ctrl+o")
            await user.type(typed)
            assert told in user.messages()[-1]
        assert user.line == 1

    use(log, script)


def test_minutes_before_the_end(log: Path) -> None:
    async def script(user: User) -> None:
        for key, line in (("1", 5), ("2", 1), ("0", 11), ("5", 1)):
            await user.press(key)
            assert user.line == line

    use(log, script)


def test_folding_a_traceback_and_what_unfolds_it(log: Path) -> None:
    async def script(user: User) -> None:
        await user.press("ctrl+o")
        await user.type("8")
        await user.press("z")
        assert user.line == 6
        assert "2 lines folded" in user.screen()
        user.log.focus()
        await user.press("j")
        assert user.line == 9
        await user.press("k")
        assert user.line == 6
        await user.press("ctrl+o")
        await user.type("7")  # a jump into it
        assert user.line == 7
        assert "folded" not in user.screen()
        await user.press("z", "z")
        assert "folded" not in user.screen()
        await user.press("g", "z")
        assert "No traceback" in user.messages()[-1]

    use(log, script)


def test_time_gaps_wrap_and_sideways(log: Path) -> None:
    log.write_text(LOG + "2026-12-01 06:03:07 " + "word " * 60 + "THE END\n")

    async def script(user: User) -> None:
        user.log.focus()
        await user.press("T")
        assert "!+3m00s" in user.screen()
        await user.press("T", "G")
        assert "THE END" not in user.screen()
        await user.press("S")
        assert "THE END" in user.screen()
        await user.press("S")
        for _ in range(20):
            await user.pilot.press("right")
        await user.settle()
        assert "THE END" in user.screen()
        for _ in range(20):
            await user.pilot.press("h")
        await user.settle()
        assert "THE END" not in user.screen()

    use(log, script)


def test_marks(log: Path) -> None:
    async def script(user: User) -> None:
        user.log.focus()
        await user.press("ctrl+o")
        await user.type("2")
        await user.press("b")
        assert "*W  2▌" in user.screen()
        await user.press("u")
        evidence = user.line
        assert evidence in user.log.evidence
        await user.press("U")
        assert user.line == 2
        await user.press("b")
        assert "*W  2" not in user.screen()

    use(log, script)


def test_findings_lead_to_lines_and_lines_to_findings() -> None:
    async def script(user: User) -> None:
        report = user.triage.snapshot.report
        assert report is not None
        second = report.findings[1]
        await user.press("j")
        assert user.triage.finding == second
        assert user.line == second.evidence[0].line
        await user.press("ctrl+o")
        await user.type(str(report.findings[0].evidence[0].line))
        assert f"evidence of {report.findings[0].rule}" in user.screen()
        user.log.focus()
        await user.press("enter")
        assert user.triage.finding == report.findings[0]
        assert user.findings.chosen == report.findings[0]
        assert user.app.focused is user.detail
        item = user.detail.chosen
        assert item is not None
        assert item.kind == "evidence"

    use(NCCL, script)


def test_causes_and_evidence_lead_to_the_line() -> None:
    async def script(user: User) -> None:
        await user.press("enter")
        assert user.app.focused is user.detail
        for kind in ("cause", "evidence"):
            user.log.goto(0)
            user.detail.focus()
            values = user.detail.values
            user.detail.choose(next(i for i, v in enumerate(values) if v and v.kind == kind))
            await user.press("enter")
            assert user.line == 10
            assert user.app.focused is user.log

    use(NCCL, script)


def test_panes_go_round_zoom_and_back() -> None:
    async def script(user: User) -> None:
        seen = []
        for _ in range(4):
            seen.append(user.app.focused)
            await user.press("tab")
        assert seen == [user.findings, user.detail, user.log, user.strip]
        await user.press("shift+tab")
        assert user.app.focused is user.strip
        for pane in seen:
            assert pane is not None
            pane.focus()
            await user.press("plus")
            assert pane.size.height >= 18
            assert sum(one.display for one in user.triage.query(".pane")) == 1
            await user.press("escape")
        await user.press("escape")
        assert user.app.focused is user.findings

    use(NCCL, script, size=(80, 24))


def test_the_strip_names_the_silent_rank_and_opens_its_line() -> None:
    async def script(user: User) -> None:
        rows = [one for one in user.strip.values if one is not None]
        rank_1 = next(one for one in rows if one.label == "rank 1")
        rank_0 = next(one for one in rows if one.label == "rank 0")
        assert rows[0] is rank_0
        assert rank_0.fault is not None
        assert rank_0.fault[0] == 10
        assert rank_1.fault is None
        lines = NCCL.read_text().split("\n")
        last = max(i for i, line in enumerate(lines, 1) if line.startswith("[rank1]"))
        assert rank_1.last[0] == last
        user.strip.focus()
        user.strip.choose(user.strip.values.index(rank_1))
        await user.press("enter")
        assert user.line == last

    use(NCCL, script)


def test_copying(tmp_path: Path, log: Path) -> None:
    log.write_text(LOG.replace("end alpha", "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345"))

    async def script(user: User) -> None:
        user.log.focus()
        await user.press("G", "y")
        assert user.app.clipboard.endswith("export HF_TOKEN=***")
        path = Path(user.messages()[-1].rpartition(": ")[2])
        assert path.read_text() == user.app.clipboard
        assert path.stat().st_mode & 0o077 == 0
        await user.press("Y")
        assert user.app.clipboard.startswith("## FAILED")
        assert "RuntimeError" in user.app.clipboard
        user.findings.focus()
        await user.press("y")
        assert user.app.clipboard == "RuntimeError: alpha went wrong"

    use(log, script)


def test_a_fix_is_copied_as_it_is_pasted() -> None:
    async def script(user: User) -> None:
        finding = user.triage.finding
        assert finding is not None
        fix = finding.fixes[0]
        user.detail.focus()
        values = user.detail.values
        user.detail.choose(next(i for i, v in enumerate(values) if v and v.kind == "fix"))
        await user.press("y")
        assert user.app.clipboard == fix.run

    use(NCCL, script)


def test_the_editor_gets_the_opened_log_and_the_line(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verl_doctor.tui import editor

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "vim -u NONE")
    assert editor.command(str(log), 7) == ["vim", "-u", "NONE", "+7", str(log)]
    monkeypatch.setenv("VISUAL", "/usr/bin/code")
    assert editor.command("-x", 7) == ["/usr/bin/code", "--wait", "--goto", f"{Path.cwd()}/-x:7"]
    monkeypatch.setenv("VISUAL", "hx")
    assert editor.command(str(log), 7) == ["hx", f"{log}:7"]
    monkeypatch.setenv("VISUAL", "ed ' broken")
    assert editor.command(str(log), 7) is None
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR")

    async def script(user: User) -> None:
        await user.press("o")
        assert "Set $EDITOR" in user.messages()[-1]
        monkeypatch.setenv("EDITOR", "no-such-editor")
        await user.press("o")  # without a terminal nothing can be suspended
        assert "cannot be opened" in user.messages()[-1]

    use(log, script)


def test_several_files_are_one_run(tmp_path: Path, log: Path) -> None:
    other = tmp_path / "rank1.log"
    other.write_text("quiet\nstill quiet\nERROR only here\n")

    async def script(user: User) -> None:
        assert user.log.lines.name == str(log)
        await user.press("right_square_bracket")
        assert user.log.lines.name == str(other)
        assert "(2 of 2)" in user.screen()
        await user.press("left_square_bracket", "G")
        user.log.focus()
        await user.press("G", "e")
        assert user.log.lines.name == str(other)
        assert user.line == 3

    use([log, other], script)


def test_the_mouse_chooses_lines_and_scrolls(log: Path) -> None:
    async def script(user: User) -> None:
        await user.pilot.click(user.log, offset=(20, 3))
        assert user.line == 3
        await user.pilot.click(user.log, offset=(user.log.size.width - 1, user.log.size.height))
        await user.settle()
        assert user.line == 11
        await user.pilot.click(user.findings, offset=(5, 2))
        await user.settle()
        assert user.triage.finding is not None

    use(log, script)

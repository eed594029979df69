"""What a log, a rule or a store can try on the interactive screens. docs/threats.md says which line
each test holds."""

from __future__ import annotations

import base64
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import genuine
from tests.test_hostile_logs import obeyed
from tests.test_rules import USER_RULE
from tests.tui_pilot import User, use
from verl_doctor.store import default_path
from verl_doctor.tui import editor

NASTY = "[bold red]x[/] [@click=app.quit]y[/] [/no] \x1b]52;c;eA==\x07 \x9b2J \u202eevil"
SHOWN = "[bold red]x[/] [@click=app.quit]y[/] [/no]"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_bytes(genuine("verl-unequal-chunk"))
    return path


def spoil(title: str) -> None:
    """What a merged store, or another program, can have written."""
    with closing(sqlite3.connect(default_path())) as db, db:
        db.execute("UPDATE incidents SET title = ?, fix = ?, rule = NULL", (title, title))
        db.execute("UPDATE occurrences SET cause = ?", (title,))
        db.execute("UPDATE evidence SET text = ?, path = ?", (title, title))


def test_a_hostile_store_is_text_on_the_incidents_screen(log: Path) -> None:
    async def script(user: User) -> None:
        spoil(NASTY)
        await user.press("i")
        await user.until(lambda: SHOWN in user.screen())
        assert obeyed(user.screen()) == []
        await user.press("y")
        assert SHOWN in user.app.clipboard
        assert obeyed(user.app.clipboard) == []

    use(log, script, size=(160, 40))


def test_a_hostile_rule_is_text_on_the_rules_screen(log: Path, tmp_path: Path) -> None:
    """Escape sequences are refused when it is read; markup is not, and means nothing."""
    folder = tmp_path / "rules"
    folder.mkdir()
    rule = USER_RULE.format(id="AAA001", slug="mine").replace("It is down.", f"'{SHOWN}'")
    (folder / "mine.yaml").write_text(rule.replace("My site's proxy: {proxy}", SHOWN))

    async def script(user: User) -> None:
        await user.press("R")
        await user.press("slash")
        await user.type("AAA001")
        await user.until(lambda: user.screen().count(SHOWN) >= 2)
        assert user.app.is_running

    use(log, script, size=(160, 40), rule_dirs=[str(folder)])


def test_what_is_copied_reaches_the_terminal_as_one_sequence(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OSC 52 carries base64: nothing of the text can end it, or begin another one."""
    log.write_bytes(log.read_bytes() + b"ERROR \x07\x1b\\ \x1b[201~ rm -rf \xe2\x80\xae x\n")
    written: list[str] = []

    async def script(user: User) -> None:
        driver = user.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", written.append)
        user.log.focus()
        await user.press("G", "y")
        sent = [one for one in written if "]52;" in one]
        assert len(sent) == 1
        found = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\a", sent[0])
        assert found is not None
        text = base64.b64decode(found[1]).decode()
        assert "rm -rf" in text
        assert obeyed(text) == []

    use(log, script)


@pytest.mark.parametrize(
    "name", ["-c :!touch pwned|.log", "+!touch pwned", "$(touch pwned)`touch pwned`.log", "a:9.log"]
)
@pytest.mark.parametrize("kind", ["vim", "code", "hx", "other"])
def test_the_name_of_a_log_is_one_argument_of_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / kind
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\n")
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    Path(name).write_text("x\n")
    command = editor.command(name, 7)
    assert command is not None
    told = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    path = str(tmp_path / name)
    assert told.count(repr(path)[1:-1]) == 1
    assert [one for one in command[1:] if one[:1] in "-+" and one not in ("--wait", "--goto")] in (
        [],
        ["+7"],
    )
    assert not (tmp_path / "pwned").exists()

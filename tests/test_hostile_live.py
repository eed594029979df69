"""What a run under `verl-doctor run`, and what is told of it to people, can try. docs/threats.md
says which line each test holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.test_hostile_logs import ESCAPES, obeyed
from tests.test_run import LIMIT_S, doctor, python, ran
from verl_doctor.cli import run
from verl_doctor.notify import (
    COMMAND_S,
    MAX_BODY,
    MAX_TITLE,
    AppriseChannel,
    CommandChannel,
    Message,
    Notifier,
)
from verl_doctor.run.processes import tree

pytestmark = pytest.mark.usefixtures("compiled_once")

SECRET = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"


# --- run ------------------------------------------------------------------------------------


def test_what_the_doctor_says_beside_a_run_is_harmless() -> None:
    """The run's own output is the run's; ours may quote a command or an exception of it."""
    name = "/no/such\x1b]0;owned\x07\x9b31m"
    done = ran([name])
    assert done.returncode == 127
    assert obeyed(done.stderr.decode()) == []
    assert b"\\x1b]0;owned" in done.stderr
    done = ran(python("raise OSError('\\x1b[2J\\u202egone')"))
    told = done.stderr.partition(b"gone\n")[2].decode()
    assert "OSError" in told
    assert obeyed(told) == []


def test_the_log_of_a_run_is_never_written_through_a_link(tmp_path: Path) -> None:
    precious, log = tmp_path / "precious", tmp_path / "run.log"
    precious.write_text("mine\n")
    log.symlink_to(precious)
    done = ran(python("print('new')"), "--log", str(log))
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "mine\n"
    assert not log.is_symlink()
    assert log.read_text() == "new\n"
    log.unlink()
    log.symlink_to(tmp_path / "not-there-yet")
    done = ran(python("print('new')"), "--log", str(log))
    assert done.returncode == 2
    assert not (tmp_path / "not-there-yet").exists()


def test_a_link_that_appears_just_before_the_log_is_opened_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious, log = tmp_path / "precious", tmp_path / "run.log"
    log.symlink_to(precious)
    for look in ("isfile", "lexists"):  # when they looked, it was not there
        monkeypatch.setattr(run.os.path, look, lambda path: False)
    with pytest.raises(click.UsageError, match="File exists"):
        run._kept(str(log), None)  # type: ignore[arg-type]
    assert not precious.exists()


def test_the_environment_of_a_run_is_neither_told_nor_kept(private_home: Path) -> None:
    """It holds tokens; the store keeps the log's command and overrides alone."""
    command = [one for one in doctor() if one != "--no-record"]
    done = subprocess.run(
        [*command, *python("raise KeyError('x')")],
        env={**os.environ, "WANDB_API_KEY": SECRET, "HOMEMADE": "plain-value-7"},
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 1
    kept = [path.read_bytes() for path in private_home.rglob("*.db*")]
    assert kept
    for text in (done.stdout, done.stderr, *kept):
        assert SECRET.encode() not in text
        assert b"plain-value-7" not in text


@pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="Linux names processes so")
@pytest.mark.parametrize("name", [") Z 1 (", ")) S 0 0", "\x1b[31m", "a b"])
def test_a_process_cannot_hide_behind_its_name(name: str) -> None:
    code = (
        f"import sys; open('/proc/self/comm', 'w').write({name!r}); print('named', flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen(python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"named\n"
        assert child.pid in tree(os.getpid())
        child.stdin.close()


# --- messages -------------------------------------------------------------------------------


class Kept:
    name = "kept"

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def send(self, message: Message) -> None:
        self.messages.append(message)


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_a_message_is_masked_harmless_and_bounded(escape: str) -> None:
    kept = Kept()
    notifier = Notifier([kept], lambda text: None)
    nasty = f"{escape} {SECRET} /home/alice/x "
    notifier.send(Message(nasty, nasty * 10_000, "alert"))
    notifier.close()
    (one,) = kept.messages
    for text, most in ((one.title, MAX_TITLE), (one.body, MAX_BODY)):
        assert obeyed(text) == []
        assert SECRET not in text
        assert "alice" not in text
        assert len(text) <= most


def test_no_message_reaches_a_shell_and_none_ends_the_doctor(tmp_path: Path) -> None:
    """Through a real command, whose own words may be hostile as well."""
    script = tmp_path / "told.py"
    script.write_text(
        "import os, sys\n"
        "open('out', 'a').write(os.environ['VERL_DOCTOR_TITLE'] + sys.stdin.read())\n"
        "sys.exit('\\x1b]52;c;eA==\\x07 failed')\n"
    )
    complaints: list[str] = []
    channel = CommandChannel(f"{sys.executable} {script}")
    notifier = Notifier([channel], complaints.append)
    nasty = "\0$(touch pwned) `touch pwned`; touch pwned\n-rf \ud800"
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        notifier.send(Message(nasty, nasty * 100_000, "alert"))
        notifier.close()
    finally:
        os.chdir(before)
    assert COMMAND_S
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == [
        "out",
        "told.py",
    ]
    assert "$(touch pwned)" in (tmp_path / "out").read_text()
    (said,) = complaints
    assert "failed" in said
    assert obeyed(said) == []


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")  # Apprise's import of it
@pytest.mark.parametrize(
    "url",
    [
        "json://me:PASSWORD7@127.0.0.1:1/TOKEN7",
        "slack://TOKEN7/PASSWORD7",
        "nosuch://me:PASSWORD7@TOKEN7",
    ],
)
def test_an_address_with_a_token_is_never_told(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("apprise")
    complaints: list[str] = []
    try:
        notifier = Notifier([AppriseChannel(url)], complaints.append)
        notifier.send(Message("t", "b", "alert"))
        notifier.close()
    except Exception as error:
        complaints.append(str(error))
    assert complaints
    out, err = capfd.readouterr()
    for text in (*complaints, out, err):
        assert "TOKEN7" not in text
        assert "PASSWORD7" not in text


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")
def test_a_service_that_takes_html_gets_text() -> None:
    apprise = pytest.importorskip("apprise")
    bodies: list[str] = []

    class Page(apprise.NotifyBase):  # type: ignore[misc]
        service_name = "Page"
        notify_format = apprise.NotifyFormat.HTML
        templates = ("{schema}://{host}",)

        def send(self, body: str, title: str = "", **_: object) -> bool:
            bodies.append(title + body)
            return True

        def url(self, **_: object) -> str:
            return "hostilepage://x"

    apprise.plugins.N_MGR.add(Page, schemas="hostilepage")
    AppriseChannel("hostilepage://x").send(
        Message("title", "<script>alert(1)</script> <b>", "alert")
    )
    assert "alert" in bodies[0]
    assert "<script" not in bodies[0]
    assert "<b>" not in bodies[0].replace("<b>title</b>", "")

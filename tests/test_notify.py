"""Messages to people: through a real command, and through Apprise to a real HTTP server."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Doctor, genuine
from verl_doctor.errors import DoctorError
from verl_doctor.live import News
from verl_doctor.model import Finding
from verl_doctor.notify import (
    COOL_DOWN_S,
    CommandChannel,
    Message,
    Notifier,
    channels,
)


class Kept:
    """A channel that keeps what it is given, or fails."""

    def __init__(self, error: str = "") -> None:
        self.name = "kept"
        self.messages: list[Message] = []
        self._error = error

    def send(self, message: Message) -> None:
        self.messages.append(message)
        if self._error:
            raise OSError(self._error)


@pytest.fixture
def finding(doctor: Doctor) -> Finding:
    return doctor(genuine("verl-unequal-chunk")).findings[0]


def sent(*news: tuple[float, News]) -> list[Message]:
    """What goes out for these news at these times."""
    kept, now = Kept(), [0.0]
    notifier = Notifier([kept], lambda text: None, lambda: now[0])
    for at, one in news:
        now[0] = at
        notifier.news(one, f"title of {one.kind}\nbody")
    notifier.close()
    return kept.messages


def test_one_message_a_problem_until_the_cool_down_is_over(finding: Finding) -> None:
    alert = News("alert", finding)
    assert len(sent((0, alert), (60, alert), (COOL_DOWN_S - 1, alert))) == 1
    assert len(sent((0, alert), (COOL_DOWN_S, alert))) == 2
    other = News("alert", finding._replace(fingerprint="another"))
    assert len(sent((0, alert), (0, other))) == 2


def test_what_is_not_worth_waking_anyone_is_not_sent(finding: Finding) -> None:
    mild = News("alert", finding._replace(severity="medium"))
    assert sent((0, mild), (0, News("slow", seconds=9)), (0, News("again", finding))) == []
    assert [one.kind for one in sent((0, News("stopped", seconds=9)))] == ["stopped"]


def test_secrets_are_masked(finding: Finding) -> None:
    kept = Kept()
    notifier = Notifier([kept], lambda text: None)
    notifier.send(Message("token hf_" + "aB3" * 12, "api_key=sk-" + "aB3" * 12, "alert"))
    notifier.close()
    assert "aB3aB3" not in kept.messages[0].title + kept.messages[0].body


def test_a_channel_that_fails_is_told_once_and_the_others_go_on() -> None:
    complaints: list[str] = []
    broken, kept = Kept("no route to host"), Kept()
    notifier = Notifier([broken, kept], complaints.append)
    for kind in ("alert", "ended"):
        notifier.send(Message("title", "body", kind))
    notifier.close()
    assert complaints == ["no notification by kept: no route to host"]
    assert len(kept.messages) == 2


def test_a_command_gets_the_message_without_a_shell(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = f"import os, sys; open({str(out)!r}, 'w').write(os.environ['VERL_DOCTOR_TITLE'] + '|' +"
    code += " os.environ['VERL_DOCTOR_RULE'] + '|' + sys.stdin.read())"
    channel = CommandChannel(f'{sys.executable} -c "{code}"')
    channel.send(Message("$(touch pwned); `x`", "body", "alert", "VRL012", "high"))
    assert out.read_text() == "$(touch pwned); `x`|VRL012|$(touch pwned); `x`\n\nbody\n"


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(DoctorError, match="exit status 3: no network"):
        CommandChannel("sh -c 'echo no network >&2; exit 3'").send(Message("t", "b", "alert"))


@pytest.mark.parametrize(
    ("urls", "commands", "words"),
    [
        (["nosuchscheme://x"], [], "does not know nosuchscheme://"),
        ([], ["'unclosed"], "No closing quotation"),
        ([], [" "], "is empty"),
    ],
)
@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")  # Apprise's import of it
def test_a_wrong_address_is_said_at_once(urls: list[str], commands: list[str], words: str) -> None:
    pytest.importorskip("apprise")
    with pytest.raises(DoctorError, match=words):
        channels(urls, commands)


@pytest.fixture
def server() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """(port, posts) of an HTTP server that takes JSON."""
    posts: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield service.server_port, posts
        service.shutdown()


def test_a_run_that_fails_is_told_through_apprise(
    server: tuple[int, list[dict[str, str]]], tmp_path: Path, compiled_once: None
) -> None:
    pytest.importorskip("apprise")
    port, posts = server
    log = tmp_path / "failed.log"
    log.write_bytes(genuine("verl-unequal-chunk"))
    doctor = [sys.executable, "-m", "verl_doctor", "run", "--no-record"]
    done = subprocess.run(
        [*doctor, "--notify", f"json://127.0.0.1:{port}", "--", "sh", "-c", f"cat {log}; exit 1"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "exit status 1" in posts[-1]["title"]
    assert "Unequal chunk" in posts[-1]["message"]


def test_messages_are_for_runs_that_go_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"line\n")
    done = subprocess.run(
        [sys.executable, "-m", "verl_doctor", log, "--notify-command", "cat"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"add --follow" in done.stderr

"""Messages about a live run to people who are not looking: through Apprise, or a command.

Sending happens in a thread of its own and can neither delay nor break what is watched. What can't
be sent is told once for each way of sending.
"""

from __future__ import annotations

import importlib
import os
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from .errors import DoctorError
from .live import News
from .logs.mask import mask
from .logs.text import visible
from .model import severity_rank

COOL_DOWN_S = 1800.0
"""The same problem is not sent again within this time: someone is on the way."""
MAX_WAITING = 20
"""Messages that wait to be sent; beyond it the newest are dropped: the first ones matter."""
COMMAND_S = 30.0
"""Seconds that the user's command may take."""
LAST_S = 15.0
"""Seconds that messages still waiting at the end get."""
MAX_TITLE, MAX_BODY = 500, 4000
"""Characters of a message; the operating system bounds a command's environment."""
WORTH = ("alert", "revised", "stopped", "no_step", "resumed")


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent."""

    title: str
    body: str
    kind: str
    """`alert`, `revised`, `stopped`, `no_step`, `resumed`, `ended`."""
    rule: str = ""
    severity: str = ""


class Channel(Protocol):
    """One way of sending."""

    name: str

    def send(self, message: Message) -> None:
        """Sends it. Errors: any, with a message for the user."""


class AppriseChannel:
    """Any of the services that Apprise knows, by its URL."""

    def __init__(self, url: str) -> None:
        """Errors: DoctorError if Apprise is not installed or does not know the URL."""
        try:
            apprise = importlib.import_module("apprise")
        except ImportError as error:
            raise DoctorError(
                "--notify needs Apprise: pip install 'verl-doctor[notify]', or use --notify-command"
            ) from error
        self.name = url.partition("://")[0] + "://…"  # the rest holds tokens
        self._apprise = apprise.Apprise()
        if not self._apprise.add(url):
            raise DoctorError(
                f"--notify: Apprise does not know {self.name} "
                "(see https://github.com/caronc/apprise/wiki)"
            )

    def send(self, message: Message) -> None:
        # said to be text: services that take HTML or Markdown get it escaped
        if not self._apprise.notify(title=message.title, body=message.body, body_format="text"):
            raise DoctorError("the service did not take the message")


class CommandChannel:
    """A command of the user's, without a shell: the message on its standard input, its parts in
    `VERL_DOCTOR_TITLE`, `_KIND`, `_RULE` and `_SEVERITY`."""

    def __init__(self, command: str) -> None:
        """Errors: DoctorError if the command can't be split into words or is empty."""
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise DoctorError(f"--notify-command: {error}: {command}") from error
        if not self._argv:
            raise DoctorError("--notify-command is empty")
        self.name = self._argv[0]

    def send(self, message: Message) -> None:
        told = {
            "VERL_DOCTOR_TITLE": message.title,
            "VERL_DOCTOR_KIND": message.kind,
            "VERL_DOCTOR_RULE": message.rule,
            "VERL_DOCTOR_SEVERITY": message.severity,
        }
        done = subprocess.run(
            self._argv,
            input=f"{message.title}\n\n{message.body}\n".encode(),
            env=os.environ | told,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=COMMAND_S,
            check=False,
        )
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise DoctorError(f"exit status {done.returncode}{': ' + why[-1] if why else ''}")


def channels(urls: Sequence[str], commands: Sequence[str]) -> list[Channel]:
    """The ways of sending that a user asked for. Errors: DoctorError, see each."""
    return [*map(AppriseChannel, urls), *map(CommandChannel, commands)]


@dataclass(slots=True)
class Notifier:
    """Sends news that are worth waking someone for, each problem once in a while.

    `complain` gets a sentence when a channel fails, once a channel.
    """

    channels: Sequence[Channel]
    complain: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _sent: dict[str, float] = field(default_factory=dict)
    _waiting: queue.Queue[Message | None] = field(
        default_factory=lambda: queue.Queue(MAX_WAITING + 1)
    )
    _thread: threading.Thread | None = None
    _broken: set[str] = field(default_factory=set)

    def news(self, news: News, text: str) -> None:
        """Sends one piece of news, if it is worth it. Takes it and its words."""
        if news.kind not in WORTH:
            return
        finding = news.finding
        if finding is not None and severity_rank(finding.severity) > severity_rank("high"):
            return
        key = finding.fingerprint if finding else "wait"
        if news.kind in ("revised", "resumed"):
            key += news.kind
        now = self.clock()
        if now - self._sent.get(key, -COOL_DOWN_S) < COOL_DOWN_S:
            return
        self._sent[key] = now
        rule, severity = (finding.rule or "", finding.severity) if finding else ("", "")
        title, _, body = text.partition("\n")
        self.send(Message(title, body, news.kind, rule, severity))

    def send(self, message: Message) -> None:
        """Queues a message, without waiting: masked, cut, and without control characters."""
        if not self.channels:
            return
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._work, name="verl-doctor-notify", daemon=True
            )
            self._thread.start()
        if self._waiting.qsize() < MAX_WAITING:
            self._waiting.put(
                replace(
                    message,
                    title=visible(mask(message.title), MAX_TITLE),
                    body=visible(mask(message.body), MAX_BODY),
                )
            )

    def close(self) -> None:
        """Gives what still waits a few seconds."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(LAST_S)

    def _work(self) -> None:
        while (message := self._waiting.get()) is not None:
            for channel in self.channels:
                try:
                    channel.send(message)
                except Exception as error:
                    if channel.name not in self._broken:
                        self._broken.add(channel.name)
                        self.complain(visible(f"no notification by {channel.name}: {error}"))

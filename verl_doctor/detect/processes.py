"""How processes died, as a shell or torchrun's agent tells it."""

from __future__ import annotations

import re
from typing import NamedTuple

from .. import lazy
from ..logs.text import whole_number
from ..model import Event, Line

SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
    24: "SIGXCPU",
}
_WORDS = {
    "Killed": "SIGKILL",
    "Terminated": "SIGTERM",
    "Aborted": "SIGABRT",
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Illegal instruction": "SIGILL",
    "Floating point exception": "SIGFPE",
    "Hangup": "SIGHUP",
}
_WORD = "|".join(_WORDS)
_SHELL = lazy.compile(
    # `/bin/bash: line 1: 23349 Killed   python train.py`, `[1]-  Terminated   python train.py`
    rf"(?:: line \d+: +(?P<pid>\d+) |\[\d+\][+-]? +(?:\d+ )?)(?P<word>{_WORD})"
    r"(?: +\(core dumped\))?(?:\s+(?P<command>\S.*))?$"
    # on a line of its own the word alone, or a command behind a gap: prose has one blank
    rf"|^(?P<bare>{_WORD})(?: \(core dumped\))?(?:\s{{2,}}(?P<bare_command>\S.*))?$"
)
_CODE = lazy.compile(
    r"\bexit(?:ed)?(?: with)?(?: code| status):?\s*(?P<code>\d{3})\b", re.IGNORECASE
)


class Shell:
    """`Killed`, `Terminated`, … of a shell, and `exit code 137`, folded by signal."""

    def __init__(self) -> None:
        self._first: dict[str, Event] = {}

    def feed(self, line: Line) -> None:
        """Takes a line that holds one of the words."""
        found = _SHELL.search(line.text)
        signal = command = pid = ""
        if found:
            signal = _WORDS[found["word"] or found["bare"]]
            command = found["command"] or found["bare_command"] or ""
            pid = found["pid"] or ""
        else:
            code = _CODE.search(line.text)
            number = int(code["code"]) - 128 if code else 0
            signal = SIGNALS.get(number, "")
        if not signal:
            return
        known = self._first.get(signal)
        if known is None:
            rank = re.search(r"\bRANK=(\d+)", command)
            fields = {"signal": signal, "command": command[:200], "pid": pid}
            fields["rank"] = rank[1] if rank else ""
            self._first[signal] = Event(
                "process_killed", line.number, line.text, fields, line.path, line.worker
            )

    def finish(self) -> list[Event]:
        """One event a signal. SIGABRT beside SIGKILL is left: rules tell which explains which."""
        return list(self._first.values())


class _Entry(NamedTuple):
    line: int
    text: str
    path: str
    rank: str = ""
    local_rank: str = ""
    exitcode: str = ""
    host: str = ""
    time: str = ""
    first: bool = False


MAX_ENTRIES = 10_000
"""Dead processes of which a report is kept: more than any job has, over many restarts."""

_KEY = lazy.compile(r"^\s*(time|host|rank|exitcode)\s*: (.*)$")
_FAILED = lazy.compile(r"failed \(exitcode: (-?\d+)\)(?: local_rank: (\d+))?")


class Elastic:
    """torchrun's failure report, entry by entry.

    Its "first observed failure" is the agent's polling order, not the order of death: every entry
    becomes an event, and the rules weigh signals against each other.
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._failed: list[_Entry] = []
        self._pending: dict[str, str] = {}
        self._root = False

    def feed(self, line: Line) -> None:
        """Takes a line of the report, or the agent's `failed (exitcode: …)`."""
        text = line.text
        if len(self._entries) + len(self._failed) >= MAX_ENTRIES:
            return
        failed = _FAILED.search(text)
        if failed:
            self._failed.append(
                _Entry(
                    line.number,
                    text,
                    line.path,
                    local_rank=failed[2] or "",
                    exitcode=failed[1],
                )
            )
            return
        if "first observed failure" in text:
            self._root = True
            return
        found = _KEY.match(text)
        if not found:
            return
        key, value = found[1], found[2].strip()
        self._pending[key] = value
        if key != "exitcode":
            return
        rank = re.match(r"(\d+)(?: \(local_rank: (\d+)\))?", self._pending.get("rank", ""))
        self._entries.append(
            _Entry(
                line.number,
                text,
                line.path,
                rank[1] if rank else "",
                (rank[2] or "") if rank else "",
                value.split()[0] if value else "",
                self._pending.get("host", ""),
                self._pending.get("time", ""),
                self._root,
            )
        )
        self._pending = {}
        self._root = False

    def finish(self) -> list[Event]:
        """One event for each dead process; the agent's own line decides where it has one."""
        events = []
        seen: set[tuple[str, str, str]] = set()
        agent = {(entry.local_rank, entry.exitcode): entry for entry in reversed(self._failed)}
        entries = self._entries or self._failed
        for entry in entries:
            key = (entry.host, entry.rank or entry.local_rank, entry.exitcode)
            if key in seen:
                continue
            seen.add(key)
            told = agent.get((entry.local_rank, entry.exitcode), entry)
            sign, digits = entry.exitcode[:1], entry.exitcode.removeprefix("-")
            code = whole_number(digits) if digits.isdecimal() else 0
            events.append(
                Event(
                    "elastic_failure",
                    told.line,
                    told.text,
                    {
                        "rank": entry.rank or entry.local_rank,
                        "local_rank": entry.local_rank,
                        "exitcode": entry.exitcode,
                        "signal": SIGNALS.get(code, "") if sign == "-" else "",
                        "host": entry.host,
                        "time": entry.time,
                        "first_observed": "yes" if entry.first else "no",
                    },
                    entry.path,
                    lines=tuple(sorted({entry.line} - {told.line})),
                )
            )
        return events

"""Which run a log belongs to: the same log again, the same log having grown, or another one."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from ..model import Report, SourceInfo
from .sql.base import Readable, Row
from .sql.read import logs_of, runs_with_logs

HEAD_BYTES = 65536
"""How much of a log's start tells it from another log at the same path."""


class Log(NamedTuple):
    """A log that was read, and what tells it from others."""

    source: SourceInfo
    path: str
    """Absolute, links followed; empty for what no path leads back to."""
    key: str

    def head(self, size: int) -> str:
        """Digest of the first `size` bytes; empty where they can't be read."""
        if not self.path or size <= 0:
            return ""
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):  # opening a FIFO would wait
                return ""
            with open(self.path, "rb") as file:
                start = file.read(size)
        except (OSError, ValueError):
            return ""
        return _digest(start) if len(start) == size else ""

    def size(self) -> int:
        try:
            return os.stat(self.path).st_size if self.path else 0
        except (OSError, ValueError):
            return 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def logs_of_report(report: Report) -> list[Log]:
    """The logs of a report, each once."""
    logs: dict[str, Log] = {}
    for source in report.sources:
        if source.path in ("-", "<stdin>"):
            # no path says which log this was: its extent and its last line do
            last = f"{source.lines} {source.bytes} {report.phase.last_text}"
            log = Log(source, "", _digest(f"<stdin> {last}".encode("utf-8", "replace")))
        else:
            path = os.path.realpath(source.path)
            log = Log(source, path, _digest(os.fsencode(path)))
        logs.setdefault(log.key, log)
    return list(logs.values())


def _continues(old: Row, log: Log) -> bool:
    """Whether `log` is the log that was recorded as `old`, as it was or grown."""
    if old["head"] and (head := log.head(old["head_bytes"])):
        return bool(head == old["head"])
    if old["head"] and log.size():
        return False  # it can be read and is shorter than what was read of the old one
    return bool(log.source.bytes >= old["bytes"] and log.source.lines >= old["lines"])


def same_run(db: Readable, logs: Sequence[Log]) -> int:
    """The run that these logs belong to, or 0. Logs may have been added to a run since."""
    now = {log.key: log for log in logs}
    for run in runs_with_logs(db, now):
        old = logs_of(db, run)
        if all(row["key"] in now and _continues(row, now[row["key"]]) for row in old):
            return run
    return 0


def folder_of(logs: Sequence[Log]) -> str:
    """The folder that holds all the logs; empty where one of them has no path."""
    if not logs or not all(log.path for log in logs):
        return ""
    return os.path.commonpath([os.path.dirname(log.path) for log in logs])

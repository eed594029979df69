"""The incident store as the verbs that print a report use it: it may fail, the report may not."""

from __future__ import annotations

import os
import sys
import time

from ..errors import StoreError
from ..model import Report


def recalled(report: Report) -> tuple[Report, str]:
    """The report with the history of its findings and without those that are muted, and what went
    wrong in reading the store. What is wrong in a config file is told on standard error."""
    from .. import settings

    known, trouble = report, ""
    try:
        if os.path.lexists(settings.store_path()):
            from ..store import recall

            known = recall(report)
    except StoreError as error:
        trouble = f"what was seen before is not known: {error}"
    said = settings.load()
    for problem in said.problems:
        print(f"verl-doctor: {problem}", file=sys.stderr)
    return settings.silence(known, said.mutes, time.time()), trouble


def remember(report: Report) -> None:
    """Writes the report to the store; what goes wrong there is told and changes nothing.

    A good run is worth keeping too: the next one that fails is compared with it.
    """
    from ..store import record

    if not report.findings and report.verdict != "healthy":
        return
    try:
        done = record(report)
    except StoreError as error:
        print(f"verl-doctor: not recorded: {error}", file=sys.stderr)
        return
    if done.created:
        print(
            f"verl-doctor: incidents are recorded in {done.path} (--no-record: not)",
            file=sys.stderr,
        )

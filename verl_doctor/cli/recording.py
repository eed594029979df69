"""A report into the incident store, after it has been printed."""

from __future__ import annotations

import sys

from ..model import Report


def record(report: Report) -> None:
    """Writes to the store; what goes wrong there is told and changes nothing."""
    from ..errors import StoreError
    from ..store import record as store

    if not report.findings:
        return
    try:
        done = store(report)
    except StoreError as error:
        print(f"verl-doctor: not recorded: {error}", file=sys.stderr)
        return
    if done.created:
        print(
            f"verl-doctor: incidents are recorded in {done.path} (--no-record: not)",
            file=sys.stderr,
        )

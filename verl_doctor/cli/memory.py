"""The incident store as the verbs that print a report use it: it may fail, the report may not."""

from __future__ import annotations

from ..errors import StoreError
from ..model import Report


def recalled(report: Report) -> tuple[Report, str]:
    """The report with the history of its findings, and what went wrong in reading the store."""
    from ..store import recall

    try:
        return recall(report), ""
    except StoreError as error:
        return report, f"what was seen before is not known: {error}"

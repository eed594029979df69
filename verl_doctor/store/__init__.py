"""The incident store: what was found on this machine before, in one SQLite file.

`record` writes a report, `history` says what is known of a fault, `incidents`, `find` and
`occurrences` read for a person, `acknowledge`, `resolve`, `mute` and the rest of `change` keep what
people say. Everything that is kept has been masked.
"""

from __future__ import annotations

from ..logs.mask import mask
from .change import acknowledge, add_note, mute, reopen, resolve, tag, unmute
from .db import default_path
from .read import find, history, incidents, notes, occurrences
from .record import record
from .similar import similar
from .types import (
    STATES,
    WAKE_OCCURRENCES,
    WAKE_RUNS,
    Incident,
    Listing,
    Note,
    Occurrence,
    Recorded,
    Seen,
    Similar,
    State,
)

__all__ = [
    "STATES",
    "WAKE_OCCURRENCES",
    "WAKE_RUNS",
    "Incident",
    "Listing",
    "Note",
    "Occurrence",
    "Recorded",
    "Seen",
    "Similar",
    "State",
    "acknowledge",
    "add_note",
    "default_path",
    "find",
    "history",
    "incidents",
    "mask",
    "mute",
    "notes",
    "occurrences",
    "record",
    "reopen",
    "resolve",
    "similar",
    "tag",
    "unmute",
]

"""The incident store: what was found on this machine before, in one SQLite file.

`recall` puts into a report what is known of its findings, and `record` writes the report;
`incidents`, `find`, `occurrences`, `notes`, `similar` and `history` read; `acknowledge`, `resolve`,
`reopen`, `mute`, `unmute`, `add_note` and `tag` keep what people say. All that is kept is masked.
"""

from __future__ import annotations

from ..logs.mask import mask
from ..settings.places import store_path as default_path
from .change import acknowledge, add_note, mute, reopen, resolve, tag, unmute
from .purge import Purged, purge
from .read import find, history, incidents, notes, occurrences
from .recall import recall
from .record import record
from .similar import similar
from .transfer import Merged, export, merge, take_in
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
    "Merged",
    "Note",
    "Occurrence",
    "Purged",
    "Recorded",
    "Seen",
    "Similar",
    "State",
    "acknowledge",
    "add_note",
    "default_path",
    "export",
    "find",
    "history",
    "incidents",
    "mask",
    "merge",
    "mute",
    "notes",
    "occurrences",
    "purge",
    "recall",
    "record",
    "reopen",
    "resolve",
    "similar",
    "tag",
    "take_in",
    "unmute",
]

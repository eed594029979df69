"""The incident store: what was found on this machine before, in one SQLite file.

`record` writes a report, `history` says what is known of a fault, `incidents`, `find` and
`occurrences` read for a person. Everything that is kept has been masked.
"""

from __future__ import annotations

from ..logs.mask import mask
from .db import default_path
from .read import find, history, incidents, occurrences
from .record import record
from .types import STATES, Incident, Listing, Occurrence, Recorded, Seen

__all__ = [
    "STATES",
    "Incident",
    "Listing",
    "Occurrence",
    "Recorded",
    "Seen",
    "default_path",
    "find",
    "history",
    "incidents",
    "mask",
    "occurrences",
    "record",
]

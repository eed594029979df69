"""Where the incident store lies; asked before anything of it is imported."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import StoreError

ELSEWHERE = "or keep incidents elsewhere: export VERL_DOCTOR_DB=/path/incidents.db"


def store_path() -> Path:
    """`$VERL_DOCTOR_DB`, else `$XDG_STATE_HOME/verl-doctor/incidents.db`, else below
    `~/.local/state`. Raises StoreError if there is no home folder."""
    chosen = os.environ.get("VERL_DOCTOR_DB")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        # the XDG specification: a relative folder is to be ignored
        base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise StoreError(f"no home folder to keep incidents in; {ELSEWHERE}") from error
    return base / "verl-doctor" / "incidents.db"

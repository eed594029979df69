"""Config files: what a project or a user has said once and for all.

`load` finds and reads them; `silence` applies their mutes to a report. `store_path` is where the
incident store lies.
"""

from __future__ import annotations

from .files import Settings, load
from .mutes import Mute, silence
from .places import store_path

__all__ = ["Mute", "Settings", "load", "silence", "store_path"]

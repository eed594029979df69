"""`verl-doctor incidents`: what was found before on this machine."""

from __future__ import annotations

from . import change, look, mutes, transfer
from .group import incidents

__all__ = ["change", "incidents", "look", "mutes", "transfer"]

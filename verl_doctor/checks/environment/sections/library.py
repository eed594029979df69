"""Loads one compiled extension, as an import of it would, but without its package's own code."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any


def library(path: str) -> dict[str, Any]:
    """Loads the library at that path after torch, whose symbols it needs."""
    importlib.import_module("torch")
    ctypes.CDLL(path)
    return {"path": path}


PARTS = (library,)

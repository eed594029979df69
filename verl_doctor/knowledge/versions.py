"""What verl releases ask of other packages' versions, kept as data.

`scripts/refresh_versions.py` writes the data from the packages' own metadata; it names its source
and date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "data" / "versions.json"


@dataclass(frozen=True)
class Engine:
    """A rollout engine at a version that a verl release names, and what that engine asks for."""

    name: str
    version: str
    asks: dict[str, str]
    """Package -> version specifier, "" for any."""
    cuda: str
    """CUDA that the engine's torch is built with by default, "" where it isn't known."""


@dataclass(frozen=True)
class Release:
    """One verl release: what it asks for itself, and of each engine the ends of its range."""

    version: str
    asks: dict[str, str]
    extras: dict[str, dict[str, str]] = field(default_factory=dict)
    """Engine -> what verl's extra of that name asks for, the engine itself included."""
    engines: tuple[Engine, ...] = ()


@cache
def _data() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return read


def source() -> tuple[str, str]:
    """Where the table is from, and the day it was read (ISO date)."""
    return _data()["source"], _data()["checked"]


def releases() -> tuple[Release, ...]:
    """All verl releases of the table, oldest first."""
    return tuple(_release(version, asks) for version, asks in _data()["verl"].items())


def _release(version: str, asks: dict[str, dict[str, str]]) -> Release:
    extras = {name: wanted for name, wanted in asks.items() if name}
    found = []
    for key, needs in _data()["engines"].items():
        name, _, engine_version = key.partition(" ")
        if engine_version in ends(extras.get(name, {}).get(name, "")):
            torch = needs.get("torch", "").removeprefix("==")
            cuda = _data()["torch_cuda"].get(torch, "")
            found.append(Engine(name, engine_version, needs, cuda))
    return Release(version, asks[""], extras, tuple(found))


def ends(specifier: str) -> list[str]:
    """The versions that a specifier allows and names: of `<=0.12.0,>=0.8.5` both."""
    parts = [part.strip() for part in specifier.split(",")]
    return [part[2:] for part in parts if part[:2] in ("==", "<=", ">=")]

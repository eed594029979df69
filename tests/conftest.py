"""Shared by all tests: a private home, the shipped rules loaded once, a doctor for bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.load import load
from verl_doctor.model import Report
from verl_doctor.pipeline import diagnose_chunks
from verl_doctor.scan.database import Scanner

ROOT = Path(__file__).resolve().parent.parent
GENUINE = ROOT / "fixtures_logs" / "genuine"

# A shell that starts the tests in the background has Ctrl-C ignored, and programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the home of whoever runs it."""
    home = tmp_path / "home"
    home.mkdir()
    for name, folder in (
        ("HOME", ""),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_DATA_HOME", "data"),
    ):
        monkeypatch.setenv(name, str(home / folder))
    for name in (
        "LC_ALL",
        "LC_MESSAGES",
        "VERL_DOCTOR_LANG",
        "VERL_DOCTOR_DB",
        "VERL_DOCTOR_CONFIG",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    return home


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds the compiled rules, for children that would compile them anew."""
    folder = tmp_path_factory.mktemp("cache")
    subprocess.run(
        [sys.executable, "-m", "verl_doctor", "rules", "list"],
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return folder


@pytest.fixture
def compiled_once(private_home: Path, warm_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of the test share a cache of the compiled rules: compiling takes seconds."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(warm_cache))


@pytest.fixture(scope="session")
def shipped() -> tuple[RuleBase, Scanner]:
    """The shipped rules and their scanner."""
    return load(cache=False)


class Doctor:
    """Diagnoses bytes with the shipped rules."""

    def __init__(self, base: RuleBase, scanner: Scanner) -> None:
        self.base = base
        self.scanner = scanner

    def __call__(self, log: bytes | Sequence[bytes], lang: str = "en") -> Report:
        parts = [log] if isinstance(log, bytes) else list(log)
        report, _ = diagnose_chunks(
            [("train.log", parts, [])],
            self.base,
            self.scanner,
            lang=lang,  # type: ignore[arg-type]
        )
        return report


@pytest.fixture
def doctor(shipped: tuple[RuleBase, Scanner]) -> Doctor:
    """A function from the bytes of a log (or its chunks) to its report."""
    return Doctor(*shipped)


def genuine(slug: str) -> bytes:
    """The bytes of a genuine log."""
    return (GENUINE / f"{slug}.log").read_bytes()

"""Reports for the tests of the store, and processes that write them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from verl_doctor.cli import main
from verl_doctor.model import Evidence, Finding, Phase, Report, SourceInfo

ROOT = Path(__file__).parents[1]


def finding(name: str = "oom", **changes: Any) -> Finding:
    """A finding whose fingerprint is made from `name`."""
    one = Finding(
        rule="MEM001",
        slug="cuda-oom",
        title=f"CUDA out of memory ({name})",
        role="root",
        severity="high",
        confidence="medium",
        cause="the KV cache takes too much",
        causes=(),
        fixes=(),
        evidence=(Evidence("train.log", 12, "[rank0] torch.OutOfMemoryError: CUDA out of memory"),),
        workers=("rank 0", "rank 1"),
        count=3,
        first_line=12,
        last_line=40,
        fingerprint=name.encode().hex()[:16].ljust(16, "0"),
    )
    return one._replace(**changes)


def report(path: str | Path, *findings: Finding, **changes: Any) -> Report:
    """A report on one log; its extent is the file's, if there is one."""
    size = os.path.getsize(path) if os.path.exists(path) else 1000
    one = Report(
        verdict="failed",
        sources=(SourceInfo(str(path), max(1, size // 50), size),),
        phase=Phase("rollout", step=3),
        findings=findings,
        rules_version="1",
    )
    return one._replace(**changes)


def sql(path: Path, statement: str) -> list[tuple[object, ...]]:
    """Runs a statement on a database behind the store's back, and returns its rows."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement).fetchall()


def writer(code: str, *args: str | Path) -> subprocess.Popen[str]:
    """Starts `code` in a process of its own; it sees `record`, `report`, `finding` and `sys`."""
    names = "from tests.store_samples import finding, report\nfrom verl_doctor.store import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", "import sys\n" + names + code, *map(str, args)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Doctor:
    """Calls `verl-doctor VERB …` in this process, and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *verb: str) -> None:
        self.capsys = capsys
        self.verb = verb
        self.err = ""

    def __call__(self, *args: str, status: int = 0) -> str:
        with pytest.raises(SystemExit) as stop:
            main([*self.verb, *args])
        out, self.err = self.capsys.readouterr()
        assert stop.value.code == status, self.err
        return out

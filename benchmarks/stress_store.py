"""Many writers on one incident store, and writers that are killed at random moments.

    python benchmarks/stress_store.py            8 processes x 1,000 incidents, then 200 kills
    python benchmarks/stress_store.py --incidents 100 --kills 15

Exits with 1 if an incident is missing that a writer had acknowledged, or the file is damaged.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WRITER = """
import pathlib, sys
from tests.store_samples import finding, report
from verl_doctor.store import record
path, name, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for n in range(count):
    one = finding(f"{name}{n}", fingerprint=f"{name}-{n}")
    record(report(f"/{name}/{n}.log", one), db_path=path)
    print(one.fingerprint, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Starts a process that records incidents and prints each fingerprint once it is written."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def stored(path: Path) -> set[str]:
    """The fingerprints in the store, each with an occurrence and its evidence."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "SELECT i.fingerprint FROM incidents i JOIN occurrences o USING (fingerprint)"
            " JOIN evidence e ON e.occurrence = o.id JOIN words w ON w.rowid = i.number"
        ).fetchall()
        sound = db.execute("PRAGMA integrity_check").fetchone()[0]
    if sound != "ok":
        sys.exit(f"{path} is damaged: {sound}")
    return {row[0] for row in rows}


def write_at_once(path: Path, writers: int, count: int) -> bool:
    """Whether all that several processes recorded at once is there."""
    start = time.monotonic()
    processes = [writer(path, f"w{n}", count) for n in range(writers)]
    acknowledged = {line for one in processes for line in one.communicate()[0].split()}
    found = stored(path)
    seconds = time.monotonic() - start
    failed = [one.returncode for one in processes if one.returncode]
    print(
        f"{writers} processes x {count} incidents: {len(found)} found, {len(acknowledged)} "
        f"acknowledged, {seconds:.0f} s ({len(found) / seconds:.0f}/s), failed: {failed or 'none'}",
        flush=True,
    )
    return len(found) == writers * count and acknowledged == found and not failed


def kill(path: Path, times: int, chance: random.Random) -> bool:
    """Whether nothing acknowledged is lost by writers killed with SIGKILL."""
    acknowledged: set[str] = set()
    first_lost = 0
    for turn in range(times):
        one = writer(path, f"k{turn}", 1_000_000)
        assert one.stdout is not None
        head = one.stdout.readline() if turn % 4 else ""  # now and then while it still starts
        time.sleep(chance.uniform(0, 0.3))
        one.send_signal(signal.SIGKILL)
        rest = one.communicate()[0]
        acknowledged |= set((head + rest).rpartition("\n")[0].split())
        if path.exists() and path.stat().st_size and not acknowledged <= stored(path):
            first_lost = first_lost or turn + 1
    print(
        f"{times} kills: {len(acknowledged)} acknowledged, "
        + (f"the first loss at kill {first_lost}" if first_lost else "none lost")
    )
    return not first_lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--incidents", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one = write_at_once(Path(folder) / "writers.db", options.writers, options.incidents)
        other = kill(Path(folder) / "kills.db", options.kills, random.Random(options.seed))
    return 0 if one and other else 1


if __name__ == "__main__":
    sys.exit(main())

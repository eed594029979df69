"""First paint of the screen: a log of 5 KB against one of 5 GB, on a terminal of its own.

The clock runs from the start of the process until a line of the log has been written to the
terminal. The big log is written beside it and removed.

usage: python benchmarks/tui_first_paint.py [GIGABYTES] [ROUNDS]
"""

from __future__ import annotations

import os
import pty
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINE = b"(WorkerDict pid=7) the first line of the log, to be painted\n"
USUAL = b"(WorkerDict pid=7) kv cache usage 71.3 %%, running 212 reqs, waiting 41 reqs #%06d\n"


def write(path: Path, size: int) -> None:
    """Writes a log of at least `size` bytes, a block again and again."""
    block = b"".join(USUAL % i for i in range(min(40_000, size // len(USUAL))))
    with path.open("wb") as file:
        file.write(LINE)
        while file.tell() < size:
            file.write(block)


def first_paint(path: Path) -> float:
    """Seconds until the log's first line is on the terminal."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "36"}
    command = [sys.executable, "-m", "verl_doctor", "tui", "--no-record", str(path)]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    )
    seen = b""
    while b"to be painted" not in seen:
        ready, _, _ = select.select([ours], [], [], 60)
        if not ready:
            raise SystemExit(f"nothing painted: {seen[-500:]!r}")
        seen += os.read(ours, 1 << 16)
    took = time.perf_counter() - start
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.close(ours)
    os.close(theirs)
    return took


def main() -> None:
    """Prints the medians and their ratio."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        small, big = Path(folder) / "small.log", Path(folder) / "big.log"
        write(small, 5_000)
        write(big, int(gigabytes * 1e9))
        first_paint(small)  # fills the cache of the rules
        times: dict[Path, list[float]] = {small: [], big: []}
        for _ in range(rounds):  # in turn, so that a busy moment of the machine meets both
            for path, taken in times.items():
                taken.append(first_paint(path))
        medians = [statistics.median(taken) for taken in times.values()]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"5 KB: {medians[0]:.2f} s   {gigabytes:g} GB: {medians[1]:.2f} s")
    print(f"ratio: {medians[1] / medians[0]:.2f}   highest memory of any run: {peak:.0f} MB")


if __name__ == "__main__":
    main()

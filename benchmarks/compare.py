"""verl-doctor against other tools, and against itself on other logs: whole processes, timed in
turn (A B A B …), as ratios of A to B.

usage: python -m benchmarks.compare [ROW…] [--size MB] [--rounds N]        prints the table

Without a row it measures all of them; `--list` names them. Each row makes its logs in a temporary
folder (TMPDIR) and deletes them. The caches are filled before anything is timed, except where a
row says otherwise.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.make_log import blocks
from benchmarks.other_tools import mtail, patterns, ripgrep, sec
from benchmarks.tenfold import write_rules
from verl_doctor.knowledge.load import load

DOCTOR = [sys.executable, "-m", "verl_doctor", "diagnose", "--no-record"]
FEW, ALL = 250, 10_000
"""Rules whose patterns the other tools look for."""


class Spent(NamedTuple):
    """What a process has used."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds on all cores, in user and system mode."""
    peak: float
    """Bytes of memory at most."""


def spent(command: Sequence[str]) -> Spent:
    """Runs a command to its end. Errors: exits where it can't be started or was killed."""
    begun = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"exit status {process.returncode}: {' '.join(command)}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


@dataclass(frozen=True)
class Pair:
    """Two commands to be compared, and how many bytes each reads."""

    first: list[str]
    second: list[str]
    bytes: tuple[int, int] = (1, 1)
    remark: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    claim: str
    goal: float | None
    """The ratio of seconds that it should not exceed; None where there is none."""
    megabytes: int
    make: Callable[[Room, int], Pair]
    """Takes the folder to work in and the size of the log in bytes."""
    count: str = "wall"


class Room:
    """A folder with logs and the other tools' rules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base, _ = load()

    def log(self, kind: str, size: int) -> str:
        """The path of a log of that kind and size in bytes."""
        path = self.folder / f"{kind}-{size}.log"
        if not path.exists():
            with path.open("wb") as file:
                for block in blocks(kind, size):
                    file.write(block)
        return str(path)

    def patterns(self, rules: int) -> list[str]:
        """See `other_tools.patterns`."""
        return patterns(self.base, rules)


def against_ripgrep(rules: int, *options: str) -> Callable[[Room, int], Pair]:
    """Counting lines with the same patterns; with `-F` the literals that verl-doctor scans for."""

    def make(room: Room, size: int) -> Pair:
        log = room.log("healthy", size)
        wanted = room.base.literals if options else room.patterns(rules)
        command, kept = ripgrep(wanted, room.folder, f"{rules}", *options)
        remark = f"{kept} of {len(wanted)} patterns"
        return Pair([*DOCTOR, log], [*command, log], remark=remark)

    return make


def against(tool: Callable[[list[str], Path], tuple[list[str], int]], share: float) -> Callable:
    """A slow tool reads that share of the log; seconds count for each byte."""

    def make(room: Room, size: int) -> Pair:
        wanted = room.patterns(FEW)
        command, kept = tool(wanted, room.folder)
        small = int(size * share)
        last = room.log("healthy", small)
        if command[-1] == "-input":
            command, last = command[:-1], f"-input={last}"
        return Pair(
            [*DOCTOR, room.log("healthy", size)],
            [*command, last],
            (size, small),
            f"{kept} of {len(wanted)} patterns, {small / 1e6:g} MB",
        )

    return make


def kinds(kind: str) -> Callable[[Room, int], Pair]:
    """A special log against a healthy one of the same size."""

    def make(room: Room, size: int) -> Pair:
        return Pair([*DOCTOR, room.log(kind, size)], [*DOCTOR, room.log("healthy", size)])

    return make


def ten_times_the_log(room: Room, size: int) -> Pair:
    """Seconds for each byte, and the same memory."""
    logs = room.log("healthy", size), room.log("healthy", size // 10)
    return Pair([*DOCTOR, logs[0]], [*DOCTOR, logs[1]], (size, size // 10))


def ten_times_the_rules(room: Room, size: int) -> Pair:
    """With nine more rules beside each one that looks for texts."""
    count = write_rules(room.base, room.folder / "rules")
    log = room.log("healthy", size)
    more = [*DOCTOR, "--rules", str(room.folder / "rules"), log]
    return Pair(more, [*DOCTOR, log], remark=f"{count + len(room.base)} rules")


def start(*options: str) -> Callable[[Room, int], Pair]:
    """A log of 200 KB against an interpreter that does nothing."""

    def make(room: Room, size: int) -> Pair:
        return Pair([*DOCTOR, room.log("healthy", size)], [sys.executable, *options, "-c", "pass"])

    return make


def without_cache(room: Room, size: int) -> Pair:
    """The rules read from their YAML files, against the second run."""
    log = room.log("healthy", size)
    return Pair([*DOCTOR, "--no-cache", log], [*DOCTOR, log])


ROWS = {
    "rg": Row("ripgrep, the literals of all rules", 1, 1000, against_ripgrep(ALL, "-F")),
    "rg250": Row("ripgrep, the patterns of 250 rules", 1, 1000, against_ripgrep(FEW)),
    "rgall": Row("ripgrep, the patterns of all rules", 1, 1000, against_ripgrep(ALL)),
    "mtail": Row("mtail, 250 rules", 1 / 100, 1000, against(mtail, 0.002)),
    "sec": Row("SEC, 250 rules", 1 / 500, 1000, against(sec, 0.002)),
    "rules10": Row("ten times the rules", 1.3, 1000, ten_times_the_rules),
    "log10": Row("ten times the log, for each byte", 1.1, 1000, ten_times_the_log),
    "peak": Row("10 GB: ten times the log", 1.1, 10_000, ten_times_the_log),
    "tracebacks": Row("tracebacks only", 5, 100, kinds("tracebacks")),
    "line": Row("a single line", 5, 1000, kinds("line")),
    "matches": Row("100,000 matches of one rule", 5, 1000, kinds("matches")),
    "warnings": Row("a tenth of the lines warn", None, 1000, kinds("warnings")),
    "start": Row("200 KB, to `python -c pass`", 6, 0, start()),
    "bare": Row("200 KB, to `python -I -S -c pass`", None, 0, start("-I", "-S")),
    "cache": Row("200 KB, rules read anew, to the second run", None, 0, without_cache),
}


def measured(row: Row, room: Room, size: int, rounds: int) -> str:
    """The row's line of the table."""
    pair = row.make(room, size)
    spent(pair.first), spent(pair.second)  # fills the caches, Python's own of bytecode too
    runs = [(spent(pair.first), spent(pair.second)) for _ in range(rounds)]
    share = pair.bytes[1] / pair.bytes[0]
    wall = sorted(a.wall / b.wall * share for a, b in runs)
    cpu = median(a.cpu / b.cpu * share for a, b in runs)
    a, b = (median(run[i].wall for run in runs) for i in (0, 1))
    peak = max(a.peak for a, _ in runs) / 1e6, max(b.peak for _, b in runs) / 1e6
    met = "" if row.goal is None else ("met" if median(wall) <= row.goal else "missed")
    goal = "" if row.goal is None else f"{row.goal:.3g}"
    return (
        f"| {row.claim}{f' ({pair.remark})' if pair.remark else ''} | {size / 1e6:g} MB | {goal} "
        f"| **{median(wall):.3g}** ({wall[0]:.3g} to {wall[-1]:.3g}) | {met} | {cpu:.3g} "
        f"| {a:.2f} s, {b:.2f} s | {peak[0]:.0f}, {peak[1]:.0f} MB |"
    )


def main() -> None:
    """Measures the rows and prints the table as it grows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--size", type=float, help="megabytes of the log, for all rows")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if unknown := [name for name in args.rows if name not in ROWS]:
        parser.error(f"no row is called {unknown[0]}; there are {', '.join(ROWS)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it each start would compile all sources
    print("| A to B | log | goal | seconds, A to B | | CPU | A, B | peak memory of A, B |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in args.rows or ROWS:
        row = ROWS[name]
        size = int(1e6 * (args.size or row.megabytes)) or 200_000
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("CACHE", "STATE", "CONFIG"):
                os.environ[f"XDG_{kind}_HOME"] = f"{folder}/{kind.lower()}"
            print(measured(row, Room(Path(folder)), size, args.rounds), flush=True)


if __name__ == "__main__":
    main()

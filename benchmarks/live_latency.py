"""Seconds from a line to its finding, for a file that is followed and for a pipe.

usage: live_latency.py [FINDINGS]      prints p50, p99 and the longest, for each

A writer prints 200 harmless lines a second without a rest, and now and then a traceback that it
has not printed before. What is measured ends when the doctor's line about it can be read.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

BETWEEN_S = 0.7
NOISE_S = 0.005
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def traceback(word: str) -> bytes:
    """A traceback that no other word's shares its identity with."""
    return (
        "Traceback (most recent call last):\n"
        f'  File "/home/me/{word}.py", line 3, in {word}\n'
        f"    {word}()\n"
        f"RuntimeError: {word} went wrong\n"
    ).encode()


def measure(sink: IO[bytes], told: IO[bytes], findings: int) -> list[float]:
    """Seconds for each of so many findings. Takes where to write and where to read the news."""
    rng = random.Random(7)
    written: dict[str, float] = {}
    taken: dict[str, float] = {}

    def listen() -> None:
        for line in told:
            now = time.monotonic()
            for word in list(written):
                if word.encode() in line and word not in taken:
                    taken[word] = now - written[word]

    threading.Thread(target=listen, daemon=True).start()

    def noise(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            sink.write(b"(WorkerDict pid=7) INFO generating, all is well\n")
            sink.flush()
            time.sleep(NOISE_S)

    def trouble() -> str:
        word = "".join(rng.choices(LETTERS, k=12))
        written[word] = time.monotonic()
        sink.write(traceback(word))
        sink.flush()
        return word

    noise(3.0)
    first = trouble()
    while first not in taken:  # the doctor has started and knows that this is a live run
        noise(BETWEEN_S)
    taken.clear()
    written.clear()
    for _ in range(findings):
        trouble()
        noise(BETWEEN_S * rng.uniform(0.5, 1.5))
    noise(3.0)
    missed = len(written) - len(taken)
    if missed:
        sys.exit(f"{missed} of {findings} findings were not told")
    return sorted(taken.values())


def show(name: str, seconds: list[float]) -> None:
    """One line of the table."""
    p50, p99 = (seconds[min(len(seconds) - 1, int(len(seconds) * q))] for q in (0.5, 0.99))
    print(f"{name:10} {len(seconds):4} findings   p50 {p50:.2f} s   p99 {p99:.2f} s   "
          f"longest {seconds[-1]:.2f} s")  # fmt: skip


def main() -> None:
    """Measures both ways of reading."""
    findings = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    command = [sys.executable, "-m", "verl_doctor", "--no-record"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as piped:
        assert piped.stdin
        assert piped.stdout
        show("pipe", measure(piped.stdin, piped.stdout, findings))
        piped.kill()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        with (
            path.open("wb") as file,
            subprocess.Popen([*command, "-f", path], stdout=subprocess.PIPE) as followed,
        ):
            assert followed.stdout
            show("--follow", measure(file, followed.stdout, findings))
            followed.kill()


if __name__ == "__main__":
    main()

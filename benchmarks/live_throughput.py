"""Bytes through `verl-doctor run` to a slow reader: none may be lost, and what it costs.

usage: live_throughput.py [MB]         prints MB/s directly, through `run`, and with a slow reader
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time

WRITER = """
import hashlib, os, sys
line = b"(WorkerDict pid=7, ip=10.0.0.3) INFO generating, all is well, nothing to see here"
block = b"".join(line + b" %07d\\n" % i for i in range(700))
left, seen = int(sys.argv[1]), hashlib.blake2b()
while left:
    n = os.write(1, block[:left]); seen.update(block[:n]); left -= n
os.write(2, b"sum " + seen.hexdigest().encode() + b"\\n")
"""
PAUSE_EVERY = 4_000_000
PAUSE_S = 0.02


def through(prefix: list[str], size: int, pause_s: float) -> float:
    """Seconds until so many bytes have come through; exits if one is lost or changed."""
    begun = time.monotonic()
    seen, count, paused = hashlib.blake2b(), 0, 0
    with subprocess.Popen(
        [*prefix, sys.executable, "-c", WRITER, str(size)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        while data := os.read(process.stdout.fileno(), 1 << 20):
            seen.update(data)
            count += len(data)
            if pause_s and count - paused > PAUSE_EVERY:
                time.sleep(pause_s)
                paused = count
        seconds = time.monotonic() - begun
        told = process.stderr.read()
    if count != size or b"sum " + seen.hexdigest().encode() not in told:
        sys.exit(f"{size - count} bytes are missing, or some have changed")
    return seconds


def main() -> None:
    """Prints the three figures."""
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else 1000) * 1_000_000
    doctor = [sys.executable, "-m", "verl_doctor", "run", "--no-record", "--"]
    for name, prefix, pause_s in (
        ("directly", ["env"], 0.0),
        ("through run", doctor, 0.0),
        ("through run, slow reader", doctor, PAUSE_S),
    ):
        seconds = through(prefix, size, pause_s)
        print(
            f"{name:26} {size / 1e6:6.0f} MB in {seconds:5.1f} s, {size / 1e6 / seconds:5.0f} MB/s"
        )


if __name__ == "__main__":
    main()

"""Time and memory of `verl-doctor check` on a large set of parquet files.

usage: check_large_data.py [GB] [FOLDER]     default: 10 GB below the temporary folder

Writes files of 2.5 GB by writing one row group of RL prompts again and again, runs the check in a
process of its own, prints its time and the most memory it held, and deletes the files. Of that
memory what is mapped from the files is printed too: the kernel may take it back at any time.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow
from pyarrow import parquet

FILE_BYTES = 2_500_000_000
ROWS = 20_000
"""Rows of a row group, of about 2.5 kB of random words: they don't compress away."""


def row_group(random_: random.Random) -> pyarrow.Table:
    """Rows as verl's data preparation writes them, with long prompts."""

    def row(number: int) -> dict[str, object]:
        text = " ".join(f"{random_.getrandbits(40):x}" for _ in range(220))
        return {
            "data_source": "openai/gsm8k",
            "prompt": [{"role": "user", "content": f"{number}: {text}"}],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": str(number)},
        }

    return pyarrow.Table.from_pylist([row(number) for number in range(ROWS)])


def write(path: Path, group: pyarrow.Table) -> None:
    """One file of about FILE_BYTES."""
    with parquet.ParquetWriter(path, group.schema) as writer:
        while path.stat().st_size < FILE_BYTES:
            writer.write_table(group)


def measured(files: list[Path]) -> tuple[float, dict[str, int]]:
    """(seconds, kB by the names of /proc/self/status) of the check of these files."""
    words = [word for path in files for word in ("--data", str(path))]
    code = (
        "import sys\n"
        "from verl_doctor.cli import main\n"
        "try:\n"
        f"    main({['check', '--only', 'data', *words]!r})\n"
        "finally:\n"
        "    sys.stderr.write(open('/proc/self/status').read())\n"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    print(done.stdout)
    lines = [line.split() for line in done.stderr.splitlines()]
    memory = {words[0]: int(words[1]) for words in lines if words[2:] == ["kB"]}
    return time.monotonic() - began, memory


def main() -> None:
    """Prints the measurement."""
    size = float(sys.argv[1]) * 1e9 if len(sys.argv) > 1 else 10e9
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    try:
        group = row_group(random.Random(7))
        files = [folder / f"train-{i}.parquet" for i in range(max(1, round(size / FILE_BYTES)))]
        write(files[0], group)
        for path in files[1:]:
            shutil.copyfile(files[0], path)
        total = sum(path.stat().st_size for path in files)
        seconds, memory = measured(files)
        print(
            f"{total / 1e9:.1f} GB in {len(files)} files: {seconds:.1f} s, at most "
            f"{memory['VmHWM:'] / 1024:.0f} MiB, of it {memory['RssFile:'] / 1024:.0f} MiB mapped "
            f"at the end"
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

"""Sums a tensor over two processes: with NCCL on two GPUs, else with gloo on the CPU.

The part starts this file once for each rank; the ranks meet at a file in a temporary folder.
"""

from __future__ import annotations

import datetime
import importlib
import os
import subprocess
import sys
import tempfile

RANKS = 2


def all_reduce(*_: str) -> dict[str, str]:
    """Starts the ranks and waits for them; raises RuntimeError with what a failing one printed."""
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    if not distributed.is_available():
        return {"what": "", "skipped": "distributed"}
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    backend = "nccl" if gpus >= RANKS and distributed.is_nccl_available() else "gloo"
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for number in range(RANKS):
            # a file, since a rank that fills a pipe would wait, and the other one for it
            with open(os.path.join(folder, f"stderr-{number}"), "wb") as stderr:
                argv = [sys.executable, os.path.abspath(__file__), backend, str(number), folder]
                ranks.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=stderr))
        for number, one in enumerate(ranks):
            if one.wait():
                with open(os.path.join(folder, f"stderr-{number}"), errors="replace") as stderr:
                    last = "\n".join(stderr.read().strip().split("\n")[-3:])
                raise RuntimeError(f"{backend}, rank {number}: exit {one.returncode}\n{last}")
    return {"what": backend, "skipped": ""}


def rank(backend: str, number: int, folder: str) -> None:
    """One of the processes."""
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    device = f"cuda:{number}" if backend == "nccl" else "cpu"
    if backend == "nccl":
        torch.cuda.set_device(number)
    distributed.init_process_group(
        backend,
        init_method="file://" + os.path.join(folder, "store"),
        rank=number,
        world_size=RANKS,
        timeout=datetime.timedelta(seconds=60),
    )
    tensor = torch.full((1 << 20,), float(number + 1), device=device)
    distributed.all_reduce(tensor)
    total = float(tensor.mean())
    distributed.destroy_process_group()
    if total != RANKS * (RANKS + 1) / 2:
        raise ArithmeticError(f"the sum over the ranks is {total}")


PARTS = (all_reduce,)

if __name__ == "__main__":
    del sys.path[0]  # the files beside this one are no modules
    rank(sys.argv[1], int(sys.argv[2]), sys.argv[3])

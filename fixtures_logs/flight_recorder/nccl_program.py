"""How the NCCL dumps in nccl/ were made: two ranks on one H200 that stop in a collective.

usage: nccl_program.py CASE      (starts both ranks; writes CASE/nccl_trace_rank_N and CASE/rankN.log)

NCCL takes the ranks for two hosts, since NCCL_HOSTID differs, and so lets them share the GPU. The
watchdog writes the dumps when the timeout of 20 s is over. Not executed in CI.
"""

import datetime
import os
import subprocess
import sys
import time

CASES = ("never_came", "no_dump", "all_wait")
STEPS = 3


def rank_main(case: str, rank: int) -> None:
    """Three good steps, then the fault."""
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=20))
    gradients = torch.ones(1 << 20, device="cuda")
    for step in range(STEPS):
        dist.all_reduce(gradients)
        torch.cuda.synchronize()
        print(f"step:{step} - training/global_step:{step}", flush=True)
    if case == "never_came" and rank == 1:
        time.sleep(90)  # the reward of rank 1 takes for ever
    elif case == "no_dump" and rank == 1:
        os._exit(1)
    else:
        if case == "all_wait":
            torch.cuda._sleep(100 * 2_000_000_000)  # a kernel before it does not end
        dist.all_reduce(gradients)
    torch.cuda.synchronize()


def launch(case: str) -> None:
    """Both ranks of one case, each with its own log."""
    os.makedirs(case, exist_ok=True)
    ranks = []
    for rank in range(2):
        env = os.environ | {
            "RANK": str(rank),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(29600 + CASES.index(case)),
            "NCCL_HOSTID": f"host{rank}",
            "NCCL_SOCKET_IFNAME": "lo",
            "NCCL_IB_DISABLE": "1",
            "NCCL_NVLS_ENABLE": "0",
            "TORCH_FR_BUFFER_SIZE": "100",
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            "TORCH_FR_DUMP_TEMP_FILE": f"{case}/nccl_trace_rank_",
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": f"{case}/nccl_trace_rank_",
        }
        with open(f"{case}/rank{rank}.log", "wb") as log:
            command = [sys.executable, __file__, case, str(rank)]
            ranks.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))
    end = time.monotonic() + 120
    for rank in ranks:
        try:
            rank.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        rank_main(sys.argv[1], int(sys.argv[2]))
    else:
        launch(sys.argv[1])

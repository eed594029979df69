"""How the logs of several ranks in made/torch were made on a CPU with gloo: one entry a log.

As in torch_programs.py. Every run is in a mount, network, host name and process name space of its
own (host name `localhost` unless `hostname` says otherwise), so that ports are free and addresses
of 192.0.2.0/24 (documentation) can be given to the loopback. Nothing here is executed in CI.
"""

from torch_programs import job as single_job

HEAD = """
import datetime
import os
import sys
import time
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from policy import Policy, log_probs_of, log_step

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))
rank = dist.get_rank()
torch.manual_seed(0)
policy = Policy()


def train_step(step):
    ids = torch.randint(0, 64, (4, 12))
    loss = -log_probs_of(policy(ids), ids).mean()
    loss.backward()
    for p in policy.parameters():
        dist.all_reduce(p.grad)
        p.grad = None
    if rank == 0:
        log_step(step, actor__pg_loss=loss.item())


for step in range(1, 4):
    train_step(step)
"""
DDP = HEAD.split("policy = Policy()")[0]
TORCHRUN = "torchrun --standalone --nproc-per-node 2 train.py"
ENV = "WORLD_SIZE=2 MASTER_ADDR=192.0.2.2 MASTER_PORT=29500"
ADDRESS = "ip addr add 192.0.2.2/32 dev lo\n"
TWO_NODES = (
    "ip netns add b\nip link add eth0 type veth peer name eth0 netns b\n"
    "ip addr add 192.0.2.2/24 dev eth0\nip link set eth0 up\n"
    "ip -n b addr add 192.0.2.3/24 dev eth0\nip -n b link set eth0 up\nip -n b link set lo up\n"
)


def job(rule: str, how: str, train: str = "", run: str = TORCHRUN, **more: object) -> dict[str, object]:
    """One entry, run in name spaces of its own."""
    return single_job(rule, how, train, run, **{"isolated": True, "hostname": "localhost", **more})  # type: ignore[arg-type]


PROGRAMS = {
    "gloo-no-interface": job(
        "DST021",
        "GLOO_SOCKET_IFNAME names an interface which this node does not have",
        HEAD,
        "GLOO_SOCKET_IFNAME=bond0 " + TORCHRUN,
    ),
    "gloo-no-host-name": job(
        "DST051",
        "the node's own host name does not resolve: gloo takes the loopback address",
        HEAD,
        ADDRESS + f"RANK=0 {ENV} python train.py &\nRANK=1 {ENV} python train.py &\nwait",
        hostname="gpu-node-17",
    ),
    "gloo-timeout": job(
        "DST022",
        "rank 1 waits for a slow reward in step 4; the other rank's all_reduce times out after 8 s",
        HEAD
        + """
if rank == 1:
    time.sleep(60)  # the reward model does not answer
train_step(4)
""",
    ),
    "gloo-full-mesh": job(
        "DST023",
        "two hosts (network name spaces) whose ranks both publish the loopback address",
        HEAD,
        TWO_NODES
        + f"export GLOO_SOCKET_IFNAME=lo\nRANK=0 {ENV} python train.py &\n"
        + f"RANK=1 {ENV} ip netns exec b python train.py &\nwait",
        timeout=120,
    ),
    "store-refused": job(
        "DST025",
        "rank 1 of 2 is started while nothing listens at MASTER_ADDR:MASTER_PORT",
        HEAD,
        ADDRESS + f"RANK=1 {ENV} python train.py",
    ),
    "store-refused-torchrun": job(
        "DST025",
        "torchrun on node 1 of 2 with a master that is not there",
        HEAD,
        ADDRESS
        + "torchrun --nnodes 2 --node-rank 1 --nproc-per-node 2 --master-addr 192.0.2.2 --master-port 29500 "
        "--rdzv-conf timeout=10 train.py",
    ),
    "store-waits-for-ranks": job(
        "DST026",
        "only rank 0 of 2 is started",
        HEAD,
        ADDRESS + f"RANK=0 {ENV} python train.py",
    ),
    "rendezvous-join-timeout": job(
        "DST027",
        "torchrun --nnodes 2 on one node only, join_timeout=10",
        HEAD,
        ADDRESS
        + "torchrun --nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-id job1 --rdzv-endpoint localhost:29500 "
        "--rdzv-conf join_timeout=10 train.py",
    ),
    "rendezvous-refused": job(
        "DST027",
        "torchrun's c10d rendezvous at an endpoint where nothing listens, read_timeout=5",
        HEAD,
        ADDRESS
        + "torchrun --nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-id job1 --rdzv-endpoint 192.0.2.3:29500 "
        "--rdzv-conf join_timeout=10,read_timeout=5 train.py",
    ),
    "store-host-left": job(
        "DST028",
        "rank 0 (which hosts the store) ends early; rank 1 still makes a group",
        HEAD
        + """
if rank == 0:
    print("nothing left to do on rank 0", flush=True)
    os._exit(0)
time.sleep(3)
groups = [dist.new_group([0]), dist.new_group([1])]
""",
        ADDRESS + f"RANK=0 {ENV} python train.py &\nRANK=1 {ENV} python train.py &\nwait",
    ),
    "store-unknown-host": job(
        "DST029",
        "MASTER_ADDR is a name that no one knows",
        HEAD,
        f"RANK=1 {ENV} MASTER_ADDR=head-0.ray.svc python train.py",
    ),
    "group-not-initialised": job(
        "DST030",
        "a metrics helper calls all_reduce in a script that was started by python",
        """
import torch
import torch.distributed as dist
from policy import Policy, log_probs_of, log_step

policy = Policy()
ids = torch.randint(0, 64, (4, 12))
loss = -log_probs_of(policy(ids), ids).mean()
dist.all_reduce(loss)
log_step(1, actor__pg_loss=loss.item() / dist.get_world_size())
""",
        "python train.py",
    ),
    "group-no-launcher": job("DST031", "init_process_group without torchrun", HEAD, "python train.py"),
    "group-twice": job(
        "DST032", "init_process_group is called by the framework and by the script", HEAD + "\ndist.init_process_group('gloo')\n"
    ),
    "monitored-barrier": job(
        "DST034",
        "rank 1 is late for a monitored barrier before the checkpoint",
        HEAD
        + """
if rank == 1:
    time.sleep(30)
dist.monitored_barrier(timeout=datetime.timedelta(seconds=5))
""",
    ),
    "collectives-differ": job(
        "DST035",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL and ranks with another number of tokens",
        HEAD + "\nlog_probs = torch.rand(10 + 2 * rank)\ndist.all_reduce(log_probs)\n",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL " + TORCHRUN,
    ),
    "collectives-differ-op": job(
        "DST035",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL; rank 0 saves (barrier) while rank 1 reduces",
        HEAD
        + """
if rank == 0:
    dist.barrier()
else:
    dist.all_reduce(torch.zeros(1))
""",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL " + TORCHRUN,
    ),
    "ddp-unused": job(
        "DST036",
        "a vision tower that a text batch does not use",
        DDP
        + """
policy = Policy()
policy.visual = torch.nn.Linear(16, 32)
model = DistributedDataParallel(policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 4):
    ids = torch.randint(0, 64, (4, 12))
    loss = -log_probs_of(model(ids), ids).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    log_step(step, actor__pg_loss=loss.item())
""",
    ),
    "ddp-ready-twice": job(
        "DST054",
        "reentrant activation checkpointing of a layer that is used twice, under DDP",
        DDP
        + """
from torch.utils.checkpoint import checkpoint


class Twice(Policy):
    def forward(self, ids):
        x = self.embed_tokens(ids)
        for layer in [self.layers[0], self.layers[0], self.layers[1]]:
            x = x + checkpoint(layer, x, use_reentrant=True)
        return self.lm_head(x)


model = DistributedDataParallel(Twice())
for step in range(1, 4):
    ids = torch.randint(0, 64, (4, 12))
    loss = -log_probs_of(model(ids), ids).mean()
    loss.backward()
    log_step(step, actor__pg_loss=loss.item())
""",
    ),
    "ddp-other-vocab": job(
        "DST037",
        "rank 1 built its model with another vocabulary",
        DDP + "\nmodel = DistributedDataParallel(Policy(vocab=64 + 8 * rank))\n",
    ),
    "ddp-other-depth": job(
        "DST037",
        "rank 1 built a model with one layer more",
        DDP + "\nmodel = DistributedDataParallel(Policy(layers=2 + rank))\n",
    ),
    "rank-segfault": job(
        "DST043",
        "native code in rank 1 reads a null pointer",
        HEAD
        + """
if rank == 1:
    import ctypes

    ctypes.string_at(0)
train_step(4)
""",
    ),
    "rank-segfault-faulthandler": job(
        "DST043",
        "the same with PYTHONFAULTHANDLER=1",
        HEAD
        + """
if rank == 1:
    import ctypes

    ctypes.string_at(0)
train_step(4)
""",
        "PYTHONFAULTHANDLER=1 " + TORCHRUN,
    ),
    "rank-bus-error": job(
        "DST044",
        "a memory-mapped token file is shortened while rank 1 reads it",
        HEAD
        + """
import numpy as np

if rank == 0:
    np.arange(1 << 20, dtype=np.int32).tofile("tokens.bin")
dist.barrier()
tokens = np.memmap("tokens.bin", dtype=np.int32, mode="r")
print(f"rank {rank}: {len(tokens)} tokens", flush=True)
dist.barrier()
if rank == 0:
    os.truncate("tokens.bin", 4096)
dist.barrier()
if rank == 1:
    print(tokens[-8:].sum())
train_step(4)
""",
    ),
    "rank-exit-argparse": job(
        "DST046",
        "an argument that argparse refuses (exit code 2)",
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default=1e-6)\n"
        "parser.add_argument('--total-epochs', type=int, default=15)\nargs = parser.parse_args()\n" + HEAD,
        TORCHRUN + " --lr 1e-6 --total-epoch=fifteen",
    ),
    "rank-exit-own": job(
        "DST046",
        "a guard in rank 1 ends the process with sys.exit(7)",
        HEAD
        + """
if rank == 1:
    print("rank 1: loss is not finite, giving up", flush=True)
    sys.exit(7)
train_step(4)
""",
    ),
    "rank-exit-137": job(
        "DST046",
        "each rank is a shell script; the Python process of rank 1 gets SIGKILL, bash passes on 137",
        HEAD
        + """
if rank == 1:
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(2)
train_step(4)
""",
        "torchrun --standalone --nproc-per-node 2 --no-python bash run_rank.sh",
        more_files={"run_rank.sh": "python train.py\nexit $?\n"},
    ),
    "agent-sigterm": job(
        "DST048",
        "the scheduler's time limit: timeout sends SIGTERM to torchrun",
        HEAD + "\nfor step in range(4, 1000):\n    train_step(step)\n    time.sleep(1)\n",
        "timeout 25 " + TORCHRUN + "\necho exit code $?",
    ),
    "agent-sighup": job(
        "DST048",
        "the terminal is closed (SIGHUP to torchrun)",
        HEAD + "\nfor step in range(4, 1000):\n    train_step(step)\n    time.sleep(1)\n",
        "timeout -s HUP 25 " + TORCHRUN + "\necho exit code $?",
    ),
    "dtensor-lm-head": job(
        "TOR022",
        "FSDP2 on CPU: the fused loss takes lm_head.weight out of the sharded model",
        DDP
        + """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (2,))
policy = Policy()
for layer in policy.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(policy, mesh=mesh)
ids = torch.randint(0, 64, (4, 12))
print("loss", -log_probs_of(policy(ids), ids).mean().item(), flush=True)
policy.reshard()
hidden = torch.randn(4, 12, 32)
logits = F.linear(hidden, policy.lm_head.weight)
""",
    ),
    "dtensor-copy": job(
        "TOR022",
        "FSDP2 on CPU: weights of a checkpoint are copied into the sharded parameters one by one",
        DDP
        + """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (2,))
policy = Policy()
weights = {k: v.clone() for k, v in policy.state_dict().items()}
fully_shard(policy, mesh=mesh)
with torch.no_grad():
    for name, parameter in policy.named_parameters():
        parameter.copy_(weights[name])
""",
    ),
}

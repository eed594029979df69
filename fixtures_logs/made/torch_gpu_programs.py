"""How the GPU logs in made/torch were made (one H200): one entry a log.

As in torch_programs.py. Two NCCL ranks share the one GPU; NCCL takes them for two hosts where
NCCL_HOSTID differs. `OPS` is an extension that was built before
with torch.utils.cpp_extension.load("rl_ops", ["ops.cu"]). Nothing here is executed in CI.
"""

from torch_programs import HEAD, STEPS
from torch_programs import job as single_job

LIBS = "torch 2.11.0+cu130, triton 3.6.0, NCCL 2.28.9, H200, python 3.12"


def job(rule: str, how: str, train: str = "", run: str = "python3 train.py", **more: object) -> dict[str, object]:
    """One entry, run on the GPU."""
    return single_job(rule, how, train, run, LIBS, **more)


OPS = '''
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void rows_kernel(const float* x, float* y, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4 - 1) {
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i + shift);
    reinterpret_cast<float4*>(y)[i] = v;
  }
}
__global__ void check_kernel(const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && !(x[i] == x[i])) __trap();
}
torch::Tensor rows(torch::Tensor x, int64_t shift) {
  auto y = torch::zeros_like(x);
  int n = x.numel();
  rows_kernel<<<(n / 4 + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), n, shift);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
void check(torch::Tensor x) {
  int n = x.numel();
  check_kernel<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
struct Pool {
  void* p = nullptr;
  ~Pool() { if (p) C10_CUDA_CHECK_WARN(cudaFree(p)); }
};
static Pool pool;
void reserve(int64_t bytes) { C10_CUDA_CHECK(cudaMalloc(&pool.p, bytes)); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rows", &rows); m.def("check", &check); m.def("reserve", &reserve);
}
'''
LOAD_OPS = "import rl_ops as ops\n\n"

RANKS = """
import datetime
import os
import time
import torch
import torch.distributed as dist
from policy import Policy, log_probs_of, log_step

rank = int(os.environ["RANK"])
torch.cuda.set_device(0)
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=TIMEOUT))
torch.manual_seed(0)
policy = Policy().cuda()


def train_step(step):
    ids = torch.randint(0, 64, (4, 12), device="cuda")
    loss = -log_probs_of(policy(ids), ids).mean()
    loss.backward()
    flat = torch.cat([p.grad.flatten() for p in policy.parameters()])
    dist.all_reduce(flat)
    for p in policy.parameters():
        p.grad = None
    if rank == 0:
        log_step(step, actor__pg_loss=loss.item(), actor__grad_norm=flat.norm().item())


for step in range(1, 4):
    train_step(step)
"""
BASE = RANKS.replace("TIMEOUT", "15")
NET = "export NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1 NCCL_NVLS_ENABLE=0\n"
TWO_HOSTS = NET + "torchrun --standalone --nproc-per-node 2 --no-python bash -c "
RANK_HOST = TWO_HOSTS + "'NCCL_HOSTID=host$RANK exec python3 train.py'"
PLAIN = "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511\n" + NET
FILL = """
import sys
import time
import torch

free, total = torch.cuda.mem_get_info()
blocks = []
left = int(sys.argv[1]) << 20
while True:
    free, _ = torch.cuda.mem_get_info()
    size = (free - left) // 2 if free - left > 64 << 20 else free - left
    if size < 4 << 20:
        break
    try:
        blocks.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError:
        break
open("full", "w").close()
time.sleep(float(sys.argv[2]))
"""

PROGRAMS = {
    "device-batch-on-cpu": job(
        "TOR005",
        "the prompts of the DataLoader are not moved to the GPU",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()") + "\nids = torch.randint(0, 64, (4, 12))\npolicy(ids)\n",
    ),
    "device-advantages-on-cpu": job(
        "TOR005",
        "advantages made by reward code on the CPU meet log probabilities on the GPU",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + "\nids = torch.randint(0, 64, (4, 12), device='cuda')\nadvantages = torch.randn(4, 1)\n"
        "loss = -(log_probs_of(policy(ids), ids) * advantages).mean()\n",
    ),
    "device-cpu-indexed-by-gpu": job(
        "TOR005",
        "a CPU tensor of scores is indexed with a mask on the GPU",
        HEAD + "\nscores = torch.rand(16)\nkeep = torch.rand(16, device='cuda') > 0.5\nprint(scores[keep].mean())\n",
    ),
    "device-vision-on-cpu": job(
        "TOR005",
        "pixel values on the GPU, the vision tower on the CPU",
        HEAD
        + "\npolicy.cuda()\nvisual = torch.nn.Conv2d(3, 32, 14, stride=14)\npixel_values = torch.randn(2, 3, 56, 56, device='cuda')\n"
        "print(visual(pixel_values).shape)\n",
    ),
    "triton-source-error": job(
        "TOR014",
        "a Triton kernel whose tl.arange is no power of two",
        """
import torch
import triton
import triton.language as tl


@triton.jit
def log_prob_kernel(logits, out, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(logits + row * vocab + offs, mask=offs < vocab, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    tl.store(out + row * vocab + offs, x - tl.log(tl.sum(tl.exp(x), axis=0)), mask=offs < vocab)


logits = torch.randn(8, 1000, device="cuda")
out = torch.empty_like(logits)
print("warming up the fused log-prob kernel", flush=True)
log_prob_kernel[(8,)](logits, out, 1000, BLOCK=1000)
""",
    ),
    "triton-cpu-tensor": job(
        "TOR014",
        "a CPU tensor is given to a Triton kernel",
        """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offs, tl.load(x + offs, mask=offs < n) * 0.5, mask=offs < n)


x = torch.randn(1000)
out = torch.empty(1000, device="cuda")
print("warming up the scale kernel", flush=True)
scale_kernel[(1,)](x, out, 1000, BLOCK=1024)
""",
    ),
    "numpy-cuda": job(
        "TOR026",
        "a reward manager turns GPU scores into numpy",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + "\nimport numpy as np\n\nids = torch.randint(0, 64, (4, 12), device='cuda')\nscores = log_probs_of(policy(ids), ids).detach().sum(-1)\n"
        "print('critic/score/mean', np.mean(np.asarray(scores)))\n",
    ),
    "write-cuda-checkpoint": job(
        "none",
        "no log: writes model_cuda.pt for cuda-file-on-cpu of torch_programs.py",
        HEAD + "\ntorch.save(policy.cuda().state_dict(), '../model_cuda.pt')\nprint('written')\n",
    ),
    "gpu-index-embedding": job(
        "CUD008",
        "a token id beyond the embedding, on the GPU",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + STEPS.replace("(4, 12))", "(4, 12), device='cuda')").replace("torch.randn(4, 1)", "torch.randn(4, 1, device='cuda')")
        + "\nids = torch.randint(0, 64, (4, 12), device='cuda')\nids[:, 0] = 64\nlog_probs = log_probs_of(policy(ids), ids)\nprint(log_probs.mean().item())\n",
    ),
    "gpu-index-label": job(
        "CUD008",
        "an SFT label beyond the vocabulary, on the GPU",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + "\nids = torch.randint(0, 64, (4, 12), device='cuda')\nlabels = ids.clone()\nlabels[:, :4] = -100\nlabels[:, -1] = 65\n"
        "loss = F.cross_entropy(policy(ids).view(-1, 64), labels.view(-1))\nloss.backward()\n"
        "norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)\nlog_step(1, actor__grad_norm=norm.item())\n",
    ),
    "gpu-index-gather": job(
        "CUD008",
        "log probabilities are gathered with -100 labels that were not masked",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + "\nids = torch.randint(0, 64, (4, 12), device='cuda')\nlabels = ids.clone()\nlabels[:, :4] = -100\n"
        "log_probs = log_probs_of(policy(ids), labels)\nlog_step(1, actor__log_prob=log_probs.mean().item())\n",
    ),
    "gpu-index-mask-long": job(
        "CUD008",
        "positions computed for a longer response index a shorter one",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + "\nvalues = torch.rand(4, 12, device='cuda')\nlast = torch.tensor([11, 9, 15, 4], device='cuda')\n"
        "score = values[torch.arange(4, device='cuda'), last]\nlog_step(1, critic__score=score.mean().item())\n",
    ),
    "gpu-misaligned": job(
        "CUD012",
        "an own kernel reads float4 at an address that is not aligned to 16 bytes",
        "import torch\n" + LOAD_OPS + "x = torch.randn(4096, device='cuda')\nprint('packed rows')\ny = ops.rows(x, 1)\nprint(y.sum().item())\n",
    ),
    "gpu-trap": job(
        "CUD012",
        "an own kernel traps when it sees NaN",
        "import torch\n"
        + LOAD_OPS
        + "x = torch.randn(4096, device='cuda')\nx[7] = float('nan')\nprint('checking rewards')\nops.check(x)\nprint(x.sum().item())\n",
    ),
    "gpu-at-exit": job(
        "CUD029",
        "a static object of an extension frees GPU memory when the process exits",
        "import torch\n" + LOAD_OPS + "ops.reserve(1 << 20)\nprint('step:100 - done', flush=True)\n",
    ),
    "gpu-ordinal-torchrun": job(
        "CUD018",
        "torchrun with two ranks on a machine with one GPU",
        """
import os
import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
print("rank", dist.get_rank(), "on", torch.cuda.current_device(), flush=True)
dist.barrier()
""",
        NET + "torchrun --standalone --nproc-per-node 2 train.py",
    ),
    "gpu-ordinal-model": job(
        "CUD018",
        "the reference model is put on cuda:1 of a machine with one GPU",
        HEAD + "\nreference = Policy().to('cuda:1')\n",
    ),
    "gpu-product-after-assert": job(
        "CUD008",
        "an index fault, noticed by the next matrix products (bf16, cuBLAS used before)",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda().bfloat16()")
        + "\nids = torch.randint(0, 64, (4, 12), device='cuda')\nprint(policy(ids).float().mean().item())\n"
        "ids[:, -1] = 70\nlogits = policy(ids)\nprint(logits.float().mean().item())\n",
    ),
    "gpu-product-memory-full": job(
        "CUD020",
        "matrix products while another process holds the rest of the GPU",
        "import os, time\nimport torch\n\nx = torch.randn(64, 64, device='cuda')\nprint('ready', flush=True)\nopen('go', 'w').close()\n"
        "while not os.path.exists('full'):\n    time.sleep(0.2)\nprint((x @ x).mean().item())\n",
        "(while [ ! -e go ]; do sleep 0.2; done; exec python3 fill.py 4 25) > fill.log 2>&1 &\npython3 train.py; kill %1",
        more_files={"fill.py": FILL},
        alone=True,
    ),
    "gpu-cudnn-memory-full": job(
        "CUD002",
        "the vision tower's first convolution while another process holds the rest of the GPU",
        "import os, time\nimport torch\n\nvisual = torch.nn.Conv2d(3, 64, 3, padding=1).cuda()\nx = torch.randn(2, 3, 64, 64, device='cuda')\nout = torch.empty(1 << 21, device='cuda'); del out\n"
        "print('ready', flush=True)\nopen('go', 'w').close()\n"
        "while not os.path.exists('full'):\n    time.sleep(0.2)\nprint(visual(x).mean().item())\n",
        "(while [ ! -e go ]; do sleep 0.2; done; exec python3 fill.py 2 25) > fill.log 2>&1 &\npython3 train.py; kill %1",
        more_files={"fill.py": FILL},
        alone=True,
    ),
    "gpu-capture-item": job(
        "CUD023",
        "a warmed-up model that calls .item() inside a CUDA graph capture",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + """

def decode(ids):
    logits = policy(ids)
    if logits.isnan().any().item():
        raise ValueError("NaN logits")
    return logits.argmax(-1)


ids = torch.randint(0, 64, (8, 1), device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side), torch.no_grad():
    for _ in range(3):
        decode(ids)
torch.cuda.synchronize()
print("Capturing CUDA graph shapes: 8", flush=True)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph), torch.no_grad():
    out = decode(ids)
""",
    ),
    "gpu-capture-copy": job(
        "CUD023",
        "a position tensor is copied from pageable host memory inside a capture",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + """
ids = torch.randint(0, 64, (8, 1), device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side), torch.no_grad():
    for _ in range(3):
        policy(ids)
torch.cuda.synchronize()
print("Capturing CUDA graph shapes: 8", flush=True)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph), torch.no_grad():
    positions = torch.arange(8).to("cuda")
    out = policy(ids) + positions.view(8, 1, 1)
""",
    ),
    "gpu-fork-cupy": job(
        "CUD034",
        "cupy initialises CUDA, then a forked worker uses torch (which knows nothing of it)",
        """
import multiprocessing
import cupy
import torch

print("free GPU memory", cupy.cuda.runtime.memGetInfo()[0] >> 30, "GiB", flush=True)


def score(n):
    return torch.ones(n, device="cuda").sum().item()


with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(score, [4, 8]))
""",
    ),
    "gpu-stub-library": job(
        "CUD025",
        "LD_LIBRARY_PATH puts the toolkit's stub libcuda before the driver",
        HEAD + "\npolicy.cuda()\n",
        "mkdir stubs; ln -s $(ls /usr/local/cuda*/lib64/stubs/libcuda.so /usr/local/cuda*/targets/*/lib/stubs/libcuda.so 2>/dev/null | head -1) stubs/libcuda.so.1\n"
        "LD_LIBRARY_PATH=$PWD/stubs:$LD_LIBRARY_PATH python3 train.py",
    ),
    "gpu-compat-library": job(
        "CUD016",
        "LD_LIBRARY_PATH puts the image's CUDA compat library before the driver's",
        HEAD + "\npolicy.cuda()\n",
        "ls -d /usr/local/cuda*/compat > compat.txt 2>&1; LD_LIBRARY_PATH=$(head -1 compat.txt):$LD_LIBRARY_PATH python3 train.py",
    ),
    "gpu-bce-assert": job(
        "CUD033",
        "binary cross entropy of reward scores that are no probabilities",
        HEAD
        + "\nscores = torch.randn(64, device='cuda', requires_grad=True)\nlabels = torch.randint(0, 2, (64,), device='cuda').float()\n"
        "loss = F.binary_cross_entropy(scores, labels)\nloss.backward()\nlog_step(1, reward__loss=loss.item())\n",
    ),
    "nccl-ranks-differ": job(
        "DST002",
        "rank 0 gathers metrics while rank 1 reduces gradients; both time out after 15 s",
        BASE
        + """
if rank == 0:
    gathered = [torch.empty(32, device="cuda") for _ in range(2)]
    dist.all_gather(gathered, torch.ones(32, device="cuda"))
else:
    dist.all_reduce(torch.ones(4096, device="cuda"))
torch.cuda.synchronize()
train_step(4)
""",
        RANK_HOST,
    ),
    "nccl-timeout-one-log": job(
        "DST003",
        "rank 1 hangs in reward code; its log is on the other host",
        BASE + "\nif rank == 1:\n    time.sleep(60)\ntrain_step(4)\ntorch.cuda.synchronize()\n",
        PLAIN
        + "NCCL_HOSTID=b RANK=1 timeout 50 python3 train.py > other_host.log 2>&1 &\nNCCL_HOSTID=a RANK=0 python3 train.py\necho exit code $?",
    ),
    "nccl-watchdog-gil": job(
        "DST001",
        "a native call that holds the GIL for minutes in rank 1 while rank 0 waits and times out",
        BASE
        + """
if rank == 1:
    import ctypes

    ctypes.PyDLL(None).sleep(100)
train_step(4)
torch.cuda.synchronize()
""",
        "export TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=20\n" + RANK_HOST,
        timeout=120,
    ),
    "nccl-duplicate-gpu": job(
        "DST006",
        "two ranks both use cuda:0 (set_device was forgotten)",
        BASE,
        NET + "torchrun --standalone --nproc-per-node 2 train.py",
    ),
    "nccl-duplicate-gpu-warn": job(
        "DST006",
        "the same with NCCL_DEBUG=WARN",
        BASE,
        NET + "NCCL_DEBUG=WARN torchrun --standalone --nproc-per-node 2 train.py",
    ),
    "nccl-shm-small": job(
        "DST009",
        "/dev/shm of 64 KiB",
        BASE,
        "mount -t tmpfs -o size=64k none /dev/shm\n" + NET.replace("export ", "export NCCL_DEBUG=WARN ") + RANK_HOST,
        isolated=True,
    ),
    "nccl-memory-full": job(
        "DST013",
        "the first collective while another process holds the rest of the GPU",
        RANKS.split("policy = Policy()")[0].replace("TIMEOUT", "60")
        + "x = torch.ones(1024, device='cuda')\ntorch.cuda.synchronize()\nprint('ready', flush=True)\nopen(f'go{rank}', 'w').close()\n"
        "while not os.path.exists('full'):\n    time.sleep(0.2)\ndist.all_reduce(x)\ntorch.cuda.synchronize()\n",
        "(while [ ! -e go0 -o ! -e go1 ]; do sleep 0.2; done; exec python3 fill.py 2 30) > fill.log 2>&1 &\n" + RANK_HOST + "; kill %1",
        more_files={"fill.py": FILL},
        alone=True,
    ),
    "nccl-refused": job(
        "DST018",
        "rank 0 dies between publishing its address and the other rank's first collective (file store)",
        """
import os
import time
import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(0)
dist.init_process_group("nccl", init_method=f"file://{os.getcwd()}/rendezvous", rank=rank, world_size=2)
print("rank", rank, "ready", flush=True)
if rank == 1:
    time.sleep(12)
dist.all_reduce(torch.ones(1024, device="cuda"))
torch.cuda.synchronize()
""",
        NET
        + "export NCCL_DEBUG=WARN NCCL_SOCKET_RETRY_CNT=5\nNCCL_HOSTID=a RANK=0 timeout -s KILL 18 python3 train.py > rank0.log 2>&1 &\n"
        "NCCL_HOSTID=b RANK=1 python3 train.py",
        timeout=110,
    ),
    "nccl-cpu-tensor": job(
        "DST033",
        "a metric on the CPU is reduced in an NCCL group",
        BASE + "\nscore = torch.tensor([0.5])\ndist.all_reduce(score)\n",
        RANK_HOST,
    ),
    "nccl-peer-raises": job(
        "PY001",
        "rank 1 raises KeyError at step 4; rank 0 waits in NCCL",
        BASE + "\nif rank == 1:\n    print({}['reward_model'])\ntrain_step(4)\ntorch.cuda.synchronize()\n",
        RANK_HOST,
    ),
    "nccl-watchdog-stuck": job(
        "DST004",
        "a native call holds the GIL in rank 1 after it started a collective that rank 0 never joins: at the time-out its watchdog waits for the GIL",
        BASE
        + """
import ctypes

if rank == 1:
    dist.all_reduce(torch.ones(1024, device="cuda"), async_op=True)
    ctypes.PyDLL(None).sleep(100)
else:
    time.sleep(80)
""",
        "export TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=20\n" + RANK_HOST,
        timeout=100,
    ),
    "gpu-ipc-producer-gone": job(
        "CUD010",
        "a CUDA tensor is sent to another process (torch.multiprocessing); the sender ends before it is opened",
        """
import time
import torch
import torch.multiprocessing as mp


def produce(queue):
    queue.put(torch.ones(1 << 20, device="cuda"))
    time.sleep(4)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    queue = mp.Queue()
    trainer = mp.Process(target=produce, args=(queue,))
    trainer.start()
    time.sleep(15)
    trainer.join()
    print("weights arrive", flush=True)
    print(queue.get().sum().item())
""",
    ),
    "fsdp-on-cpu": job(
        "TOR050",
        "FSDP1 around a model that was never moved to the GPU (no device_id, no .cuda())",
        RANKS.split("policy = Policy()")[0].replace("TIMEOUT", "60")
        + """
from torch.distributed.fsdp import FullyShardedDataParallel

policy = FullyShardedDataParallel(Policy())
ids = torch.randint(0, 64, (4, 12), device="cuda")
loss = -log_probs_of(policy(ids), ids).mean()
loss.backward()
""",
        NET + "torchrun --standalone --nproc-per-node 1 train.py",
    ),
    "fsdp-compute-device": job(
        "TOR050",
        "FSDP1 with CPU offload: the sharded parameters are moved to the GPU by hand",
        RANKS.split("policy = Policy()")[0].replace("TIMEOUT", "60")
        + """
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel

policy = FullyShardedDataParallel(Policy(), device_id=0, cpu_offload=CPUOffload(offload_params=True))
policy.cuda()
ids = torch.randint(0, 64, (4, 12), device="cuda")
loss = -log_probs_of(policy(ids), ids).mean()
loss.backward()
""",
        NET + "torchrun --standalone --nproc-per-node 1 train.py",
    ),
    "triton-misaligned": job(
        "CUD012",
        "a Triton kernel is told that its pointer offsets are multiples of 16, which they are not",
        """
import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x, out, start, BLOCK: tl.constexpr):
    offs = tl.multiple_of(start + tl.arange(0, BLOCK), 4)
    tl.store(out + tl.arange(0, BLOCK), tl.load(x + tl.max_contiguous(offs, BLOCK)))


x = torch.randn(8192, device="cuda")
out = torch.empty(1024, device="cuda")
print("packing rows", flush=True)
gather_kernel[(1,)](x, out, 3, BLOCK=1024)
print(out.sum().item())
""",
    ),
    "compile-disk-full": job(
        "TOR051",
        "torch.compile whose Triton cache folder is on a full disk",
        HEAD.replace("policy = Policy()", "policy = Policy().cuda()")
        + """
step_fn = torch.compile(lambda ids: log_probs_of(policy(ids), ids).mean())
ids = torch.randint(0, 64, (4, 12), device="cuda")
print("compiling", flush=True)
print(step_fn(ids).item())
""",
        "mkdir cache; mount -t tmpfs -o size=64k none cache\nTORCHINDUCTOR_CACHE_DIR=$PWD/cache TRITON_CACHE_DIR=$PWD/cache/t python3 train.py",
        isolated=True,
    ),
}

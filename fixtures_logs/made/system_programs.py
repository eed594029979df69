"""How the logs of the system rules in made/python were made: one entry a log.

As in python_programs.py; the machine's root runs them. `isolated` gives a mount, network and
process name space of its own, in which a small tmpfs stands for a full disk.
"""

PY = "python 3.11"
TORCH = "torch 2.13.0, numpy 2.3.5, python 3.11"
AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups "
STEPS = """
import time


def steps(n, pause=0.05):
    for step in range(1, n + 1):
        time.sleep(pause)
        print(f"step:{step} - actor/pg_loss:{0.01 * step:.4f} - actor/grad_norm:0.31", flush=True)
        yield step


"""


def job(
    rule: str,
    how: str,
    train: str = "",
    run: str = "python train.py",
    libs: str = PY,
    **more: object,
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    files = {"train.py": train} if train else {}
    files.update(more.pop("more_files", {}))  # type: ignore[call-overload]
    return {"rule": rule, "how": how, "libraries": libs, "files": files, "run": run, **more}


def torch_save(folder: str) -> str:
    """A training loop that saves its model and optimizer below `folder` every fifth step."""
    return (
        STEPS
        + f"""
import os
import torch

model = torch.nn.Linear(256, 256)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in steps(20):
    model(torch.randn(8, 256)).pow(2).mean().backward()
    optimizer.step()
    if step % 5 == 0:
        path = "{folder}/global_step_" + str(step)
        os.makedirs(path, exist_ok=True)
        torch.save(
            {{"model": model.state_dict(), "optim": optimizer.state_dict()}}, path + "/model.pt"
        )
"""
    )


BUS_ERROR = """
import mmap
import os

with open("weights.bin", "wb") as f:
    f.truncate(1 << 20)
with open("weights.bin", "r+b") as f:
    view = mmap.mmap(f.fileno(), 0)
    print("mapped", len(view), flush=True)
    os.truncate("weights.bin", 0)
    print("first byte", view[4096])
"""

# A file system in user space that answers one kind of request with an error, as a storage server
# does; the kernel hands the error to the training script.
STORAGE = """
import ctypes
import os
import struct
import sys

target, failing, error = sys.argv[1], set(map(int, sys.argv[2].split(","))), int(sys.argv[3])
fd = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
assert ctypes.CDLL(None).mount(b"storage:/vol1", target.encode(), b"fuse", 0, options) == 0


def attr(node):
    mode, size = (0o40777, 4096) if node == 1 else (0o100666, 10000)
    return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


while True:
    try:
        request = os.read(fd, 1 << 20)
    except OSError:
        break
    length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    body, code = b"", 0
    if opcode == 26:
        body = struct.pack("<4I2H2I2H2I6I", 7, 31, 0, 0, 12, 9, 4096, 1, 1, 0, 0, 0, *[0] * 6)
    elif opcode in failing:
        code = -error
    elif opcode == 3:
        body = struct.pack("<QII", 1, 0, 0) + attr(node)
    elif opcode == 1 and 1 not in failing and 14 in failing:
        body = struct.pack("<4Q2I", 2, 0, 1, 1, 0, 0) + attr(2)
    elif opcode == 1:
        code = -2
    elif opcode in (2, 36, 42):
        continue
    else:
        code = -38
    os.write(fd, struct.pack("<IiQ", 16 + len(body), code, unique) + body)
"""
MOUNT = "mkdir {0}\npython storage.py {0} {1} {2} > /dev/null 2>&1 &\nsleep 2\n"

PROGRAMS = {
    "enospc-json": job(
        "SYS001",
        "rollouts are written as jsonl to a tmpfs of 1 MiB",
        STEPS
        + """
import json
import os

os.makedirs("ckpt/rollouts", exist_ok=True)
for step in steps(40, 0.01):
    with open(f"ckpt/rollouts/{step}.jsonl", "w") as f:
        for i in range(100):
            f.write(json.dumps({"input": "q" * 200, "output": "a" * 400, "score": 0.0}) + "\\n")
""",
        run="mkdir ckpt\nmount -t tmpfs -o size=1m none ckpt\npython train.py\n"
        'echo "exit code $?"\ndf -h ckpt',
        isolated=True,
    ),
    "enospc-makedirs": job(
        "SYS001",
        "a file system without free inodes: makedirs names the path",
        STEPS
        + """
import os

for step in steps(40, 0.01):
    os.makedirs(f"ckpt/global_step_{step}/actor/huggingface")
""",
        run="mkdir ckpt\nmount -t tmpfs -o size=1m,nr_inodes=20 none ckpt\npython train.py",
        isolated=True,
    ),
    "enospc-torch-save": job(
        "TOR020",
        "torch.save to a tmpfs of 2 MiB",
        torch_save("ckpt"),
        run='mkdir ckpt\nmount -t tmpfs -o size=2m none ckpt\npython train.py\necho "exit code $?"',
        libs=TORCH,
        isolated=True,
    ),
    "shm-full-file": job(
        "SYS002",
        "a file is copied to a /dev/shm of 1 MiB",
        """
import os
import shutil

with open("model.safetensors", "wb") as f:
    f.write(os.urandom(4 << 20))
print("use_shm: copy the model to /dev/shm", flush=True)
shutil.copy("model.safetensors", "/dev/shm/model.safetensors")
""",
        run="mount -t tmpfs -o size=1m none /dev/shm\npython train.py",
        isolated=True,
    ),
    "shm-full-shared-memory": job(
        "SYS002",
        "multiprocessing.shared_memory and semaphores in a /dev/shm without free inodes",
        """
from multiprocessing import shared_memory

blocks = []
for i in range(12):
    blocks.append(shared_memory.SharedMemory(create=True, size=1 << 16))
    print("block", i, len(blocks[-1].buf), flush=True)
""",
        run="mount -t tmpfs -o size=4m,nr_inodes=6 none /dev/shm\npython train.py",
        isolated=True,
    ),
    "permission-cache": job(
        "DAT027",
        "another user's cache folder: datasets can't write its cache",
        """
from datasets import load_dataset

print(load_dataset("json", data_files="train.jsonl", split="train"))
""",
        run="mkdir -p shared/hf\nchmod 755 shared shared/hf\n"
        + AS_NOBODY
        + "env HOME=$PWD HF_HOME=$PWD/shared/hf PYTHONDONTWRITEBYTECODE=1 python train.py",
        libs="datasets 5.0.1, python 3.11",
        more_files={"train.jsonl": '{"q": "1+1", "a": "2"}\n'},
    ),
    "permission-open": job(
        "SYS003",
        "a checkpoint folder that root created in the container",
        STEPS
        + """
for step in steps(10, 0.01):
    if step % 5 == 0:
        with open("ckpt/latest_checkpointed_iteration.txt", "w") as f:
            f.write(str(step))
""",
        run="mkdir ckpt\n" + AS_NOBODY + "python3 train.py",
        libs="python 3.11 (Debian)",
        path="/usr/bin",
    ),
    "emfile-open": job(
        "SYS004",
        "files of a data set are opened and never closed, ulimit -n 64",
        """
import os

os.makedirs("shards", exist_ok=True)
for i in range(100):
    with open(f"shards/{i:05d}.jsonl", "w") as f:
        f.write("{}\\n")
handles = []
for name in sorted(os.listdir("shards")):
    handles.append(open(os.path.join("shards", name)))
    if len(handles) % 20 == 0:
        print("opened", len(handles), flush=True)
""",
        run="ulimit -n 64\npython train.py",
    ),
    "emfile-dataloader": job(
        "TOR038",
        "a DataLoader hands tensors over by file descriptor and the consumer keeps them all",
        """
import torch
from torch.utils.data import DataLoader

data = [torch.zeros(64) for _ in range(4000)]
kept = []
for step, batch in enumerate(DataLoader(data, batch_size=2, num_workers=2), start=1):
    kept.append(batch)
    if step % 100 == 0:
        print(f"step:{step} - kept {len(kept)} batches", flush=True)
""",
        run="ulimit -n 256\npython train.py",
        libs=TORCH,
    ),
    "enomem-mmap": job(
        "SYS005",
        "mmap of a large cache file under ulimit -v",
        """
import mmap
import os

with open("cache.bin", "wb") as f:
    f.truncate(8 << 30)
with open("cache.bin", "rb") as f:
    print("map", os.path.getsize("cache.bin"), flush=True)
    view = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
""",
        run="ulimit -v 4000000\npython train.py",
    ),
    "enomem-torch-alloc": job(
        "SYS005",
        "torch asks for more CPU memory than ulimit -v leaves",
        STEPS
        + """
import torch

print("torch", torch.__version__, flush=True)
offloaded = []
for step in steps(20, 0.01):
    offloaded.append(torch.zeros(64 << 20))
""",
        run="ulimit -v 4000000\npython train.py",
        libs=TORCH,
    ),
    "threads-limit": job(
        "SYS006",
        "a thread pool of 200 under ulimit -u 60",
        """
import time
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(200) as pool:
    futures = [pool.submit(time.sleep, 1) for _ in range(200)]
    print("submitted", len(futures), flush=True)
""",
        run="ulimit -u 60\n" + AS_NOBODY + "python train.py",
    ),
    "fork-limit": job(
        "SYS006",
        "multiprocessing.Pool of 64 under ulimit -u 20",
        """
from multiprocessing import Pool


def score(text):
    return float(text.endswith("7"))


if __name__ == "__main__":
    with Pool(64) as pool:
        print(sum(pool.map(score, ["#### 7"] * 100)))
""",
        run="ulimit -u 20\n" + AS_NOBODY + "python3 train.py",
        libs="python 3.11 (Debian)",
        path="/usr/bin",
    ),
    "bash-fork-limit": job(
        "SYS006",
        "a start script runs into the process limit",
        run="ulimit -u 10\n"
        + AS_NOBODY
        + "bash -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 12 & done; wait'",
        libs="bash 5.2",
    ),
    "port-in-use-uvicorn": job(
        "SYS007",
        "a second asyncio reward server on the port of the first",
        """
import asyncio


async def serve(port):
    async def handle(reader, writer):
        writer.write(b"1.0\\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    print("reward server on", port, flush=True)
    async with server:
        await asyncio.wait_for(server.serve_forever(), 15)


asyncio.run(serve(18000))
""",
        run='python train.py &\nsleep 4\npython train.py\necho "exit code $?"\nkill %1',
        isolated=True,
    ),
    "port-in-use-socket": job(
        "SYS007",
        "socketserver on a taken port, Python 3.13",
        run="python -m http.server 18000 --bind 127.0.0.1 > /dev/null 2>&1 &\nsleep 3\n"
        'python -m http.server 18000 --bind 127.0.0.1\necho "exit code $?"\nkill %1',
        libs="python 3.13",
        venv="bare-3.13",
        isolated=True,
    ),
    "refused-urllib": job(
        "SYS008",
        "a judge server that is not running, asked with urllib",
        """
import json
import urllib.request


def judge(text):
    request = urllib.request.Request(
        "http://127.0.0.1:18001/v1/score", json.dumps({"text": text}).encode()
    )
    with urllib.request.urlopen(request, timeout=5) as reply:
        return json.load(reply)["score"]


print("scoring 8 responses", flush=True)
print([judge(t) for t in ["a"] * 8])
""",
        isolated=True,
    ),
    "refused-aiohttp": job(
        "SYS008",
        "a judge server that is not running, asked with aiohttp",
        """
import asyncio
import aiohttp


async def judge(text):
    async with aiohttp.ClientSession() as session:
        async with session.post("http://127.0.0.1:18001/v1/score", json={"text": text}) as reply:
            return (await reply.json())["score"]


print(asyncio.run(judge("a")))
""",
        libs="aiohttp 3.14.5, python 3.11",
        isolated=True,
    ),
    "refused-httpx": job(
        "SYS008",
        "a judge server that is not running, asked with httpx",
        """
import httpx

with httpx.Client(base_url="http://127.0.0.1:18001", trust_env=False) as client:
    print(client.post("/v1/score", json={"text": "a"}).json())
""",
        libs="httpx 0.28.1, python 3.11",
        isolated=True,
    ),
    "unreachable-socket": job(
        "SYS008",
        "a name server that can't be reached: the host name of the judge is unknown here",
        """
import urllib.request

print(urllib.request.urlopen("http://judge.cluster.local:8000/health", timeout=5).read())
""",
        libs="python 3.13",
        venv="bare-3.13",
        isolated=True,
    ),
    "read-only-mount": job(
        "SYS010",
        "checkpoints go to a read-only bind mount",
        STEPS
        + """
import os

for step in steps(10, 0.02):
    if step % 5 == 0:
        os.makedirs(f"data/ckpt/global_step_{step}", exist_ok=True)
""",
        run="mkdir data\nmount --bind data data\nmount -o remount,ro,bind data\npython train.py",
        isolated=True,
    ),
    "read-only-hf-cache": job(
        "SYS010",
        "HF_HOME lies on a read-only bind mount and datasets writes its cache",
        """
from datasets import load_dataset

print(load_dataset("json", data_files="train.jsonl", split="train"))
""",
        run="mkdir -p hf\nmount --bind hf hf\nmount -o remount,ro,bind hf\n"
        "HF_HOME=$PWD/hf python train.py",
        libs="datasets 5.0.1, python 3.11",
        more_files={"train.jsonl": '{"q": "1+1", "a": "2"}\n'},
        isolated=True,
    ),
    "broken-pipe-print": job(
        "SYS012",
        "the reader of a pipe ends first",
        STEPS.replace("flush=True", "flush=True") + "for step in steps(30, 0.05):\n    pass\n",
        run='python train.py | head -n 3\necho "exit code ${PIPESTATUS[0]}"',
    ),
    "connection-reset-worker": job(
        "SYS012",
        "a worker process behind a connection is killed; the driver sends to it",
        STEPS
        + """
import multiprocessing as mp
import os
import signal


def worker(conn):
    while True:
        conn.send(conn.recv() + 1)


if __name__ == "__main__":
    ours, theirs = mp.Pipe()
    process = mp.Process(target=worker, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    for step in steps(10, 0.1):
        ours.send(step)
        ours.recv()
        if step == 3:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
""",
    ),
    "file-not-found-data": job(
        "DAT005",
        "a data file that does not exist on this node",
        """
import json
import os

path = os.path.join("data", "gsm8k", "train.jsonl")
print("read", path, flush=True)
with open(path) as f:
    print(len([json.loads(line) for line in f]))
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "file-not-found-program": job(
        "SYS013",
        "subprocess starts nvidia-smi on a machine without it",
        """
import subprocess

print("GPU memory before the start:", flush=True)
subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv"], check=True)
""",
        venv="bare-3.11",
    ),
    "file-exists-race": job(
        "SYS014",
        "four ranks create the same folder without exist_ok",
        """
import os
import sys
import time

time.sleep(1.0 - time.time() % 1.0)
rank = int(sys.argv[1])
print(f"[rank{rank}] makedirs", flush=True)
os.makedirs("ckpt/global_step_10/actor")
""",
        run="for r in 0 1 2 3; do python train.py $r & done\nwait",
    ),
    "dir-not-empty": job(
        "SYS014",
        "an old checkpoint folder is removed with rmdir",
        """
import os

os.makedirs("ckpt/global_step_5/actor", exist_ok=True)
open("ckpt/global_step_5/actor/model.pt", "w").close()
print("keep the last 1 checkpoints", flush=True)
os.rmdir("ckpt/global_step_5/actor")
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "pool-child-sigkill": job(
        "SYS066",
        "a scoring process of a ProcessPoolExecutor is killed with SIGKILL",
        """
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor


def score(i):
    if i == 5:
        os.kill(os.getpid(), signal.SIGKILL)  # as the kernel's OOM killer does
    time.sleep(0.05)
    return float(i % 2)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        for i, value in enumerate(pool.map(score, range(8))):
            print(i, value, flush=True)
""",
    ),
    "subprocess-sigkill": job(
        "SYS021",
        "subprocess.run(check=True) of a preparation script that is killed with SIGKILL",
        """
import subprocess
import sys

child = "import os, signal; print('tokenizing', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
subprocess.run([sys.executable, "-c", child], check=True)
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "killed-foreground": job(
        "SYS020",
        "a run in the foreground of a script is killed with SIGKILL",
        STEPS
        + """
import os
import signal

for step in steps(30):
    if step == 12:
        os.kill(os.getpid(), signal.SIGKILL)
""",
        run='bash run.sh\necho "exit code $?"',
        more_files={"run.sh": "set -x\npython train.py\n"},
    ),
    "terminated-timeout": job(
        "SYS022",
        "timeout ends a run that takes too long",
        STEPS + "for step in steps(200):\n    pass\n",
        run="bash run.sh",
        more_files={
            "run.sh": "python train.py &\npid=$!\nsleep 3\nkill $pid\nwait $pid\n"
            'echo "exit code $?"\n'
        },
    ),
    "abort-cpp": job(
        "SYS027",
        "a C++ extension throws and nobody catches",
        """
import ctypes

lib = ctypes.CDLL("./libscore.so")
print("scoring", flush=True)
lib.score()
""",
        run="g++ -shared -fPIC -o libscore.so score.cpp\nbash -c 'python train.py; "
        'echo "exit code $?"\'',
        libs="gcc 12, python 3.11",
        more_files={
            "score.cpp": '#include <stdexcept>\nextern "C" void score() {\n'
            '  throw std::runtime_error("index out of range in score table");\n}\n'
        },
    ),
    "bus-error-mmap": job(
        "SYS023",
        "a mapped weight file is truncated while it is read",
        BUS_ERROR,
        run="bash -c 'python train.py; echo \"exit code $?\"'",
    ),
    "segv-plain": job(
        "SYS023",
        "a null pointer is read through ctypes, without faulthandler",
        "import ctypes\n\nprint('fused update', flush=True)\nctypes.string_at(0)\n",
        run="bash -c 'python train.py; echo \"exit code $?\"'",
    ),
    "illegal-instruction": job(
        "SYS023",
        "native code with an instruction that this CPU does not know",
        "import ctypes\n\nprint('fused update', flush=True)\nctypes.CDLL('./libk.so').kernel()\n",
        run="gcc -shared -fPIC -o libk.so k.c\nbash -c 'python train.py; echo \"exit code $?\"'",
        libs="gcc 12, python 3.11",
        more_files={"k.c": "void kernel(void) { __builtin_trap(); }\n"},
    ),
    "faulthandler-bus-error": job(
        "SYS024",
        "the same mapped file with faulthandler",
        BUS_ERROR,
        run="PYTHONFAULTHANDLER=1 bash -c 'python train.py; echo \"exit code $?\"'",
    ),
    "faulthandler-abort": job(
        "SYS028",
        "os.abort below numpy code with faulthandler, Python 3.13",
        """
import os
import threading


def heartbeat():
    threading.Event().wait(5)


threading.Thread(target=heartbeat, daemon=True).start()
print("abort", flush=True)
os.abort()
""",
        run="bash -c 'python -X faulthandler train.py; echo \"exit code $?\"'",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "python-home-wrong": job(
        "SYS025",
        "PYTHONHOME of another installation",
        run='export PYTHONHOME=/opt/conda/envs/old\npython train.py\necho "exit code $?"',
        more_files={"train.py": "print('hello')\n"},
        venv="bare-3.11",
    ),
    "python-home-wrong-313": job(
        "SYS025",
        "PYTHONHOME of another installation, Python 3.13",
        run='export PYTHONHOME=/opt/conda/envs/old\npython train.py\necho "exit code $?"',
        more_files={"train.py": "print('hello')\n"},
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "memory-error-list": job(
        "SYS060",
        "rows are collected in a list under ulimit -v",
        """
rows = []
for epoch in range(1, 200):
    rows.append(bytearray(16 << 20))
    if epoch % 10 == 0:
        print("loaded", epoch, flush=True)
""",
        run="ulimit -v 1000000\npython train.py",
    ),
    "memory-error-read": job(
        "SYS060",
        "a file is read at once under ulimit -v, Python 3.13",
        """
with open("train.bin", "wb") as f:
    f.truncate(3 << 30)
print("load train.bin", flush=True)
with open("train.bin", "rb") as f:
    data = f.read()
""",
        run="ulimit -v 1500000\npython train.py",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "memory-error-eval": job(
        "PY051",
        "a reward function evaluates an answer that is nested too deeply",
        """
def score(answer):
    return float(eval(answer) == 7)


for answer in ("3+4", "-" * 200000 + "7"):
    print(answer[:8], score(answer), flush=True)
""",
    ),
    "bad-alloc": job(
        "SYS061",
        "C++ code asks for an absurd size under ulimit -v",
        "import ctypes\n\nlib = ctypes.CDLL('./libload.so')\nprint('load index', flush=True)\n"
        "lib.load()\n",
        run="g++ -shared -fPIC -o libload.so load.cpp\nulimit -v 2000000\n"
        "bash -c 'python train.py; echo \"exit code $?\"'",
        libs="gcc 12, python 3.11",
        more_files={
            "load.cpp": '#include <vector>\nextern "C" void load() {\n'
            "  std::vector<std::vector<char>> all;\n  for (;;) all.emplace_back(64 << 20, 1);\n}\n"
        },
    ),
    "keyboard-interrupt": job(
        "SYS062",
        "kill -INT of a training loop",
        STEPS + "for step in steps(400):\n    pass\n",
        run="trap - INT\npython -c 'import signal, runpy; signal.signal(signal.SIGINT, "
        'signal.default_int_handler); runpy.run_path("train.py")\' &\npid=$!\nsleep 3\n'
        'kill -INT $pid\nwait $pid\necho "exit code $?"',
    ),
    "keyboard-interrupt-loader": job(
        "SYS062",
        "kill -INT of a process group with DataLoader workers",
        """
import signal
import time
import torch
from torch.utils.data import DataLoader, Dataset

signal.signal(signal.SIGINT, signal.default_int_handler)


class Slow(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        time.sleep(5 if i > 10 else 0.01)
        return torch.tensor(float(i))


for step, batch in enumerate(DataLoader(Slow(), batch_size=2, num_workers=2), start=1):
    print(f"step:{step} - data {batch.tolist()}", flush=True)
""",
        run="setsid python train.py &\npid=$!\nsleep 25\nkill -INT -- -$pid\nwait $pid\n"
        'echo "exit code $?"',
        libs=TORCH,
    ),
    "command-not-found": job(
        "SYS063",
        "torchrun is called where its environment is not active",
        run='bash run_grpo.sh\necho "exit code $?"',
        more_files={
            "run_grpo.sh": "set -x\nexport HYDRA_FULL_ERROR=1\n"
            "torchrun --standalone --nproc_per_node=8 train_sft.py\n"
        },
        libs="bash 5.2",
        venv="bare-3.11",
    ),
    "command-broken-continuation": job(
        "SYS063",
        "a blank after the backslash of a verl start script",
        run='bash run_grpo.sh\necho "exit code $?"',
        more_files={
            "run_grpo.sh": "python3 -c 'import sys; print(sys.argv[1:])' \\\n"
            "    algorithm.adv_estimator=grpo \\ \n"
            "    data.train_batch_size=256 \\\n"
            "    trainer.total_epochs=1\n"
        },
        libs="bash 5.2",
        venv="bare-3.11",
    ),
    "command-windows-lines": job(
        "SYS063",
        "a start script with Windows line ends",
        run='chmod +x run.sh\n./run.sh\necho "exit code $?"',
        more_files={"run.sh": "#!/bin/bash\r\npython train.py\r\n"},
        libs="bash 5.2",
        venv="bare-3.11",
    ),
    "resource-tracker-leak": job(
        "SYS064",
        "a process with shared memory is asked to end",
        STEPS
        + """
import sys
import signal
from multiprocessing import shared_memory

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
block = shared_memory.SharedMemory(create=True, size=4096)
for step in steps(200):
    pass
""",
        run='python train.py &\npid=$!\nsleep 3\nkill $pid\nwait $pid\necho "exit code $?"\nsleep 1',
    ),
    "file-not-found-prompt": job(
        "SYS013",
        "a system prompt is read from a path of another working directory",
        """
from pathlib import Path


def system_prompt(name):
    return (Path("prompts") / f"{name}.txt").read_text()


print("build the prompts", flush=True)
print(system_prompt("math"))
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "pool-child-exit": job(
        "SYS066",
        "a scoring process of a pool crashes in native code (no SIGKILL), Python 3.13",
        """
import ctypes
from concurrent.futures import ProcessPoolExecutor


def score(i):
    return ctypes.string_at(0) if i == 3 else i


if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        for value in pool.map(score, range(6)):
            print(value, flush=True)
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "memory-error-literal": job(
        "PY051",
        "ast.literal_eval of an answer that is nested too deeply, Python 3.13",
        """
import ast


def score(answer):
    return float(ast.literal_eval(answer) == 7)


for answer in ("7", "-" * 200000 + "7"):
    print(answer[:8], score(answer), flush=True)
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "abort-unordered-map": job(
        "SYS027",
        "a C++ tokenizer throws std::out_of_range for an unknown id",
        """
import ctypes

lib = ctypes.CDLL("./libtok.so")
for ids in (1, 2, 900):
    print("decode", ids, lib.decode(ids), flush=True)
""",
        run='g++ -shared -fPIC -o libtok.so tok.cpp\npython train.py\necho "exit code $?"',
        libs="gcc 12, python 3.11",
        more_files={
            "tok.cpp": "#include <string>\n#include <unordered_map>\n"
            'static std::unordered_map<int, std::string> vocab{{1, "a"}, {2, "bb"}};\n'
            'extern "C" int decode(int id) { return vocab.at(id).size(); }\n'
        },
    ),
    "loader-libpython": job(
        "INS040",
        "a copied interpreter whose libpython is not on the loader's path",
        run="cp $(readlink -f $(which python)) ./python3.13\nchmod 755 python3.13\n"
        "echo 'start the reward server'\n" + AS_NOBODY + "./python3.13 serve.py\n"
        'echo "exit code $?"',
        more_files={"serve.py": "print('hello')\n"},
        libs="python 3.13, glibc 2.36",
        venv="bare-3.13",
    ),
    "loader-program": job(
        "INS040",
        "a helper program that was linked against a library of another folder",
        run="gcc -shared -fPIC -o libfastscore.so.2 -Wl,-soname,libfastscore.so.2 s.c\n"
        "gcc -o fastscore m.c ./libfastscore.so.2\nmkdir lib\nmv libfastscore.so.2 lib/\n"
        "set -x\n./fastscore --input gen.parquet",
        more_files={
            "s.c": "int score(void) { return 1; }\n",
            "m.c": "int score(void);\nint main(void) { return score(); }\n",
        },
        libs="gcc 12, glibc 2.36",
    ),
    "command-windows-blank-lines": job(
        "SYS063",
        "bash reads a start script with Windows line ends",
        run='bash run.sh\necho "exit code $?"',
        more_files={
            "run.sh": "#!/bin/bash\r\n\r\nexport HYDRA_FULL_ERROR=1\r\n"
            "torchrun --nproc_per_node=8 \\\r\n    train.py\r\n"
        },
        libs="bash 5.2",
        venv="bare-3.11",
    ),
    "quota-makedirs": job(
        "SYS009",
        "checkpoints go to a (FUSE) home folder that answers EDQUOT",
        STEPS
        + """
import os

for step in steps(10, 0.02):
    if step % 5 == 0:
        os.makedirs(f"home/ckpt/global_step_{step}", exist_ok=True)
""",
        run=MOUNT.format("home", "8,9,35", 122) + 'python train.py\necho "exit code $?"',
        more_files={"storage.py": STORAGE},
        isolated=True,
    ),
    "quota-open": job(
        "SYS009",
        "a rollout file on a (FUSE) home folder that answers EDQUOT, Python 3.13",
        """
import json

print("dump the generations", flush=True)
with open("home/rollout_20.jsonl", "w") as f:
    f.write(json.dumps({"output": "#### 7"}))
""",
        run=MOUNT.format("home", "8,9,35", 122) + 'python train.py\necho "exit code $?"',
        more_files={"storage.py": STORAGE},
        libs="python 3.13",
        venv="bare-3.13",
        isolated=True,
    ),
    "storage-stale-handle": job(
        "SYS011",
        "a data file on a (FUSE) share whose server answers ESTALE",
        """
import json

print("epoch 1", flush=True)
with open("share/train.jsonl") as f:
    print(len([json.loads(line) for line in f]))
""",
        run=MOUNT.format("share", "14", 116) + 'python train.py\necho "exit code $?"',
        more_files={"storage.py": STORAGE},
        isolated=True,
    ),
    "storage-daemon-died": job(
        "SYS011",
        "the process behind a FUSE mount was killed; the script goes on using the mount",
        STEPS
        + """
import os

for step in steps(10, 0.3):
    os.listdir("bucket") if step > 6 else os.stat("bucket")
""",
        run=MOUNT.format("bucket", "99", 5)
        + 'pid=$!\npython train.py &\nsleep 1\nkill -KILL $pid\nwait $!\necho "exit code $?"',
        more_files={"storage.py": STORAGE},
        isolated=True,
    ),
    "storage-io-error": job(
        "SYS011",
        "a data file on a (FUSE) share whose server answers EIO, Python 3.12",
        """
from pathlib import Path

print("load the tokenizer", flush=True)
print(len(Path("share/tokenizer.json").read_bytes()))
""",
        run=MOUNT.format("share", "14", 5) + 'python train.py\necho "exit code $?"',
        more_files={"storage.py": STORAGE},
        libs="python 3.12",
        venv="bare-3.12",
        isolated=True,
    ),
    "terminal-gone": job(
        "SYS065",
        "a run whose standard output is a terminal that closes; standard error goes to the log",
        STEPS + "for step in steps(200):\n    pass\n",
        run="python terminal.py\nsleep 1\ncat train.err",
        more_files={
            "terminal.py": """
import os
import subprocess
import time

ours, theirs = os.openpty()
with open("train.err", "w") as err:
    run = subprocess.Popen(["python", "train.py"], stdout=theirs, stderr=err)
os.close(theirs)
time.sleep(2)
print(os.read(ours, 200).decode().splitlines()[0], flush=True)
os.close(ours)
print("exit code", run.wait())
"""
        },
    ),
}

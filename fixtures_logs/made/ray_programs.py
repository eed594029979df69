"""How the logs in made/ray were made: one entry a log.

`files` are written into an empty folder, `run` is a shell script that runs in it with the venv's
`bin` first in PATH; its standard output and standard error together are the log. /tmp/ray is empty
at the start, and every process that is left is killed at the end. `old` is the bin folder of the
second venv (Ray 2.40.0, Python 3.10). Nothing here is executed in CI.
"""

LIBS = "ray 2.60.0, python 3.11"


def job(
    rule: str, how: str, train: str = "", run: str = "python train.py", libs: str = LIBS, **more: object
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    files = {"train.py": train} if train else {}
    return {"rule": rule, "how": how, "libraries": libs, "files": files, "run": run, **more}


HEAD = "ray start --head --num-cpus=2 --port=6379 --disable-usage-stats > /dev/null 2>&1\n"

PROGRAMS = {
    "node-died": job(
        "RAY003",
        "an actor on a second node whose raylet is killed between two steps",
        """
import os, signal, subprocess, time
import ray

ray.init(address="auto", log_to_driver=True)

@ray.remote(resources={"node_b": 1}, max_restarts=0)
class WorkerDict:
    def update_actor(self, step):
        time.sleep(0.3)
        return {"actor/grad_norm": 0.3 + 0.01 * step}

wg = WorkerDict.remote()
for step in range(1, 4):
    out = ray.get(wg.update_actor.remote(step))
    print(f"step:{step} - actor/grad_norm:{out['actor/grad_norm']:.3f}", flush=True)
pid = int(subprocess.check_output(["pgrep", "-f", "raylet/raylet .*node_b"]).split()[0])
os.kill(pid, signal.SIGKILL)
time.sleep(20)
ray.get(wg.update_actor.remote(4))
""",
        HEAD
        + "ray start --address=192.0.2.2:6379 --num-cpus=1 --resources='{\"node_b\": 1}' > /dev/null"
        " 2>&1\npython train.py",
    ),
    "node-marked-dead": job(
        "RAY007",
        "the raylet of a second node is stopped (SIGSTOP), as a frozen host would be",
        """
import os, signal, subprocess, time
import ray

ray.init(address="auto")

@ray.remote(num_cpus=0, resources={"node_b": 1})
class RolloutWorker:
    def generate(self, n):
        time.sleep(1)
        return n

w = RolloutWorker.remote()
print("generated", ray.get(w.generate.remote(8)), flush=True)
pid = int(subprocess.check_output(["pgrep", "-f", "raylet/raylet .*node_b"]).split()[0])
os.kill(pid, signal.SIGSTOP)
for i in range(60):
    print("generated", ray.get(w.generate.remote(8)), flush=True)
""",
        "export RAY_health_check_timeout_ms=1000 RAY_health_check_period_ms=1000"
        " RAY_health_check_initial_delay_ms=0 RAY_health_check_failure_threshold=3\n" + HEAD
        + "ray start --address=192.0.2.2:6379 --num-cpus=1 --resources='{\"node_b\": 1}' > /dev/null"
        " 2>&1\npython train.py",
    ),
    "actor-owner-died": job(
        "RAY004",
        "a task runner actor that owns a worker exits; the driver calls the worker",
        """
import os, time
import ray

ray.init(num_cpus=3)

@ray.remote
class RewardLoopWorker:
    def score(self, text):
        return 1.0

@ray.remote
class TaskRunner:
    def create(self):
        self.worker = RewardLoopWorker.remote()
        ray.get(self.worker.score.remote("a"))
        return self.worker

    def run(self):
        os._exit(1)

runner = TaskRunner.remote()
worker = ray.get(runner.create.remote())
print("score", ray.get(worker.score.remote("b")), flush=True)
runner.run.remote()
time.sleep(3)
print("score", ray.get(worker.score.remote("c")), flush=True)
""",
    ),
    "actor-killed-by-ray-kill": job(
        "RAY004",
        "ray.kill of a worker that is called once more",
        """
import ray

ray.init(num_cpus=2)

@ray.remote
class CheckpointWorker:
    def save(self, step):
        return step

w = CheckpointWorker.remote()
print("saved", ray.get(w.save.remote(10)), flush=True)
ray.kill(w)
print("saved", ray.get(w.save.remote(20)), flush=True)
""",
    ),
    "actor-init-raises": job(
        "RAY005",
        "an actor whose __init__ reads a file that does not exist",
        """
import json
import ray

ray.init(num_cpus=2)

@ray.remote
class RewardModelWorker:
    def __init__(self, path):
        with open(path) as f:
            self.config = json.load(f)

    def score(self, text):
        return 0.5

worker = RewardModelWorker.remote("/data/models/reward/config.json")
print(ray.get(worker.score.remote("x")))
""",
    ),
    "task-worker-crashed": job(
        "RAY009",
        "a task whose process gets SIGKILL, without retries",
        """
import os, signal
import ray

ray.init(num_cpus=2)

@ray.remote(max_retries=0)
def compute_score(i):
    if i == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(i)

scores = [compute_score.remote(i) for i in range(4)]
for s in scores:
    print("score", ray.get(s), flush=True)
""",
    ),
    "memory-monitor-oom": job(
        "RAY010",
        "an actor that keeps every batch; Ray's memory monitor at a low threshold kills it",
        """
import ray, time

ray.init(num_cpus=2)

@ray.remote(max_restarts=0)
class ReplayBuffer:
    def __init__(self):
        self.kept = []

    def add(self, step):
        self.kept.append(bytearray(b"x" * (400 << 20)))
        time.sleep(0.3)
        return len(self.kept)

buffer = ReplayBuffer.remote()
for step in range(1, 40):
    print("step", step, "kept", ray.get(buffer.add.remote(step)), flush=True)
""",
        "export RAY_memory_usage_threshold=0.25 RAY_memory_monitor_refresh_ms=100\npython train.py",
    ),
    "memory-monitor-oom-task": job(
        "RAY010",
        "a task that loads too much, killed by Ray's memory monitor and not retried",
        """
import ray, time

ray.init(num_cpus=2)

@ray.remote(max_retries=0)
def tokenize(shard):
    rows = []
    for _ in range(30):
        rows.append(bytearray(b"x" * (400 << 20)))
        time.sleep(0.3)
    return len(rows)

print(ray.get(tokenize.remote(0)))
""",
        "export RAY_memory_usage_threshold=0.25 RAY_memory_monitor_refresh_ms=100\npython train.py",
    ),
    "memory-pressure-kills": job(
        "RAY011",
        "tasks that load too much are killed and retried; the raylet sums up after a minute",
        """
import ray, time

ray.init(num_cpus=2)

@ray.remote(max_retries=2)
def tokenize(shard):
    rows = []
    for _ in range(30):
        rows.append(bytearray(b"x" * (400 << 20)))
        time.sleep(0.3)
    return len(rows)

ref = tokenize.remote(0)
ready, _ = ray.wait([ref], timeout=95)
print("ready" if ready else "still waiting", flush=True)
""",
        "export RAY_memory_usage_threshold=0.25 RAY_memory_monitor_refresh_ms=100\npython train.py",
    ),
    "version-mismatch": job(
        "RAY019",
        "a cluster of Ray 2.60 and Python 3.11, joined by a driver of Ray 2.60 and Python 3.12",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        HEAD + "$py312/python train.py",
        "ray 2.60.0, python 3.11 and 3.12",
    ),
    "old-client-new-cluster": job(
        "RAY060",
        "a cluster of Ray 2.60 and Python 3.11, joined by a driver of Ray 2.40 and Python 3.10",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        HEAD + "$old/python train.py",
        "ray 2.60.0 and ray 2.40.0, python 3.11 and 3.10",
    ),
    "register-worker-failed": job(
        "RAY020",
        "a driver joins a cluster whose socket files a clean-up job removed from /tmp",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        HEAD + "rm /tmp/ray/session_latest/sockets/raylet*\npython train.py",
    ),
    "raylet-agent-failed": job(
        "RAY021",
        "the dashboard agent of the node is killed; the raylet goes with it",
        """
import subprocess, time
import ray

ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def step(self, i):
        time.sleep(1)
        return i

w = WorkerDict.remote()
print("step", ray.get(w.step.remote(0)), flush=True)
subprocess.run(["pkill", "-9", "-f", "^ray::DashboardAgent"], check=True)
for i in range(20):
    print("step", ray.get(w.step.remote(i)), flush=True)
""",
    ),
    "gcs-port-taken": job(
        "RAY022",
        "ray start --head on a port that another program listens on",
        run="python -m http.server 6379 > /dev/null 2>&1 &\nsleep 2\n"
        "ray start --head --port=6379 --disable-usage-stats",
    ),
    "placement-group-removed": job(
        "RAY027",
        "a placement group is removed while an actor and a task use it",
        """
import time
import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

ray.init(num_cpus=2)
pg = placement_group([{"CPU": 1}, {"CPU": 1}])
ray.get(pg.ready())
strategy = PlacementGroupSchedulingStrategy(placement_group=pg, placement_group_bundle_index=0)

@ray.remote(num_cpus=1)
class WorkerDict:
    def generate_sequences(self):
        time.sleep(0.2)
        return 1

w = WorkerDict.options(scheduling_strategy=strategy).remote()
print("generated", ray.get(w.generate_sequences.remote()), flush=True)
remove_placement_group(pg)
time.sleep(2)
print("generated", ray.get(w.generate_sequences.remote()), flush=True)
""",
    ),
    "placement-group-removed-task": job(
        "RAY027",
        "a task waits for a bundle of a placement group that is then removed",
        """
import time
import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

ray.init(num_cpus=2)
pg = placement_group([{"CPU": 1}])
ray.get(pg.ready())
strategy = PlacementGroupSchedulingStrategy(placement_group=pg)

@ray.remote(num_cpus=1)
def score(i):
    time.sleep(30)
    return i

refs = [score.options(scheduling_strategy=strategy, max_retries=0).remote(i) for i in range(2)]
time.sleep(2)
remove_placement_group(pg)
print(ray.get(refs[1]))
""",
    ),
    "runtime-env-pip-failed": job(
        "RAY030",
        "a runtime_env with a pip package that no index has",
        """
import ray

ray.init(num_cpus=2, runtime_env={"pip": ["latex2sympy-verl-internal==9.9.9"]})

@ray.remote
def score():
    import latex2sympy
    return 1.0

print(ray.get(score.remote()))
""",
        "export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null; unset PIP_FIND_LINKS\npython train.py",
    ),
    "working-dir-too-large": job(
        "RAY031",
        "a working_dir that holds a checkpoint of 600 MB",
        """
import ray
ray.init(num_cpus=2, runtime_env={"working_dir": "."})
""",
        "mkdir ckpt; head -c 600M /dev/urandom > ckpt/model.safetensors\npython train.py\nrm -r ckpt",
    ),
    "actor-name-taken": job(
        "RAY033",
        "two workers get the same name",
        """
import ray

ray.init(num_cpus=2)

@ray.remote(num_cpus=0.1)
class WorkerDict:
    def ping(self):
        return 1

a = WorkerDict.options(name="actor_rollout_0:0").remote()
ray.get(a.ping.remote())
b = WorkerDict.options(name="actor_rollout_0:0").remote()
""",
    ),
    "actor-lookup-failed": job(
        "RAY034",
        "ray.get_actor with a name that nobody registered",
        """
import ray

ray.init(num_cpus=2)
register_center = ray.get_actor("n7Xw2u_register_center")
""",
    ),
    "serialize-put-lock": job(
        "RAY035",
        "ray.put of an object that holds a lock",
        """
import threading
import ray

class Tracker:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = []

ray.init(num_cpus=2)
ref = ray.put({"tracker": Tracker(), "step": 1})
""",
    ),
    "serialize-argument": job(
        "RAY035",
        "an open database connection as the argument of a remote method",
        """
import sqlite3
import ray

ray.init(num_cpus=2)

@ray.remote
class RewardWorker:
    def score(self, db, text):
        return 1.0

w = RewardWorker.remote()
print(ray.get(w.score.remote(sqlite3.connect("cache.db"), "x")))
""",
    ),
    "serialize-function": job(
        "RAY035",
        "a remote function that closes over a generator",
        """
import ray

ray.init(num_cpus=2)
rows = (line for line in open("train.py"))

@ray.remote
def process():
    return next(rows)

print(ray.get(process.remote()))
""",
    ),
    "unhandled-error": job(
        "RAY039",
        "a task whose result nobody fetches raises",
        """
import time
import ray

ray.init(num_cpus=2)

@ray.remote
def dump_generations(step):
    raise OSError(28, "No space left on device", f"/data/rollout/{step}.jsonl")

for step in range(1, 4):
    dump_generations.remote(step)
    time.sleep(1)
    print(f"step:{step} - actor/grad_norm:0.31 - critic/score/mean:0.4", flush=True)
time.sleep(2)
""",
    ),
    "init-twice": job(
        "RAY040",
        "ray.init in the launcher and again in the function it calls",
        """
import ray

def run_ppo():
    ray.init(runtime_env={"env_vars": {"TOKENIZERS_PARALLELISM": "true"}}, num_cpus=2)

ray.init(num_cpus=2)
run_ppo()
""",
    ),
    "resources-on-existing-cluster": job(
        "RAY041",
        "ray.init(num_cpus=…) while RAY_ADDRESS points to a running cluster",
        """
import ray
ray.init(num_cpus=8, num_gpus=8)
""",
        HEAD + "export RAY_ADDRESS=192.0.2.2:6379\npython train.py",
    ),
}

PROGRAMS.update({
    "node-ip-not-in-cluster": job(
        "RAY043",
        "a driver that joins under an IP that no node of the cluster has",
        """
import ray
ray.init(address="192.0.2.2:6379", _node_ip_address="10.1.2.3")
""",
        HEAD + "python train.py",
    ),
    "join-without-raylet": job(
        "RAY043",
        "the raylet was killed and a driver joins the cluster that is left",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        HEAD + "pkill -9 -f raylet/raylet; sleep 1\npython train.py",
    ),
    "object-lost": job(
        "RAY044",
        "the only copy of a rollout batch lies on a node whose raylet is killed",
        """
import os, signal, subprocess, time
import numpy as np
import ray

ray.init(address="auto")

@ray.remote(resources={"node_b": 0.1}, max_retries=0)
def generate(n):
    return np.zeros(n, dtype=np.float32)

ref = generate.remote(4 * 1024 * 1024)
ray.wait([ref], fetch_local=False)
print("generated", flush=True)
pid = int(subprocess.check_output(["pgrep", "-f", "raylet/raylet .*node_b"]).split()[0])
os.kill(pid, signal.SIGKILL)
time.sleep(10)
print(ray.get(ref).mean())
""",
        HEAD
        + "ray start --address=192.0.2.2:6379 --num-cpus=1 --resources='{\"node_b\": 1}' > /dev/null"
        " 2>&1\npython train.py",
    ),
    "local-raylet-died": job(
        "RAY045",
        "the raylet of the node is killed while tasks run",
        """
import os, signal, subprocess, time
import ray

ray.init(num_cpus=2)

@ray.remote(max_retries=0)
def score(i):
    time.sleep(5)
    return i

refs = [score.remote(i) for i in range(6)]
time.sleep(2)
pid = int(subprocess.check_output(["pgrep", "-f", "raylet/raylet "]).split()[0])
os.kill(pid, signal.SIGKILL)
print(ray.get(refs))
""",
    ),
    "no-thread": job(
        "RAY046",
        "ray.init of an ordinary user whose limit of processes is low",
        """
import ray
ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def ping(self):
        return 1

print(ray.get([WorkerDict.options(num_cpus=0.1).remote().ping.remote() for _ in range(8)]))
""",
        "chmod 777 /tmp/ray /dev/shm . /home/user; ulimit -u 40\n"
        "setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user python train.py",
    ),
    "auth-token": job(
        "RAY047",
        "a cluster with token authentication, joined with another token",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        "export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=0123456789abcdef0123456789abcdef\n" + HEAD
        + "export RAY_AUTH_TOKEN=fedcba9876543210fedcba9876543210\npython train.py",
    ),
    "auth-token-missing": job(
        "RAY047",
        "a cluster with token authentication, joined without a token",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        "export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=0123456789abcdef0123456789abcdef\n" + HEAD
        + "unset RAY_AUTH_TOKEN\npython train.py",
    ),
    "dev-shm-small": job(
        "RAY048",
        "ray.init with a /dev/shm of 64 MB, as Docker gives by default; the run itself is fine",
        """
import ray

ray.init(num_cpus=2)

@ray.remote
def step(i):
    return 0.3 + i / 100

for i in range(1, 4):
    print(f"step:{i} - actor/grad_norm:{ray.get(step.remote(i))}", flush=True)
""",
        shm="64m",
    ),
    "store-below-minimum": job(
        "RAY049",
        "ray.init with an object store of 10 MB",
        """
import ray
ray.init(num_cpus=2, object_store_memory=10 * 1024 * 1024)
""",
    ),
    "session-name": job(
        "RAY050",
        "ray start --head on the port of a cluster that still runs",
        run=HEAD + "ray start --head --port=6379 --temp-dir=/tmp/ray/second --disable-usage-stats\n"
        "ray start --head --port=6379 --disable-usage-stats",
    ),
    "socket-path-too-long": job(
        "RAY051",
        "ray.init with a temp dir deep in a home folder",
        """
import os
import ray

folder = os.path.abspath("experiments/qwen2.5-7b-grpo-gsm8k-lr1e-6-kl0.001/ray_tmp")
os.makedirs(folder, exist_ok=True)
ray.init(num_cpus=2, _temp_dir=folder)
""",
    ),
    "tmp-ray-permission": job(
        "RAY052",
        "ray.init of a user on a machine where another user owns /tmp/ray",
        """
import ray
ray.init(num_cpus=2)
""",
        "chmod 755 /tmp/ray\n"
        "setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user python train.py",
    ),
    "actor-unavailable": job(
        "RAY053",
        "a restartable actor is killed and called at once",
        """
import os, signal, time
import ray

ray.init(num_cpus=2)

@ray.remote(max_restarts=1, max_task_retries=0)
class RewardWorker:
    def pid(self):
        return os.getpid()

    def score(self, text):
        time.sleep(3)
        return 1.0

w = RewardWorker.remote()
pid = ray.get(w.pid.remote())
ref = w.score.remote("x")
time.sleep(1)
os.kill(pid, signal.SIGKILL)
print(ray.get(ref))
""",
    ),
    "client-unreachable": job(
        "RAY055",
        "ray.init('ray://…') where no Ray Client server listens",
        """
import ray
ray.init("ray://192.0.2.2:10001")
""",
    ),
    "runtime-env-conflict": job(
        "RAY056",
        "ray job submit with a runtime env whose variable the driver's ray.init sets too",
        """
import ray

ray.init(runtime_env={"env_vars": {"TOKENIZERS_PARALLELISM": "true", "NCCL_DEBUG": "WARN"}})
print(ray.cluster_resources())
""",
        "ray start --head --num-cpus=2 --port=6379 --disable-usage-stats > /dev/null 2>&1\nsleep 5\n"
        "ray job submit --address http://127.0.0.1:8265"
        " --runtime-env-json '{\"env_vars\": {\"TOKENIZERS_PARALLELISM\": \"false\"}}'"
        " -- python $PWD/train.py",
    ),
    "task-unschedulable": job(
        "RAY057",
        "a task with hard affinity to a node that is gone",
        """
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

ray.init(num_cpus=2)

@ray.remote
def score(i):
    return i

gone = "3b1f7f1f0a5c4f0a9d2c6b7e8a9f0b1c2d3e4f5a6b7c8d9e0f1a2b3c"
where = NodeAffinitySchedulingStrategy(node_id=gone, soft=False)
print(ray.get(score.options(scheduling_strategy=where).remote(1)))
""",
    ),
    "actor-unschedulable": job(
        "RAY057",
        "an actor with hard affinity to a node that is gone",
        """
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

ray.init(num_cpus=2)

@ray.remote
class vLLMHttpServer:
    def ping(self):
        return 1

gone = "3b1f7f1f0a5c4f0a9d2c6b7e8a9f0b1c2d3e4f5a6b7c8d9e0f1a2b3c"
where = NodeAffinitySchedulingStrategy(node_id=gone, soft=False)
server = vLLMHttpServer.options(scheduling_strategy=where).remote()
print(ray.get(server.ping.remote()))
""",
    ),
    "task-cancelled": job(
        "RAY058",
        "a slow reward task is cancelled after a time limit and then read",
        """
import time
import ray

ray.init(num_cpus=2)

@ray.remote
def score(text):
    time.sleep(60)
    return 1.0

ref = score.remote("x")
ready, waiting = ray.wait([ref], timeout=3)
for one in waiting:
    ray.cancel(one)
print(ray.get(ref))
""",
    ),
    "gcs-never-answered": job(
        "RAY017",
        "ray.init with the address of a head that is not up",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        "export RAY_gcs_server_request_timeout_seconds=5\npython train.py",
    ),
    "native-segfault": job(
        "RAY062",
        "an actor that reads from address 0 in native code",
        """
import ctypes
import ray

ray.init(num_cpus=2)

@ray.remote
class RewardWorker:
    def score(self, step):
        if step == 3:
            ctypes.string_at(0)
        return 1.0

w = RewardWorker.remote()
for step in range(1, 6):
    print(f"step:{step} - critic/score/mean:{ray.get(w.score.remote(step))}", flush=True)
""",
    ),
    "native-bus-error": job(
        "RAY062",
        "an actor reads a memory-mapped file that was cut short meanwhile",
        """
import mmap, os
import ray

ray.init(num_cpus=2)

@ray.remote
class DataWorker:
    def __init__(self, path):
        with open(path, "wb") as f:
            f.write(bytes(1 << 20))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 1 << 20)

    def read(self, at):
        os.ftruncate(self.file.fileno(), 4096)
        return self.map[at]

w = DataWorker.remote(os.path.abspath("shard.bin"))
print(ray.get(w.read.remote(900_000)))
""",
    ),
    "native-abort": job(
        "RAY063",
        "an actor whose native code calls abort() in its second step",
        """
import ctypes
import ray

ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def update_actor(self, step):
        if step == 2:
            ctypes.CDLL(None).abort()
        return 0.3

w = WorkerDict.remote()
for step in range(1, 4):
    print(f"step:{step} - actor/grad_norm:{ray.get(w.update_actor.remote(step))}", flush=True)
""",
    ),
    "raylet-killed": job(
        "RAY064",
        "the raylet of a single-node run is killed between two steps",
        """
import os, signal, subprocess, time
import ray

ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def update_actor(self, step):
        time.sleep(1)
        return 0.3

w = WorkerDict.remote()
for step in range(1, 12):
    print(f"step:{step} - actor/grad_norm:{ray.get(w.update_actor.remote(step))}", flush=True)
    if step == 3:
        pid = int(subprocess.check_output(["pgrep", "-f", "raylet/raylet "]).split()[0])
        os.kill(pid, signal.SIGKILL)
""",
    ),
    "head-unreachable": job(
        "RAY065",
        "ray start --address of a head that is not up",
        run="ray start --address=192.0.2.2:6379 --disable-usage-stats",
        timeout=200,
    ),
    "called-directly": job(
        "RAY066",
        "an actor class is called without .remote",
        """
import ray

ray.init(num_cpus=2)

@ray.remote
class TaskRunner:
    def run(self, config):
        return config

runner = TaskRunner()
""",
    ),
    "function-called-directly": job(
        "RAY066",
        "a remote function is called without .remote",
        """
import ray

ray.init(num_cpus=2)

@ray.remote(num_cpus=1)
def main_task(config):
    return config

main_task({"trainer": {"nnodes": 1}})
""",
    ),
    "method-called-directly": job(
        "RAY066",
        "an actor's method is called without .remote",
        """
import ray

ray.init(num_cpus=2)

@ray.remote
class TaskRunner:
    def run(self, config):
        return config

runner = TaskRunner.remote()
runner.run({})
""",
    ),
    "sigterm": job(
        "RAY067",
        "the driver gets SIGTERM, as from a scheduler",
        """
import time
import ray

ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def update_actor(self, step):
        time.sleep(1)
        return 0.3

w = WorkerDict.remote()
for step in range(1, 60):
    print(f"step:{step} - actor/grad_norm:{ray.get(w.update_actor.remote(step))}", flush=True)
""",
        "python train.py &\nsleep 15; kill -TERM $!; wait $!; echo \"exit code $?\"",
    ),
})

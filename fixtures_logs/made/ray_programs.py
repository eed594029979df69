"""How the logs in made/ray were made: one entry a log.

`files` are written into an empty folder, `run` is a shell script that runs in it with the venv's
`bin` first in PATH; its standard output and standard error together are the log. /tmp/ray is empty
at the start, and every process that is left is killed at the end. `old` is the bin folder of the
second venv (Ray 2.40.0, Python 3.10). Nothing here is executed in CI.
"""

LIBS = "ray 2.60.0, python 3.11"


def job(
    rule: str, how: str, train: str = "", run: str = "python train.py", libs: str = LIBS, **more: str
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
        HEAD
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
    "workers-crashed-summary": job(
        "RAY012",
        "a task that kills itself again and again; the raylet sums up after a minute",
        """
import os, signal, time
import ray

ray.init(num_cpus=2)

@ray.remote(max_retries=3)
def compute_score(i):
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)

refs = [compute_score.remote(i) for i in range(3)]
time.sleep(75)
print(ray.get(refs))
""",
    ),
    "object-store-full": job(
        "RAY013",
        "100 MB of object store without spilling, and a batch that does not fit",
        """
import numpy as np
import ray

ray.init(num_cpus=1, object_store_memory=100 * 1024 * 1024,
         _system_config={"automatic_object_spilling_enabled": False})
refs = []
for step in range(10):
    batch = np.zeros(30 * 1024 * 1024, dtype=np.uint8)
    refs.append(ray.put(batch))
    print("put batch", step, flush=True)
""",
    ),
    "version-mismatch": job(
        "RAY019",
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
        "the raylet was killed and the driver joins the cluster that is left",
        """
import ray
ray.init(address="192.0.2.2:6379")
""",
        HEAD + "pkill -9 -f raylet/raylet; sleep 1\npython train.py",
    ),
    "raylet-agent-failed": job(
        "RAY021",
        "the dashboard agent of the node is killed; the raylet goes with it",
        """
import os, signal, subprocess, time
import ray

ray.init(num_cpus=2)

@ray.remote
class WorkerDict:
    def step(self, i):
        time.sleep(1)
        return i

w = WorkerDict.remote()
print("step", ray.get(w.step.remote(0)), flush=True)
pid = int(subprocess.check_output(["pgrep", "-f", "dashboard/agent.py"]).split()[0])
os.kill(pid, signal.SIGKILL)
for i in range(20):
    print("step", ray.get(w.step.remote(i)), flush=True)
""",
        "python train.py; tail -n 12 /tmp/ray/session_latest/logs/raylet.out",
    ),
    "gcs-port-taken": job(
        "RAY022",
        "ray start --head on a port that another program listens on",
        run="python -m http.server 6379 > /dev/null 2>&1 &\nsleep 2\n"
        "ray start --head --port=6379 --disable-usage-stats",
    ),
    "node-startup-timeout": job(
        "RAY022",
        "ray.init with the waiting time for the raylet cut to a fraction of a second",
        """
import ray
ray.init(num_cpus=2)
""",
        "export RAY_raylet_start_wait_time_s=0\npython train.py",
    ),
    "cannot-be-scheduled-now": job(
        "RAY024",
        "workers of one CPU each on a machine whose CPUs are all held",
        """
import time
import ray

ray.init(num_cpus=2)

@ray.remote(num_cpus=1)
class WorkerDict:
    def init_model(self):
        return "ok"

workers = [WorkerDict.remote() for _ in range(4)]
print("created", len(workers), flush=True)
ready, waiting = ray.wait([w.init_model.remote() for w in workers], num_returns=4, timeout=70)
print("ready", len(ready), "waiting", len(waiting), flush=True)
""",
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
        "export PIP_NO_INDEX=1\npython train.py",
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

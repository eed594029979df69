"""How the logs of the Python rules in made/python were made: one entry a log.

`files` are written into an empty folder, `run` is a bash script that runs in it with the bin folder
of `venv` (or the folder `path`) first in PATH and an empty standard input; its standard output and
standard error together are the log. `venv: main` holds everything that `libraries` names,
`bare-3.x` is an empty environment of that Python (numpy in 3.9 and 3.10), `npmix` has packages of
numpy 1 beside numpy 2. `setup` runs before, unseen. With `isolated` it runs in a mount, network and
process name space of its own, so that Ray finds nobody else. Nothing here is executed in CI.
"""

LIBS = "verl 0.9.1, ray 2.60.0, torch 2.13.0, transformers 4.57.6, numpy 2.3.5, python 3.11"
TORCH = "torch 2.13.0, numpy 2.3.5, python 3.11"

ROWS = """
import pandas as pd

good = "There are 4 apples and 3 more. #### 7"
rows = []
for i in range(6):
    rows.append({
        "data_source": "my/school_math",
        "prompt": [{"role": "user", "content": f"Question {i}"}],
        "responses": [good, ODD if i == 3 else good],
        "reward_model": {"style": "rule", "ground_truth": "7"},
    })
pd.DataFrame(rows).to_parquet("gen.parquet")
"""
EVAL = (
    "python3 make_rows.py\n"
    "python3 -m verl.trainer.main_eval data.path=gen.parquet ray_kwargs.ray_init.num_cpus=2 "
    "+reward.custom_reward_function.path=reward.py "
    "+reward.custom_reward_function.name=compute_score\n"
    'echo "exit code $?"'
)


def job(
    rule: str,
    how: str,
    train: str = "",
    run: str = "python train.py",
    libs: str = TORCH,
    **more: object,
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    files = {"train.py": train} if train else {}
    files.update(more.pop("more_files", {}))  # type: ignore[call-overload]
    return {"rule": rule, "how": how, "libraries": libs, "files": files, "run": run, **more}


def evaluation(rule: str, how: str, odd: str, reward: str) -> dict[str, object]:
    """verl's offline evaluation with a reward function of the user; row 3 holds an odd response."""
    return job(
        rule,
        f"verl.trainer.main_eval with a custom reward function: {how}",
        run=EVAL,
        libs=LIBS,
        isolated=True,
        more_files={"make_rows.py": ROWS.replace("ODD", repr(odd)), "reward.py": reward},
    )


PROGRAMS = {
    "env-local-rank": job(
        "PY002",
        "a FSDP script that reads LOCAL_RANK, started with python instead of torchrun",
        """
import os
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def setup():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.manual_seed(1 + local_rank)
    dist.init_process_group("gloo")
    return init_device_mesh("cpu", (dist.get_world_size(),)), local_rank


def main():
    print(f"torch {torch.__version__}", flush=True)
    mesh, local_rank = setup()
    print(mesh)


main()
""",
    ),
    "env-judge-key": job(
        "PY002",
        "a reward function that reads an API key from the environment of the job, Python 3.10",
        run="python prepare.py --split train",
        libs="python 3.10",
        venv="bare-3.10",
        more_files={
            "prepare.py": """
import argparse
import judge

parser = argparse.ArgumentParser()
parser.add_argument("--split")
args = parser.parse_args()
print("split", args.split, flush=True)
print(judge.client().score("1+1", "2"))
""",
            "judge.py": """
import os


class Client:
    def __init__(self, base_url, key):
        self.base_url, self.key = base_url, key


def client():
    return Client("http://127.0.0.1:8000/v1", os.environ["JUDGE_API_KEY"])
""",
        },
    ),
    "reward-index-error": evaluation(
        "PY003",
        "findall finds no '####' in one response and [0] is taken",
        "I do not know.",
        """
import re


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    answer = re.findall(r"#### (-?[0-9]+)", solution_str)[0]
    return 1.0 if answer == ground_truth else 0.0
""",
    ),
    "dataloader-index-error": job(
        "PY003",
        "a dataset whose index list belongs to a larger file, read by DataLoader workers",
        """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Rollouts(Dataset):
    def __init__(self, scores, keep):
        self.scores, self.keep = scores, keep

    def __len__(self):
        return len(self.keep)

    def __getitem__(self, i):
        return torch.tensor(self.scores[self.keep[i]])


rng = np.random.default_rng(0)
data = Rollouts(rng.random(48), np.arange(64))
for step, batch in enumerate(DataLoader(data, batch_size=8, num_workers=2), start=1):
    print(f"step:{step} - critic/score/mean:{batch.mean().item():.4f}", flush=True)
""",
    ),
    "reward-none-group": job(
        "PY004",
        "a process pool scores answers; re.search finds nothing in one of them",
        """
import re
from multiprocessing import Pool


def score(answer):
    value = re.search(r"boxed{(.*?)}", answer).group(1)
    return float(value == "42")


if __name__ == "__main__":
    answers = [r"so \\boxed{42}", r"thus \\boxed{41}", "I give up", r"\\boxed{42}"] * 4
    with Pool(2) as pool:
        rewards = pool.map(score, answers, chunksize=2)
    print("critic/rewards/mean", sum(rewards) / len(rewards))
""",
    ),
    "hf-object-attribute": job(
        "PY005",
        "a modelling file written for an older transformers asks a cache for a removed method",
        run="python sample.py",
        libs="transformers 4.57.6, torch 2.13.0, python 3.11",
        more_files={
            "sample.py": """
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from modeling_my_llama import prune

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
)
model = LlamaForCausalLM(config)
print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
ids = torch.randint(0, 64, (2, 8))
out = model(ids, use_cache=True)
print("logits", tuple(out.logits.shape), flush=True)
prune(out.past_key_values)
""",
            "modeling_my_llama.py": """
def prune(cache):
    max_length = cache.get_max_length()
    seen = cache.get_seq_length()
    return seen if max_length is None else min(seen, max_length)
""",
        },
    ),
    "module-attribute-pyarrow": job(
        "PY006",
        "datasets 2.14.6 imported beside pyarrow 26, which removed PyExtensionType",
        """
from datasets import load_dataset

train = load_dataset("json", data_files={"train": "train.jsonl"}, split="train")
print(train)
""",
        run='pip install -q --no-deps --no-index --target old "$V"/dl/datasets-2.14.6-*.whl\n'
        "PYTHONPATH=old python train.py",
        libs="datasets 2.14.6, pyarrow 26.0.1, python 3.11",
        more_files={"train.jsonl": '{"question": "1+1", "answer": "2"}\n'},
    ),
    "config-unexpected-keyword": job(
        "CFG009",
        "a key that verl's actor config does not have is added with + and turned into the dataclass",
        """
import hydra
from omegaconf import OmegaConf

from verl.utils.config import omega_conf_to_dataclass


@hydra.main(config_path="pkg://verl.trainer.config", config_name="ppo_trainer", version_base=None)
def main(config):
    print(OmegaConf.to_yaml(config.actor_rollout_ref.actor.optim), flush=True)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    print(actor.ppo_mini_batch_size)


main()
""",
        run="python train.py +actor_rollout_ref.actor.ppo_clip_ratio=0.2 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
        "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.name=vllm",
        libs="verl 0.9.1, hydra-core 1.3.8, python 3.11",
    ),
    "hf-unexpected-keyword": job(
        "PY007",
        "a script for another transformers calls a trainer class with an argument that it lacks",
        """
from transformers import TrainingArguments

args = TrainingArguments(
    output_dir="out", per_device_train_batch_size=2, evaluation_strategy="steps", report_to="none"
)
print(args.learning_rate)
""",
        libs="transformers 4.57.6, torch 2.13.0, python 3.11",
    ),
    "reward-wrong-arguments": evaluation(
        "PY008",
        "compute_score takes two parameters and verl gives three",
        "nothing",
        """
def compute_score(solution_str, ground_truth):
    return 1.0 if solution_str.rstrip().endswith(ground_truth) else 0.0
""",
    ),
    "missing-argument": job(
        "PY008",
        "a collate function with a second required parameter is given to a DataLoader",
        """
import torch
from torch.utils.data import DataLoader


def collate(rows, pad_token_id):
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_token_id)


rows = [torch.arange(n) for n in (3, 5, 2, 4)]
for batch in DataLoader(rows, batch_size=2, collate_fn=collate):
    print(batch.shape)
""",
    ),
    "data-null-messages": job(
        "PY009",
        "datasets.map over a jsonl in which one row has null instead of messages",
        """
import json
from datasets import load_dataset

with open("sft.jsonl", "w") as f:
    for i in range(40):
        messages = [{"role": "user", "content": f"q{i}"}, {"role": "assistant", "content": "a"}]
        f.write(json.dumps({"messages": None if i == 25 else messages}) + "\\n")

data = load_dataset("json", data_files="sft.jsonl", split="train")
print(data, flush=True)


def to_prompt(row):
    turns = [f"<|{m['role']}|>{m['content']}" for m in row["messages"]]
    return {"text": "".join(turns)}


print(data.map(to_prompt)[0])
""",
        libs="datasets 5.0.1, python 3.11",
    ),
    "rename-none-path": job(
        "PY009",
        "a path that is null in the config reaches os.path.join",
        """
import os
import yaml

config = yaml.safe_load(open("sft.yaml"))
print("config", config, flush=True)
model = os.path.join(config["model"]["path"], "config.json")
print(os.path.exists(model))
""",
        libs="PyYAML 6.0.4, python 3.11",
        more_files={"sft.yaml": "model:\n  path:\ndata:\n  max_length: 512\n"},
    ),
    "optim-lr-is-text": job(
        "CFG018",
        "a yaml holds lr: 1e-6, which PyYAML reads as text, and AdamW compares it with a number",
        """
import torch
import yaml

config = yaml.safe_load(open("sft.yaml"))
model = torch.nn.Linear(8, 8)
print("optim", config["optim"], flush=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=config["optim"]["lr"])
""",
        more_files={"sft.yaml": "optim:\n  lr: 1e-6\n  weight_decay: 0.01\n"},
    ),
    "prompt-is-text": job(
        "PY010",
        "the prompt column holds text, and the preprocessing takes it for a list of messages",
        """
from datasets import Dataset

rows = [{"prompt": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(8)]
data = Dataset.from_list(rows)
print(data, flush=True)
print(data.map(lambda row: {"question": row["prompt"][0]["content"]})[0])
""",
        libs="datasets 5.0.1, python 3.11",
    ),
    "json-extra-data": job(
        "PY012",
        "json.load on a file with one JSON value a line",
        """
import json

with open("train.json") as f:
    rows = json.load(f)
print(len(rows))
""",
        libs="python 3.11",
        more_files={
            "train.json": "".join('{"q": "%d+1", "a": "%d"}\n' % (i, i + 1) for i in range(20))
        },
    ),
    "json-empty-file": job(
        "PY012",
        "transformers reads a config.json of 0 bytes left by a full disk; then json.load of the user",
        """
import json
from pathlib import Path

folder = Path("checkpoints/global_step_20")
state = json.loads((folder / "trainer_state.json").read_text())
print("resume from", state["global_step"])
""",
        libs="python 3.13",
        venv="bare-3.13",
        more_files={"checkpoints/global_step_20/trainer_state.json": ""},
    ),
    "judge-json-decode": evaluation(
        "PY012",
        "the response of one sample is JSON in single quotes",
        "{'answer': 7}",
        """
import json


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if not solution_str.startswith("{"):
        return 0.0
    return float(str(json.loads(solution_str)["answer"]) == ground_truth)
""",
    ),
    "py310-tomllib": job(
        "PY015",
        "a tool that needs Python 3.11 (tomllib) started with 3.10",
        """
import sys
import tomllib

print(sys.version)
""",
        libs="python 3.10",
        venv="bare-3.10",
    ),
    "py310-strenum": job(
        "PY015",
        "a config module that uses enum.StrEnum, started with Python 3.10",
        run="python train.py --algo grpo",
        libs="numpy 1.26.4, python 3.10",
        venv="bare-3.10",
        more_files={
            "train.py": """
import argparse
import numpy as np
from settings import Algo

parser = argparse.ArgumentParser()
parser.add_argument("--algo", type=Algo, default=Algo.GRPO)
print(np.__version__, parser.parse_args())
""",
            "settings.py": """
from enum import StrEnum


class Algo(StrEnum):
    PPO = "ppo"
    GRPO = "grpo"
""",
        },
    ),
    "py39-dataclass-slots": job(
        "PY015",
        "dataclass(slots=True) under Python 3.9",
        """
from dataclasses import dataclass


@dataclass(slots=True)
class Sample:
    prompt: str
    response: str = ""


print(Sample("1+1"))
""",
        libs="python 3.9",
        venv="bare-3.9",
    ),
    "reward-file-indentation": job(
        "PY017",
        "verl loads a reward file in which tabs and blanks are mixed",
        run=EVAL,
        libs=LIBS,
        isolated=True,
        more_files={
            "make_rows.py": ROWS.replace("ODD", "good"),
            "reward.py": "def compute_score(data_source, solution_str, ground_truth):\n"
            "    if ground_truth in solution_str:\n\treturn 1.0\n    return 0.0\n",
        },
    ),
    "script-curly-quote": job(
        "PY017",
        "a script with curly quotes pasted from a web page",
        run="python train.py",
        libs="python 3.11",
        more_files={"train.py": "import sys\n\nprint(\u201chello\u201d, sys.version)\n"},
    ),
    "script-unclosed-bracket": job(
        "PY017",
        "a config file in which a bracket is never closed",
        run="python train.py",
        libs="python 3.12",
        venv="bare-3.12",
        more_files={
            "train.py": "from settings import SETTINGS\nprint(SETTINGS)\n",
            "settings.py": 'SETTINGS = {\n    "lr": 1e-6,\n    "steps": [10, 20,\n}\n',
        },
    ),
    "unicode-gzip": job(
        "PY018",
        "json.load on a gzip file that lost its suffix",
        """
import gzip
import json

with gzip.open("train.json", "wt") as f:
    json.dump([{"question": "1+1", "answer": "2"}] * 50, f)

with open("train.json", encoding="utf-8") as f:
    print(len(json.load(f)))
""",
        libs="python 3.11",
    ),
    "unicode-ascii-locale": job(
        "PY018",
        "a Chinese jsonl read in a container without a UTF-8 locale",
        """
import json
import locale

print("encoding", locale.getpreferredencoding(False), flush=True)
rows = [json.loads(line) for line in open("train.jsonl")]
print(len(rows))
""",
        run="LC_ALL=POSIX PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 python train.py",
        libs="python 3.11",
        more_files={
            "train.jsonl": '{"question": "\u4e00\u52a0\u4e00\u7b49\u4e8e\u51e0\uff1f"}\n' * 3
        },
    ),
    "unicode-encode-ascii": job(
        "PY019",
        "a Chinese sample is printed in a job without a UTF-8 locale",
        """
rows = [{"prompt": "\\u8bf7\\u89e3\\u7b54", "score": 1.0}]
print("val samples", len(rows), flush=True)
for row in rows:
    print("[prompt]", row["prompt"], flush=True)
""",
        run="LC_ALL=POSIX PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 python train.py",
        libs="python 3.11",
    ),
    "unicode-encode-surrogate": job(
        "PY019",
        "generations with a lone surrogate are written to a jsonl",
        """
import json

generations = ["all good", json.loads('"half an emoji \\\\ud83d"'), "fine"]
with open("rollout_20.jsonl", "w", encoding="utf-8") as f:
    for text in generations:
        f.write(json.dumps({"output": text}, ensure_ascii=False) + "\\n")
""",
        libs="python 3.11",
    ),
    "recursion-getattr": job(
        "PY020",
        "a wrapper whose __getattr__ asks for an attribute that unpickling has not set yet",
        """
import copy
import torch


class Wrapped:
    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        return getattr(self.module, name)


actor = Wrapped(torch.nn.Linear(4, 4))
print("actor", actor.weight.shape, flush=True)
ref = copy.deepcopy(actor)
print("ref", ref.weight.shape)
""",
    ),
    "recursion-nested-json": job(
        "PY020",
        "json.loads of an answer with thousands of opening brackets",
        """
import json


def score(answer):
    return float(bool(json.loads(answer)))


answers = ["[1]", "[" * 100000]
print([score(a) for a in answers])
""",
        libs="python 3.11",
    ),
    "pickle-lambda-spawn": job(
        "PY021",
        "DataLoader workers started with spawn and a lambda as collate_fn",
        """
import torch
from torch.utils.data import DataLoader


def main():
    rows = [torch.arange(n) for n in (3, 5, 2, 4)]
    loader = DataLoader(
        rows, batch_size=2, num_workers=1, multiprocessing_context="spawn",
        collate_fn=lambda batch: torch.nn.utils.rnn.pad_sequence(batch, batch_first=True),
    )
    for batch in loader:
        print(batch.shape)


if __name__ == "__main__":
    main()
""",
    ),
    "pickle-lock": job(
        "RAY035",
        "an object with a lock goes to a Ray actor",
        """
import threading
import ray


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = {}


@ray.remote
class RewardWorker:
    def __init__(self, cache):
        self.cache = cache

    def score(self, text):
        return 1.0


ray.init(num_cpus=1)
worker = RewardWorker.remote(Cache())
print(ray.get(worker.score.remote("x")))
""",
        libs="ray 2.60.0, python 3.11",
        isolated=True,
    ),
    "pickle-local-313": job(
        "PY021",
        "a function defined inside main is sent to a process pool, Python 3.13",
        """
import multiprocessing as mp


def main():
    def score(text):
        return float(text.endswith("7"))

    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(score, ["#### 7", "#### 8"]))


if __name__ == "__main__":
    main()
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "unpickle-lfs-pointer": job(
        "PY022",
        "a cached data set that is a Git LFS pointer",
        """
import pickle

with open("train_cache.pkl", "rb") as f:
    rows = pickle.load(f)
print(len(rows))
""",
        libs="python 3.11",
        more_files={
            "train_cache.pkl": "version https://git-lfs.github.com/spec/v1\n"
            "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
        },
    ),
    "unpickle-truncated": job(
        "PY022",
        "a rollout cache whose writer was stopped half-way",
        """
import os
import pickle

rows = [{"prompt": f"q{i}", "logprobs": [0.1] * 50} for i in range(200)]
with open("rollouts.pkl", "wb") as f:
    pickle.dump(rows, f)
os.truncate("rollouts.pkl", 40000)
print("resume from rollouts.pkl", flush=True)
with open("rollouts.pkl", "rb") as f:
    print(len(pickle.load(f)))
""",
        libs="python 3.11",
    ),
    "unpickle-no-such-class": job(
        "PY022",
        "a checkpoint pickled by another script whose class this one does not define",
        """
import pickle

state = pickle.load(open("state.pkl", "rb"))
print(state.step)
""",
        run="python save.py\npython train.py",
        libs="python 3.11",
        more_files={
            "save.py": """
import pickle


class TrainerState:
    def __init__(self, step):
        self.step = step


pickle.dump(TrainerState(40), open("state.pkl", "wb"))
"""
        },
    ),
}

SERVER = """
import http.server
import threading
import time


class Judge(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(DELAY)
        body = b'{"score": 1.0}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 18080), Judge)
threading.Thread(target=server.serve_forever, daemon=True).start()
"""

PROGRAMS |= {
    "input-pip-uninstall": job(
        "PY023",
        "a job script calls pip uninstall without -y",
        run="echo '+ pip uninstall tqdm'\npython -m pip uninstall tqdm\necho \"exit code $?\"",
        libs="pip 23.2.1, python 3.11",
    ),
    "input-own-question": job(
        "PY023",
        "a conversion script asks whether to overwrite, in a batch job",
        """
import os

target = "checkpoints/hf"
os.makedirs(target, exist_ok=True)
if os.path.isdir(target):
    answer = input(f"{target} exists. Overwrite? [y/N] ")
    if answer != "y":
        raise SystemExit(1)
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "assert-empty-rollouts": job(
        "PY024",
        "verl's list_of_dict_to_tensordict on a list from which a filter removed everything",
        """
import torch
from verl.utils.tensordict_utils import list_of_dict_to_tensordict

rollouts = [{"responses": torch.arange(4), "score": s} for s in (0.0, 0.0, 0.0)]
kept = [row for row in rollouts if row["score"] > 0.5]
print("kept", len(kept), "of", len(rollouts), flush=True)
batch = list_of_dict_to_tensordict(kept)
print(batch)
""",
        libs="verl 0.9.1, tensordict 0.10.0, torch 2.13.0, python 3.11",
    ),
    "assert-own-check": job(
        "PY024",
        "a bare assert on the batch size of a settings file, Python 3.13",
        """
settings = {"train_batch_size": 30, "n_gpus": 8, "rollout_n": 1}


def check(s):
    total = s["train_batch_size"] * s["rollout_n"]
    assert total % s["n_gpus"] == 0


print("settings", settings, flush=True)
check(settings)
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "name-failed-import": job(
        "PY026",
        "an optional import failed quietly and its name is used",
        """
import torch

try:
    from flash_attn.bert_padding import unpad_input
except ImportError:
    pass


def forward(hidden, mask):
    packed, *_ = unpad_input(hidden, mask)
    return packed.sum()


hidden = torch.randn(2, 6, 8)
print("step:1 - hidden", tuple(hidden.shape), flush=True)
print(forward(hidden, torch.ones(2, 6)))
""",
    ),
    "name-unbound-branch": job(
        "PY026",
        "a variable is set only in a branch that one answer does not take, Python 3.9",
        """
def score(answer):
    if "####" in answer:
        value = answer.split("####")[1].strip()
    return float(value == "7")


for i, answer in enumerate(["#### 7", "#### 6", "seven"]):
    print(i, score(answer), flush=True)
""",
        libs="python 3.9",
        venv="bare-3.9",
    ),
    "name-unbound-branch-313": job(
        "PY026",
        "the same under Python 3.13",
        """
def score(answer):
    if "####" in answer:
        value = answer.split("####")[1].strip()
    return float(value == "7")


for i, answer in enumerate(["#### 7", "#### 6", "seven"]):
    print(i, score(answer), flush=True)
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "float-of-answer": evaluation(
        "PY027",
        "one response holds a thousands separator and a unit",
        "It costs #### 1,234 dollars",
        """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    answer = solution_str.split("####")[-1].strip()
    return 1.0 if abs(float(answer) - float(ground_truth)) < 1e-6 else 0.0
""",
    ),
    "zero-division-metrics": job(
        "PY029",
        "the mean over correct answers when there are none",
        """
def reward_metrics(rows):
    correct = [r for r in rows if r["score"] > 0]
    length = sum(r["length"] for r in correct) / len(correct)
    return {"reward/correct_length": length}


print(reward_metrics([{"score": 1.0, "length": 40}, {"score": 0.0, "length": 90}]), flush=True)
print(reward_metrics([{"score": 0.0, "length": 512}] * 4))
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "zero-division-accumulation": job(
        "PY029",
        "gradient accumulation that rounds to zero, taken as a modulus",
        """
import torch

batch_size, micro_batch = 4, 8
accumulation = batch_size // micro_batch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1, 9):
    loss = model(torch.randn(micro_batch, 4)).pow(2).mean()
    loss.backward()
    if step % accumulation == 0:
        optimizer.step()
    print(f"step:{step} - actor/loss:{loss.item():.3f}", flush=True)
""",
    ),
    "asyncio-run-nested": job(
        "PY030",
        "a reward function calls asyncio.run inside an async reward loop",
        """
import asyncio


async def ask(text):
    await asyncio.sleep(0.01)
    return 1.0


def compute_score(text):
    return asyncio.run(ask(text))


async def reward_loop(texts):
    return [compute_score(t) for t in texts]


print("scoring", flush=True)
print(asyncio.run(reward_loop(["a", "b"])))
""",
        libs="python 3.11",
    ),
    "asyncio-run-until-complete": job(
        "PY030",
        "run_until_complete on the loop that is already running, Python 3.9",
        """
import asyncio


async def ask(text):
    return 1.0


async def reward_loop(texts):
    loop = asyncio.get_event_loop()
    return [loop.run_until_complete(ask(t)) for t in texts]


asyncio.run(reward_loop(["a"]))
""",
        libs="python 3.9",
        venv="bare-3.9",
    ),
    "asyncio-no-loop-thread": job(
        "PY031",
        "a reward function in a thread pool asks for the current event loop",
        """
import asyncio
from concurrent.futures import ThreadPoolExecutor


async def ask(text):
    return 1.0


def compute_score(text):
    return asyncio.get_event_loop().run_until_complete(ask(text))


with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(compute_score, ["a", "b"])))
""",
        libs="python 3.11",
    ),
    "asyncio-loop-closed": job(
        "PY031",
        "one httpx client is used in two asyncio.run calls against a judge server",
        SERVER.replace("DELAY", "0")
        + """
import asyncio
import httpx

client = httpx.AsyncClient(base_url="http://127.0.0.1:18080", trust_env=False)


async def ask(text):
    return (await client.post("/score", json={"text": text})).json()["score"]


for step in range(3):
    print(f"step:{step + 1} - reward:{asyncio.run(ask('x'))}", flush=True)
""",
        libs="httpx 0.28.1, anyio 4.16.0, python 3.11",
    ),
    "timeout-judge": job(
        "PY032",
        "an aiohttp call to a judge server that answers too late",
        SERVER.replace("DELAY", "20")
        + """
import asyncio
import aiohttp


async def ask(text):
    timeout = aiohttp.ClientTimeout(total=2)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        async with session.post("http://127.0.0.1:18080/score", json={"text": text}) as reply:
            return (await reply.json())["score"]


print("scoring 1 response", flush=True)
print(asyncio.run(ask("x")))
""",
        libs="aiohttp 3.14.5, python 3.11",
    ),
    "timeout-future": job(
        "PY032",
        "future.result with a limit on a scoring process that does not end",
        """
import time
from concurrent.futures import ProcessPoolExecutor


def score(text):
    time.sleep(4)
    return 1.0


if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(score, "9**9**9").result(timeout=1))
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "numpy-ragged": job(
        "PY035",
        "responses of different length are put into one array",
        """
import numpy as np

responses = [[1, 5, 9], [1, 5], [1, 5, 9, 11]]
print("responses", [len(r) for r in responses], flush=True)
batch = np.array(responses, dtype=np.int64) if len({len(r) for r in responses}) == 1 else None
extra_info = np.array([[r, {"n": len(r)}][0] for r in responses])
print(extra_info.shape)
""",
        libs="numpy 2.3.5, python 3.11",
    ),
    "numpy-alias-float": job(
        "PY036",
        "np.float under numpy 1.26",
        """
import numpy as np

scores = np.array([1, 0, 1], dtype=np.float)
print(scores.mean())
""",
        libs="numpy 1.26.4, python 3.10",
        venv="bare-3.10",
    ),
    "numpy-alias-inf": job(
        "PY036",
        "np.Inf under numpy 2",
        """
import numpy as np


def best(scores):
    top = -np.Inf
    for s in scores:
        top = max(top, s)
    return top


print(best(np.array([0.5, 0.2])))
""",
        libs="numpy 2.3.5, python 3.11",
    ),
    "numpy-import-inf-scipy": job(
        "PY036",
        "scipy 1.10.1 imported beside numpy 2.2.6",
        """
from scipy.optimize import minimize

print(minimize(lambda x: (x - 1) ** 2, 0.0).x)
""",
        libs="scipy 1.10.1, numpy 2.2.6, python 3.11",
        venv="npmix",
    ),
    "numpy-abi-pandas": job(
        "PY037",
        "pandas 2.0.3 imported beside numpy 2.2.6",
        """
import pandas as pd

print(pd.read_parquet("train.parquet").columns)
""",
        libs="pandas 2.0.3, numpy 2.2.6, python 3.11",
        venv="npmix",
    ),
    "numpy-one-banner": job(
        "PY037",
        "numexpr 2.8.4, built for numpy 1, imported beside numpy 2.2.6",
        """
import numexpr

print(numexpr.evaluate("1 + 1"))
""",
        libs="numexpr 2.8.4, numpy 2.2.6, python 3.11",
        venv="npmix",
    ),
    "numpy-one-banner-survived": job(
        "PY038",
        "the same import inside try/except, as an optional dependency; the run goes on",
        """
import numpy as np

try:
    import numexpr
except ImportError:
    numexpr = None

print("numexpr", numexpr, flush=True)
for step in range(1, 4):
    print(f"step:{step} - critic/score/mean:{np.mean([0.0, 1.0, step / 4]):.3f}", flush=True)
print("Final validation metrics: {'val/acc': 0.5}", flush=True)
""",
        libs="numexpr 2.8.4, numpy 2.2.6, python 3.11",
        venv="npmix",
    ),
    "numpy-pickle-core": job(
        "PY037",
        "an array pickled under numpy 2 is read under numpy 1.24",
        """
import pickle

with open("scores.pkl", "rb") as f:
    print(pickle.load(f).mean())
""",
        run='"$V/main/bin/python" -c "import numpy, pickle; '
        "pickle.dump(numpy.arange(4.0), open('scores.pkl', 'wb'))\"\npython train.py",
        libs="numpy 2.3.5 and 1.24.4, python 3.9",
        venv="bare-3.9",
    ),
    "unpack-changed-return": evaluation(
        "PY040",
        "a split gives three parts for one response",
        "#### 7 #### 8",
        """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    reasoning, answer = solution_str.split("####")
    return 1.0 if answer.strip() == ground_truth else 0.0
""",
    ),
    "unpack-too-few": job(
        "PY040",
        "an actor update returns one value and the script names two",
        """
import torch


def update(model, batch):
    loss = model(batch).pow(2).mean()
    loss.backward()
    return (loss.item(),)


model = torch.nn.Linear(4, 1)
for step in range(1, 4):
    loss, metrics = update(model, torch.randn(2, 4))
    print(step, loss, metrics)
""",
    ),
    "not-implemented-getitem": job(
        "PY041",
        "a dataset whose __getitem__ is misspelled",
        """
from torch.utils.data import DataLoader, Dataset


class Prompts(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __get_item__(self, i):
        return self.rows[i]


for batch in DataLoader(Prompts(["a", "b", "c"]), batch_size=2):
    print(batch)
""",
    ),
    "not-implemented-backend": job(
        "PY041",
        "asyncio.add_reader's abstract base: an event loop class without the method",
        """
import asyncio


class EngineLoop(asyncio.AbstractEventLoop):
    def get_debug(self):
        return False


loop = EngineLoop()
print("loop", type(loop).__name__, flush=True)
loop.call_soon(print, "ready")
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "max-of-nothing": job(
        "PY042",
        "the longest response of a batch from which a filter removed everything, Python 3.13",
        """
def metrics(responses, limit):
    lengths = [len(r) for r in responses if len(r) < limit]
    return {"response_length/max": max(lengths)}


print(metrics(["abc", "de"], 8), flush=True)
print(metrics(["abcdefghij", "klmnopqrst"], 8))
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "concatenate-nothing": job(
        "PY042",
        "np.concatenate over the rollouts that passed a filter: none",
        """
import numpy as np

batches = [np.random.rand(4) for _ in range(3)]
kept = [b for b in batches if b.min() > 2]
print("kept", len(kept), flush=True)
print(np.concatenate(kept).mean())
""",
        libs="numpy 1.26.4, python 3.10",
        venv="bare-3.10",
    ),
    "dataclass-hydra-old": job(
        "PY045",
        "hydra-core 1.1.2 imported under Python 3.11",
        """
import hydra


@hydra.main(config_path=None)
def main(cfg):
    print(cfg)


main()
""",
        run='pip install -q --no-deps --no-index --target old "$V"/dl/hydra_core-1.1.2-*.whl\n'
        "PYTHONPATH=old python train.py",
        libs="hydra-core 1.1.2, omegaconf 2.3.1, python 3.11",
    ),
    "dataclass-list-default": job(
        "PY045",
        "a dataclass with a list as default",
        """
from dataclasses import dataclass


@dataclass
class TrainConfig:
    lr: float = 1e-6
    betas: list = [0.9, 0.999]


print(TrainConfig())
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "int-too-long": evaluation(
        "PY049",
        "one response is a number of 5000 digits",
        "#### " + "7" * 5000,
        """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    answer = solution_str.split("####")[-1].strip()
    return 1.0 if int(answer) == int(ground_truth) else 0.0
""",
    ),
    "int-too-long-310": job(
        "PY049",
        "the same conversion under Python 3.10",
        """
def score(answer):
    return float(int(answer) == 7)


print([score(a) for a in ("7", "8", "9" * 4301)])
""",
        libs="python 3.10",
        venv="bare-3.10",
    ),
    "signal-math-verify-thread": job(
        "PY050",
        "math_verify.parse in a thread pool",
        """
from concurrent.futures import ThreadPoolExecutor
from math_verify import parse, verify


def compute_score(solution, ground_truth):
    return float(verify(parse(ground_truth), parse(solution)))


with ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(compute_score, r"so \\boxed{42}", "42") for _ in range(2)]
    print([j.result() for j in jobs])
""",
        libs="math-verify 0.9.0, python 3.11",
    ),
    "signal-alarm-thread": job(
        "PY050",
        "a time limit by signal.alarm round a scoring function, used by a thread",
        """
import signal
from concurrent.futures import ThreadPoolExecutor


def limited(function, seconds):
    def stop(*_):
        raise TimeoutError("too slow")

    def run(*args):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        try:
            return function(*args)
        finally:
            signal.alarm(0)

    return run


score = limited(lambda text: float(text.endswith("7")), 5)
print("main thread", score("#### 7"), flush=True)
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(score, ["#### 7", "#### 8"])))
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
}

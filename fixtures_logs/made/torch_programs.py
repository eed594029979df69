"""How the logs in made/torch were made on a CPU with one process: one entry a log.

`files` are written into an empty folder (POLICY as policy.py beside them), `run` is a bash script
that runs in it with the venv's `bin` first in PATH and an empty standard input; its standard output
and standard error together are the log. Entries with `isolated` run in a mount, network, host name
and process name space of their own. torch_dist_programs.py has the runs of several ranks,
torch_gpu_programs.py those on a GPU. Nothing here is executed in CI.
"""

LIBS = "torch 2.13.0+cpu, numpy 2.4.6, python 3.11"

POLICY = '''
import torch
import torch.nn as nn


class Policy(nn.Module):
    """A language model with a few thousand parameters."""

    def __init__(self, vocab=64, hidden=32, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, hidden)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, 2 * hidden), nn.SiLU(), nn.Linear(2 * hidden, hidden))
            for _ in range(layers)
        )
        self.lm_head = nn.Linear(hidden, vocab, bias=False)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.lm_head(x)


def log_probs_of(logits, responses):
    return torch.log_softmax(logits, dim=-1).gather(-1, responses.unsqueeze(-1)).squeeze(-1)


def log_step(step, **metrics):
    print(f"step:{step} - " + " - ".join(f"{k.replace('__', '/')}:{v:.4f}" for k, v in metrics.items()), flush=True)
'''


def job(
    rule: str, how: str, train: str = "", run: str = "python train.py", libs: str = LIBS, **more: object
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    files = {"policy.py": POLICY}
    if train:
        files["train.py"] = train
    files.update(more.pop("more_files", {}))  # type: ignore[call-overload]
    return {"rule": rule, "how": how, "libraries": libs, "files": files, "run": run, **more}


HEAD = """
import torch
import torch.nn.functional as F
from policy import Policy, log_probs_of, log_step

torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
"""

STEPS = """
for step in range(1, 4):
    ids = torch.randint(0, 64, (4, 12))
    log_probs = log_probs_of(policy(ids), ids)
    loss = -(log_probs * torch.randn(4, 1)).mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    log_step(step, actor__pg_loss=loss.item(), actor__grad_norm=norm.item())
"""

DATA = """
import os, signal, sys, time
import torch
from torch.utils.data import DataLoader, Dataset
from policy import log_step


class Prompts(Dataset):
    def __init__(self, size=64):
        self.rows = [{"input_ids": torch.arange(12) + i, "index": i} for i in range(size)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ROW
        return self.rows[i]


def main():
    loader = DataLoader(Prompts(), OPTIONS)
    for step, batch in enumerate(loader, 1):
        log_step(step, prompt_length__mean=float(batch["input_ids"].float().mean()))


if __name__ == "__main__":
    main()
"""


def loader(row: str, options: str) -> str:
    """The data loading script with a __getitem__ body and DataLoader options."""
    return DATA.replace("ROW", row).replace("OPTIONS", options)


PROGRAMS = {
    "inplace-temperature": job(
        "TOR002",
        "the log probabilities are masked in place after log_softmax saved them",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
log_probs = torch.log_softmax(policy(ids), dim=-1)
log_probs[:, :4] = 0.0
loss = -(log_probs.exp() * log_probs).sum(-1).mean()
loss.backward()
""",
    ),
    "inplace-optimizer-step": job(
        "TOR002",
        "actor and critic share a trunk; the actor's optimiser steps before the critic's backward",
        HEAD
        + """
value_head = torch.nn.Linear(64, 1)
critic_optimizer = torch.optim.AdamW([*policy.parameters(), *value_head.parameters()], lr=1e-4)
"""
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
logits = policy(ids)
values = value_head(logits).squeeze(-1)
actor_loss = -log_probs_of(logits, ids).mean()
critic_loss = F.mse_loss(values, torch.zeros_like(values))
actor_loss.backward(retain_graph=True)
optimizer.step()
critic_loss.backward()
critic_optimizer.step()
""",
    ),
    "inplace-leaf": job(
        "TOR002",
        "an embedding row of a model is zeroed in place outside of no_grad",
        HEAD + STEPS + "\npad_token_id = 0\npolicy.embed_tokens.weight[pad_token_id].zero_()\n",
    ),
    "loss-no-grad": job(
        "TOR003",
        "the log probabilities of the update were computed under torch.no_grad",
        HEAD
        + STEPS
        + """

@torch.no_grad()
def compute_log_prob(batch):
    return log_probs_of(policy(batch), batch)


ids = torch.randint(0, 64, (4, 12))
old_log_prob = compute_log_prob(ids)
log_prob = compute_log_prob(ids)
ratio = torch.exp(log_prob - old_log_prob)
pg_loss = -(ratio * torch.randn(4, 1)).mean()
pg_loss.backward()
""",
    ),
    "loss-checkpoint-frozen": job(
        "TOR003",
        "adapters behind a frozen embedding with reentrant activation checkpointing: no input needs a gradient",
        """
import torch
from torch.utils.checkpoint import checkpoint
from policy import Policy, log_probs_of

torch.manual_seed(0)
policy = Policy()
policy.requires_grad_(False)
for layer in policy.layers:
    layer[3].requires_grad_(True)
trainable = sum(p.numel() for p in policy.parameters() if p.requires_grad)
print(f"trainable params: {trainable} || all params: {sum(p.numel() for p in policy.parameters())}")
ids = torch.randint(0, 64, (4, 12))
x = policy.embed_tokens(ids)
for layer in policy.layers:
    x = x + checkpoint(layer, x, use_reentrant=True)
loss = -log_probs_of(policy.lm_head(x), ids).mean()
print(f"loss {loss.item():.4f}")
loss.backward()
""",
    ),
    "loss-inference-mode": job(
        "TOR003",
        "hidden states made under inference_mode are given to a trainable head",
        HEAD
        + """
head = torch.nn.Linear(64, 1)
ids = torch.randint(0, 64, (4, 12))
with torch.inference_mode():
    hidden = policy(ids)
print("reward model features", tuple(hidden.shape))
values = head(hidden).squeeze(-1)
F.mse_loss(values, torch.zeros(4, 12)).backward()
""",
    ),
    "shape-mask": job(
        "TOR006",
        "a response mask that is one token longer than the log probabilities",
        HEAD
        + STEPS
        + """

def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


ids = torch.randint(0, 64, (4, 13))
response_mask = torch.ones(4, 13)
log_probs = log_probs_of(policy(ids[:, :-1]), ids[:, 1:])
loss = -masked_mean(log_probs, response_mask)
loss.backward()
""",
    ),
    "shape-head": job(
        "TOR006",
        "a value head made for another hidden size",
        HEAD
        + """
hidden_size = 48
value_head = torch.nn.Linear(hidden_size, 1)


def compute_values(batch):
    x = policy.embed_tokens(batch)
    for layer in policy.layers:
        x = x + layer(x)
    return value_head(x).squeeze(-1)


for step in range(1, 3):
    ids = torch.randint(0, 64, (4, 12))
    print("values", compute_values(ids).shape)
""",
    ),
    "shape-group": job(
        "TOR006",
        "rewards are reshaped to groups of n=8 although one answer was dropped",
        HEAD
        + STEPS
        + """

def grpo_advantages(scores, n):
    groups = scores.view(-1, n)
    return ((groups - groups.mean(-1, keepdim=True)) / (groups.std(-1, keepdim=True) + 1e-6)).view(-1)


scores = torch.rand(32)
print("critic/score/mean", scores.mean().item())
keep = scores > scores.min()
advantages = grpo_advantages(scores[keep], n=8)
""",
    ),
    "shape-stack": job(
        "TOR006",
        "prompts of different length are collated by the default collate function",
        loader("return {'input_ids': torch.arange(12 + i % 3)}", "batch_size=4"),
    ),
    "sdpa-flash-mask": job(
        "TOR010",
        "a CPU run asks torch why flash attention does not take a padding mask (can_use_flash_attention, debug)",
        """
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

q = k = v = torch.randn(2, 4, 16, 8)
mask = torch.zeros(2, 1, 16, 16)
with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    print("flash on float32:", F.scaled_dot_product_attention(q, k, v, attn_mask=mask).shape)
    d = q.requires_grad_()
    print("flash with a mask that needs a gradient")
    F.scaled_dot_product_attention(d, k, v, attn_mask=mask.requires_grad_())
""",
    ),
    "recompile-limit": job(
        "TOR015",
        "torch.compile(dynamic=False) of a function whose input has another length at each step",
        """
import torch
from policy import Policy, log_probs_of, log_step

torch.manual_seed(0)
policy = Policy()


@torch.compile(backend="aot_eager", dynamic=False)
def compute_log_prob(logits, responses):
    return log_probs_of(logits, responses)


for step in range(1, 12):
    ids = torch.randint(0, 64, (4, 11 + step))
    out = compute_log_prob(policy(ids), ids)
    log_step(step, actor__log_prob=out.mean().item())
""",
    ),
    "recompile-limit-fullgraph": job(
        "TOR016",
        "the same with fullgraph=True: the limit is an error",
        """
import torch
from policy import Policy, log_probs_of, log_step

torch.manual_seed(0)
policy = Policy()


@torch.compile(backend="aot_eager", dynamic=False, fullgraph=True)
def compute_log_prob(logits, responses):
    return log_probs_of(logits, responses)


for step in range(1, 12):
    ids = torch.randint(0, 64, (4, 11 + step))
    out = compute_log_prob(policy(ids), ids)
    log_step(step, actor__log_prob=out.mean().item())
""",
    ),
    "compile-cxx-fails": job(
        "TOR016",
        "inductor's C++ compiler is broken (a g++ that finds no standard headers)",
        HEAD
        + """
step_fn = torch.compile(lambda ids: log_probs_of(policy(ids), ids).mean())
ids = torch.randint(0, 64, (4, 12))
print("compiling", flush=True)
print(step_fn(ids).item())
""",
        run="printf '#!/bin/bash\\nexec g++ -nostdinc -nostdinc++ \"$@\"\\n' > g++-bad; chmod +x g++-bad\n"
        "TORCHINDUCTOR_CACHE_DIR=$PWD/cache CXX=$PWD/g++-bad python train.py",
    ),
    "compile-fake-tensor-shape": job(
        "TOR006",
        "a shape error inside a compiled function (fullgraph): torch reports it from fake tensors",
        HEAD
        + """

@torch.compile(backend="aot_eager", fullgraph=True)
def loss_fn(ids, mask):
    return (log_probs_of(policy(ids), ids) * mask).sum() / mask.sum()


print(loss_fn(torch.randint(0, 64, (4, 12)), torch.ones(4, 11)))
""",
    ),
    "ckpt-truncated": job(
        "TOR019",
        "a checkpoint whose copy stopped half way",
        HEAD
        + STEPS
        + """
import os

os.makedirs("ckpts/global_step_3/actor")
path = "ckpts/global_step_3/actor/model_world_size_1_rank_0.pt"
torch.save(policy.state_dict(), path)
os.truncate(path, os.path.getsize(path) // 2)
print("resuming from", path)
policy.load_state_dict(torch.load(path))
""",
    ),
    "ckpt-legacy-garbage": job(
        "TOR019",
        "a pickled config was saved under the name of the weights",
        HEAD
        + """
import pickle

with open("pytorch_model.bin", "wb") as f:
    pickle.dump({"lr": 1e-6, "total_epochs": 15}, f)
print("loading pytorch_model.bin")
policy.load_state_dict(torch.load("pytorch_model.bin", weights_only=False))
""",
    ),
    "ckpt-disk-full": job(
        "TOR020",
        "torch.save into a 256 KiB file system",
        HEAD
        + STEPS
        + """
import os

os.makedirs("ckpts/global_step_3/actor")
print("local_dir: ckpts/global_step_3", flush=True)
torch.save(
    {"model": policy.state_dict(), "optimizer": optimizer.state_dict()},
    "ckpts/global_step_3/actor/optim_world_size_1_rank_0.pt",
)
""",
        run="mkdir ckpts; mount -t tmpfs -o size=96k none ckpts; python train.py",
        isolated=True,
    ),
    "ckpt-no-folder": job(
        "TOR020",
        "torch.save into a folder which does not exist",
        HEAD + STEPS + "\ntorch.save(policy.state_dict(), 'ckpts/global_step_3/actor/model.pt')\n",
    ),
    "scaler-fp16-weights": job(
        "TOR023",
        "a GradScaler with a model whose weights are float16",
        HEAD
        + """
policy.half()
scaler = torch.amp.GradScaler("cpu")
ids = torch.randint(0, 64, (4, 12))
loss = -log_probs_of(policy(ids).float(), ids).mean()
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
log_step(1, actor__pg_loss=loss.item(), actor__grad_norm=norm.item())
""",
    ),
    "scaler-no-grad": job(
        "TOR023",
        "scaler.step for a critic whose loss was never given to backward",
        HEAD
        + """
scaler = torch.amp.GradScaler("cpu")
critic = Policy(vocab=64)
critic_optimizer = torch.optim.AdamW(critic.parameters(), lr=1e-5)
for step in range(1, 4):
    ids = torch.randint(0, 64, (4, 12))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = -log_probs_of(policy(ids).float(), ids).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.step(critic_optimizer)
    scaler.update()
    log_step(step, actor__pg_loss=loss.item())
""",
    ),
    "index-embedding": job(
        "TOR024",
        "a chat token was added to the tokenizer (id 64) but the embedding has 64 rows",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
ids[:, 0] = 64
print("prompt ids max", ids.max().item())
policy(ids)
""",
    ),
    "index-label": job(
        "TOR024",
        "SFT labels hold a token id beyond the vocabulary",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
labels = ids.clone()
labels[:, :4] = -100
labels[:, -1] = 65
logits = policy(ids)
loss = F.cross_entropy(logits.view(-1, 64), labels.view(-1))
loss.backward()
""",
    ),
    "index-gather": job(
        "TOR024",
        "the position of the last token is computed from the whole sequence and used in the response",
        HEAD
        + STEPS
        + """
values = torch.rand(4, 12)
last = torch.tensor([11, 9, 15, 4]).unsqueeze(-1)
score = values.gather(1, last)
""",
    ),
    "numpy-bfloat16": job(
        "TOR026",
        "the metrics code turns bfloat16 log probabilities into numpy arrays",
        HEAD
        + STEPS
        + """
import numpy as np

policy.to(torch.bfloat16)
ids = torch.randint(0, 64, (4, 12))
with torch.no_grad():
    log_probs = log_probs_of(policy(ids), ids)
metrics = {"actor/log_prob_p95": np.percentile(log_probs.numpy(), 95)}
""",
    ),
    "numpy-requires-grad": job(
        "TOR026",
        "the entropy is logged through numpy with its graph",
        HEAD
        + STEPS
        + """
import numpy as np

ids = torch.randint(0, 64, (4, 12))
log_probs = torch.log_softmax(policy(ids), dim=-1)
entropy = -(log_probs.exp() * log_probs).sum(-1)
print("entropy", np.mean(entropy.numpy()))
""",
    ),
    "checkpoint-cache-grows": job(
        "TOR027",
        "a checkpointed layer keeps a key cache (use_cache): the recomputed forward sees another length",
        """
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from policy import log_step


class Attention(nn.Module):
    def __init__(self, hidden=32, use_cache=True):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(hidden, hidden) for _ in range(3))
        self.use_cache, self.cache = use_cache, None

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.use_cache:
            if self.cache is not None:
                k, v = torch.cat([self.cache[0], k], 1), torch.cat([self.cache[1], v], 1)
            self.cache = (k.detach(), v.detach())
        return torch.softmax(q @ k.transpose(1, 2), -1) @ v


torch.manual_seed(0)
layer = Attention()
x = torch.randn(4, 12, 32, requires_grad=True)
out = checkpoint(layer, x, use_reentrant=False)
log_step(1, actor__hidden=out.mean().item())
out.sum().backward()
""",
    ),
    "checkpoint-autocast-differs": job(
        "TOR027",
        "a checkpointed layer that does more work in its first call only",
        """
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from policy import log_step


class Router(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gate, self.expert = nn.Linear(hidden, 2), nn.Linear(hidden, hidden)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        out = self.expert(x)
        if self.calls == 1:
            out = out * torch.softmax(self.gate(x), -1)[..., :1]
        return out


torch.manual_seed(0)
layer = Router()
x = torch.randn(4, 12, 32, requires_grad=True)
loss = checkpoint(layer, x, use_reentrant=False).square().mean()
log_step(1, actor__loss=loss.item())
loss.backward()
""",
    ),
    "optimizer-more-params": job(
        "TOR028",
        "an optimiser state saved before the embedding was frozen",
        HEAD
        + STEPS
        + """
torch.save(optimizer.state_dict(), "optim.pt")
policy.embed_tokens.requires_grad_(False)
resumed = torch.optim.AdamW([p for p in policy.parameters() if p.requires_grad], lr=1e-3)
print("resuming the optimiser from optim.pt")
resumed.load_state_dict(torch.load("optim.pt"))
""",
    ),
    "optimizer-groups": job(
        "TOR028",
        "an optimiser state saved with one parameter group, loaded with two (weight decay split)",
        HEAD
        + STEPS
        + """
torch.save(optimizer.state_dict(), "optim.pt")
decay = [p for p in policy.parameters() if p.dim() > 1]
no_decay = [p for p in policy.parameters() if p.dim() <= 1]
resumed = torch.optim.AdamW([{"params": decay}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-3)
print("resuming the optimiser from optim.pt")
resumed.load_state_dict(torch.load("optim.pt"))
""",
    ),
    "worker-killed": job(
        "TOR031",
        "a DataLoader worker gets SIGKILL while it loads row 40 (as the kernel's OOM killer would do)",
        loader("if i == 40: time.sleep(3); os.kill(os.getpid(), signal.SIGKILL)", "batch_size=4, num_workers=2"),
    ),
    "worker-killed-handing-over": job(
        "TOR048",
        "the same, but the worker dies before its last batch was taken: opening that batch fails first",
        loader("if i == 40: os.kill(os.getpid(), signal.SIGKILL)", "batch_size=4, num_workers=2"),
    ),
    "worker-segfault": job(
        "TOR031",
        "native code in a DataLoader worker reads a null pointer",
        loader("if i == 40: import ctypes; ctypes.string_at(0)", "batch_size=4, num_workers=2"),
    ),
    "worker-timeout": job(
        "TOR034",
        "a DataLoader worker blocks in __getitem__ (a file that never answers); timeout=5",
        loader("if i == 40: time.sleep(600)", "batch_size=4, num_workers=2, timeout=5"),
    ),
    "worker-raises": job(
        "TOR035",
        "__getitem__ raises KeyError in a worker",
        loader("if i == 40: return self.rows[i]['prompt']", "batch_size=4, num_workers=2"),
    ),
    "collate-none": job(
        "TOR036",
        "a row that could not be parsed is returned as None",
        loader("if i == 17: return None", "batch_size=4"),
    ),
    "collate-none-worker": job(
        "TOR036",
        "a dict whose 'answer' is None in some rows, collated in a worker",
        loader("return {'input_ids': torch.arange(12), 'answer': None}", "batch_size=4, num_workers=1"),
    ),
    "collate-lists": job(
        "TOR036",
        "rows hold Python lists of different length",
        loader("return {'input_ids': torch.arange(12), 'position_ids': list(range(10 + i))}", "batch_size=4"),
    ),
    "cuda-file-on-cpu": job(
        "TOR037",
        "a checkpoint with CUDA tensors (written on a GPU machine) loaded without map_location",
        HEAD + STEPS + "\nprint('loading model_cuda.pt')\npolicy.load_state_dict(torch.load('model_cuda.pt'))\n",
        carry="model_cuda.pt",
    ),
    "worker-descriptors": job(
        "TOR038",
        "batches of 32 tensors are kept in a list with ulimit -n 256",
        loader(
            "return {'input_ids': torch.arange(12), **{f'k{j}': torch.ones(3) for j in range(31)}}",
            "batch_size=1, num_workers=2",
        ).replace("    for step, batch", "    kept = []\n    for step, batch").replace(
            "        log_step", "        kept.append(batch)\n        log_step"
        ),
        run="ulimit -n 256\npython train.py",
    ),
    "extension-no-cuda-home": job(
        "TOR043",
        "python setup.py build_ext of a CUDAExtension on a machine without the CUDA toolkit",
        more_files={
            "setup.py": """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="fused_logprob",
    ext_modules=[CUDAExtension("fused_logprob", ["fused_logprob.cpp", "fused_logprob_kernel.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
""",
            "fused_logprob.cpp": "#include <torch/extension.h>\n",
            "fused_logprob_kernel.cu": "__global__ void k() {}\n",
        },
        run="python setup.py build_ext --inplace",
        isolated=True,
        no_nvcc=True,
    ),
    "extension-no-ninja": job(
        "TOR043",
        "load_inline without ninja",
        """
import torch
from torch.utils.cpp_extension import load_inline

print("building the fused log-prob kernel")
ops = load_inline("fused_logprob", "torch::Tensor f(torch::Tensor x) { return x.exp(); }", functions=["f"])
print(ops.f(torch.zeros(2)))
""",
        run="PATH=$(dirname $(command -v python)) python train.py",
    ),
    "extension-does-not-compile": job(
        "TOR043",
        "load_inline of C++ code with an error",
        """
import torch
from torch.utils.cpp_extension import load_inline

print("building the fused log-prob kernel")
ops = load_inline("fused_logprob", "torch::Tensor f(torch::Tensor x) { return x.expp(); }", functions=["f"])
print(ops.f(torch.zeros(2)))
""",
        run="TORCH_EXTENSIONS_DIR=$PWD/ext python train.py",
    ),
    "empty-max": job(
        "TOR045",
        "the longest response of a batch in which everything was filtered out",
        HEAD
        + STEPS
        + """
scores = torch.ones(8)
keep = scores < 1.0
print(f"kept {int(keep.sum())} of {len(scores)} answers after the difficulty filter")
lengths = torch.randint(4, 12, (8,))[keep]
print("response_length/max", lengths.max().item())
""",
    ),
    "empty-cat": job(
        "TOR045",
        "the losses of the micro batches are joined, but this rank got none",
        HEAD
        + STEPS
        + """
micro_batches = []
losses = [log_probs_of(policy(m), m) for m in micro_batches]
loss = -torch.cat(losses).mean()
loss.backward()
""",
    ),
    "empty-argmax": job(
        "TOR045",
        "argmax over an empty response",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
response = policy(ids)[:, 12:]
print(response.argmax(dim=1))
""",
    ),
    "loss-per-token": job(
        "TOR046",
        "backward of a loss for each token (reduction='none')",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
loss = F.cross_entropy(policy(ids).view(-1, 64), ids.view(-1), reduction="none")
loss.backward()
""",
    ),
    "grad-not-in-graph": job(
        "TOR046",
        "torch.autograd.grad with a parameter that takes no part in the loss",
        HEAD
        + STEPS
        + """
ids = torch.randint(0, 64, (4, 12))
hidden = policy.embed_tokens(ids)
grads = torch.autograd.grad(hidden.square().mean(), list(policy.parameters()))
""",
    ),
    "ckpt-empty": job(
        "TOR047",
        "a checkpoint of 0 bytes (the writer died before the first write)",
        HEAD
        + STEPS
        + """
import os

os.makedirs("ckpts/global_step_3/actor")
path = "ckpts/global_step_3/actor/extra_state_world_size_1_rank_0.pt"
open(path, "wb").close()
print("resuming from", path)
state = torch.load(path, weights_only=False)
""",
    ),
    "cpu-build-cuda": job(
        "CUD027",
        "a training script moves its model to the GPU with a CPU build of torch",
        HEAD + "\npolicy.to(torch.device('cuda', 0))\n",
    ),
    "cpu-build-nccl": job(
        "DST015",
        "init_process_group('nccl') with a CPU build of torch, under torchrun",
        """
import torch.distributed as dist

dist.init_process_group("nccl")
print("rank", dist.get_rank())
""",
        run="torchrun --standalone --nproc-per-node 1 train.py",
    ),
}

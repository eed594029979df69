"""How the logs in made/verl were made by small scripts that use verl's parts: one entry a log.

See verl_programs.py for what `files`, `run` and the data in /home/user are. Nothing here is
executed in CI.
"""


def script(rule: str, how: str, train: str, verl: str = "0.9.1", run: str = "python train.py",
           **more: object) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    libraries = (
        f"verl {verl}, torch 2.13.0+cpu, transformers 4.57.6, tensordict 0.10.0, ray 2.60.0, "
        "python 3.11"
    )
    return {"rule": rule, "how": how, "libraries": libraries, "verl": verl,
            "files": {"train.py": train}, "run": run, **more}


DATASET = """
from omegaconf import OmegaConf
from torch.utils.data import DataLoader
from verl.utils import hf_processor, hf_tokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

path = "/home/user/models/Qwen2.5-0.01B-Instruct"
tokenizer = hf_tokenizer(path)
"""

BATCH = """
import numpy as np
import torch
from verl import DataProto
from verl.utils import hf_tokenizer

tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")


def rollout(n, source="openai/gsm8k", **columns):
    text = tokenizer(["How many apples does Tom have"] * n, return_tensors="pt")
    answer = tokenizer(["the answer is #### 12"] * n, return_tensors="pt")
    ids = torch.cat([text["input_ids"], answer["input_ids"]], dim=1)
    rows = {
        "data_source": np.array([source] * n, dtype=object),
        "reward_model": np.array([{"style": "rule", "ground_truth": "12"}] * n, dtype=object),
        "extra_info": np.array([{"index": i} for i in range(n)], dtype=object),
        "uid": np.array([str(i // 4) for i in range(n)], dtype=object),
    }
    rows.update(columns)
    rows = {key: value for key, value in rows.items() if value is not None}
    return DataProto.from_dict(
        tensors={
            "prompts": text["input_ids"], "responses": answer["input_ids"], "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "position_ids": torch.arange(ids.shape[1]).repeat(n, 1),
            "response_mask": torch.ones_like(answer["input_ids"]),
        },
        non_tensors=rows,
    )
"""

PROGRAMS = {
    "prompt-too-long-error": script(
        "VRL025", "a DataLoader over RLHFDataset, one prompt longer than max_prompt_length",
        DATASET + """
config = OmegaConf.create({"max_prompt_length": 50, "truncation": "error",
                           "filter_overlong_prompts": False})
dataset = RLHFDataset("/home/user/data/gsm8k/train.parquet", tokenizer, config)
for step, batch in enumerate(DataLoader(dataset, batch_size=8, collate_fn=collate_fn)):
    print("batch", step, batch["input_ids"].shape, flush=True)
""", "0.4.1",
    ),
    "sft-sequence-too-long": script(
        "VRL025", "MultiTurnSFTDataset with truncation=error and max_length 32",
        """
import datasets
from omegaconf import OmegaConf
from verl.utils import hf_tokenizer
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

rows = datasets.load_dataset("parquet", data_files="/home/user/data/gsm8k/train.parquet")["train"]
rows = rows.map(lambda r: {"messages": r["prompt"] + [
    {"role": "assistant", "content": "the answer is " + r["reward_model"]["ground_truth"]}]})
rows.to_parquet("sft.parquet")
tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")
config = OmegaConf.create({"max_length": 32, "truncation": "error", "pad_mode": "no_padding"})
dataset = MultiTurnSFTDataset("sft.parquet", tokenizer, config)
for i in range(len(dataset)):
    print(i, dataset[i]["input_ids"].shape)
""",
    ),
    "processor-needed": script(
        "VRL028", "rows with an images column and a model folder without a processor",
        DATASET + """
import datasets
rows = datasets.load_dataset("parquet", data_files="/home/user/data/gsm8k/test.parquet")["train"]
rows = rows.map(lambda r: {"images": ["/home/user/data/img/%d.png" % r["extra_info"]["index"]],
    "prompt": [{"role": "user", "content": "<image>" + r["prompt"][0]["content"]}]})
rows.to_parquet("geometry.parquet")
processor = hf_processor(path, use_fast=True)
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": False})
dataset = RLHFDataset("geometry.parquet", tokenizer, config, processor=processor)
for batch in DataLoader(dataset, batch_size=8, collate_fn=collate_fn):
    print(batch.keys())
""",
    ),
    "processor-needed-0.7": script(
        "VRL028", "rows with an images column and a model folder without a processor",
        DATASET + """
import datasets
rows = datasets.load_dataset("parquet", data_files="/home/user/data/gsm8k/test.parquet")["train"]
rows = rows.map(lambda r: {"images": ["/home/user/data/img/%d.png" % r["extra_info"]["index"]],
    "prompt": [{"role": "user", "content": "<image>" + r["prompt"][0]["content"]}]})
rows.to_parquet("geometry.parquet")
processor = hf_processor(path, use_fast=True)
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": False})
dataset = RLHFDataset("geometry.parquet", tokenizer, config, processor=processor)
for batch in DataLoader(dataset, batch_size=8, collate_fn=collate_fn):
    print(batch.keys())
""", "0.7.0",
    ),
    "reward-data-source": script(
        "VRL040", "the naive reward manager on rows of an own data_source",
        BATCH + """
from verl.workers.reward_manager import NaiveRewardManager

reward_fn = NaiveRewardManager(tokenizer, num_examine=1)
print(reward_fn(rollout(8, source="my_company/math"), return_dict=True))
""", "0.7.0",
    ),
    "reward-fn-error-printed": script(
        "VRL041", "compute_reward with a reward function that divides by zero",
        BATCH + """
from verl.trainer.ppo.reward import compute_reward
from verl.workers.reward_manager import NaiveRewardManager


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    found = solution_str.split("#### ")[1:2]
    return sum(x == ground_truth for x in found) / len(found)


reward_fn = NaiveRewardManager(tokenizer, num_examine=0, compute_score=compute_score)
reward, extra = compute_reward(rollout(8), reward_fn)
print("reward", reward.sum(-1))
""", "0.7.0",
    ),
    "reward-fn-error-printed-old": script(
        "VRL041", "compute_reward with a reward function that returns text, verl 0.4.1",
        BATCH + """
from verl.trainer.ppo.reward import compute_reward
from verl.workers.reward_manager import NaiveRewardManager


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return "correct" if ground_truth in solution_str else "wrong"


reward_fn = NaiveRewardManager(tokenizer, num_examine=0, compute_score=compute_score)
reward, extra = compute_reward(rollout(8), reward_fn)
print("reward", reward.sum(-1))
""", "0.4.1",
    ),
    "reward-column-missing": script(
        "VRL042", "the naive reward manager on rows without the reward_model column",
        BATCH + """
from verl.workers.reward_manager import NaiveRewardManager

reward_fn = NaiveRewardManager(tokenizer, num_examine=1)
print(reward_fn(rollout(8, reward_model=None), return_dict=True))
""", "0.7.0",
    ),
    "reward-ground-truth-missing": script(
        "VRL042", "the naive reward manager on rows whose reward_model holds no ground_truth",
        BATCH + """
from verl.workers.reward_manager import NaiveRewardManager

reward_fn = NaiveRewardManager(tokenizer, num_examine=1)
answers = np.array([{"style": "rule", "answer": "12"}] * 8, dtype=object)
print(reward_fn(rollout(8, reward_model=answers), return_dict=True))
""", "0.4.1",
    ),
    "reward-scores-set-to-zero": script(
        "VRL044", "the prime reward manager with a score function that returns a dict",
        BATCH + """
from verl.workers.reward_manager import PrimeRewardManager


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    right = ground_truth in solution_str
    return {"score": 1.0 if right else 0.0, "acc": right}


if __name__ == "__main__":
    reward_fn = PrimeRewardManager(tokenizer, num_examine=0, compute_score=compute_score)
    print("reward", reward_fn(rollout(8)).sum(-1))
""", "0.7.0",
    ),
    "reward-extra-info-length": script(
        "VRL045", "a DataProto whose score list is one shorter than the batch",
        BATCH + """
batch = rollout(8)
batch.non_tensor_batch["acc"] = np.array([1.0] * 7, dtype=object)
batch.check_consistency()
""", "0.7.0",
    ),
    "agent-loop-config-missing": script(
        "VRL046", "an agent loop config file that does not exist",
        """
from omegaconf import OmegaConf
from verl.utils.import_utils import resolve_config_path

agents = OmegaConf.load(resolve_config_path("recipe/my_agent/agent.yaml"))
""",
    ),
    "tool-parser-unknown": script(
        "VRL050", "multi_turn.format=qwen, a parser that verl does not have",
        """
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.utils import hf_tokenizer

tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")
parser = ToolParser.get_tool_parser("qwen", tokenizer)
""",
    ),
    "tool-call-undecodable": script(
        "VRL051", "the hermes parser on 25 responses with broken JSON in their tool calls",
        """
import asyncio
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.utils import hf_tokenizer


class Text:
    def __init__(self, texts):
        self.texts = texts

    def decode(self, i):
        return self.texts[i]


broken = ['{"name": "calc", "arguments": {"a": %d,}}', '{"name": "calc", arguments: %d}',
          'calc(%d)', '{"name": "calc"} # %d']
texts = ["<tool_call>" + broken[i % 4] % i + "</tool_call>" for i in range(28)]
parser = ToolParser.get_tool_parser("hermes", Text(texts))


async def main():
    for i in range(len(texts)):
        content, calls = await parser.extract_tool_calls(i)
    print("parsed", len(texts), "responses", flush=True)

asyncio.run(main())
""",
    ),
    "all-samples-aborted": script(
        "VRL052", "verl's compute_data_metrics on a step whose responses are all empty",
        BATCH + """
from verl.trainer.ppo.metric_utils import compute_data_metrics
from verl.utils.tracking import Tracking

logger = Tracking("gsm8k", "grpo", default_backend=["console"])
for step in range(1, 4):
    batch = rollout(8)
    n = batch.batch["responses"].shape[1]
    batch.batch["attention_mask"][:, -n:] = 0
    batch.batch["response_mask"][:] = 0
    zero = torch.zeros_like(batch.batch["responses"], dtype=torch.float32)
    for key in ("token_level_scores", "token_level_rewards", "advantages", "returns"):
        batch.batch[key] = zero.clone()
    logger.log(compute_data_metrics(batch, use_critic=False), step=step)
""",
    ),
    "rollout-engine-unsupported": script(
        "VRL061", "get_rollout_class of an engine that this verl does not have",
        """
from verl.workers.rollout.base import get_rollout_class

rollout = get_rollout_class("lmdeploy", "async")
""",
    ),
    "advantage-estimator-unknown": script(
        "VRL066", "compute_advantage's estimator of a name that verl does not have",
        """
from verl.trainer.ppo.core_algos import get_adv_estimator_fn

compute = get_adv_estimator_fn("dapo")
""",
    ),
    "loss-mode-unknown": script(
        "VRL066", "a policy loss of a name that verl does not have",
        """
from verl.trainer.ppo.core_algos import get_policy_loss_fn

loss = get_policy_loss_fn("ppo")
""",
    ),
    "not-a-value-head-model": script(
        "VRL068", "load_valuehead_model of a model type without a token classifier, without trl",
        """
import torch
from transformers import AutoConfig, OPTConfig
from verl.utils.model import load_valuehead_model

OPTConfig(hidden_size=32, num_hidden_layers=1).save_pretrained("opt")
config = AutoConfig.from_pretrained("opt")
config.num_labels = 1
critic = load_valuehead_model("opt", torch.bfloat16, config, trust_remote_code=False)
""",
    ),
    "not-a-value-head-flash-attn": script(
        "HF029", "load_valuehead_model without flash-attn: verl's last line blames trl",
        """
import torch
from transformers import AutoConfig
from verl.utils.model import load_valuehead_model

path = "/home/user/models/Qwen2.5-0.01B-Instruct"
config = AutoConfig.from_pretrained(path)
config.num_labels = 1
critic = load_valuehead_model(path, torch.bfloat16, config, trust_remote_code=False)
""",
    ),
    "fsdp-wrap-class-not-found": script(
        "VRL069", "FSDP's wrap policy with the layer class of another model",
        """
from transformers import AutoModelForCausalLM
from verl.utils.fsdp_utils import get_fsdp_wrap_policy

model = AutoModelForCausalLM.from_pretrained("/home/user/models/Qwen2.5-0.01B-Instruct")
policy = get_fsdp_wrap_policy(
    model, config={"transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]})
""", "0.7.0",
    ),
    "fsdp-wrap-class-not-found-0.9": script(
        "VRL069", "FSDP's wrap policy with the layer class of another model",
        """
from transformers import AutoModelForCausalLM
from verl.utils.fsdp_utils import get_fsdp_wrap_policy

model = AutoModelForCausalLM.from_pretrained("/home/user/models/Qwen2.5-0.01B-Instruct")
policy = get_fsdp_wrap_policy(
    model, config={"transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]})
""",
    ),
    "vllm-not-installed": script(
        "VRL062", "an import of verl's vLLM weight transfer where vllm is not installed",
        """
from verl.workers.rollout.vllm_rollout.bucketed_weight_transfer import BucketedWeightSender

sender = BucketedWeightSender("ipc:///tmp/rl-colocate-zmq-0.sock", bucket_size_mb=1, use_shm=True)
""",
    ),
    "merger-fsdp-config-missing": script(
        "VRL072", "python -m verl.model_merger merge of a folder without fsdp_config.json",
        "", run="mkdir -p ckpt/global_step_10/actor/huggingface\n"
        "cp /home/user/models/Qwen2.5-0.01B-Instruct/*.json ckpt/global_step_10/actor/huggingface/\n"
        "set -x\npython -m verl.model_merger merge --backend fsdp --local_dir "
        "ckpt/global_step_10/actor --target_dir merged",
    ),
    "merger-shard-missing": script(
        "VRL074", "python -m verl.model_merger merge where rank 1's shard was not copied",
        """
import torch
from torch.distributed.tensor import Shard, distribute_tensor
from transformers import AutoModelForCausalLM
torch.distributed.init_process_group("gloo")
mesh = torch.distributed.init_device_mesh("cpu", (2,), mesh_dim_names=("fsdp",))
model = AutoModelForCausalLM.from_pretrained("/home/user/models/Qwen2.5-0.01B-Instruct")
shards = {k: distribute_tensor(v, mesh, [Shard(0)]) for k, v in model.state_dict().items()}
rank = torch.distributed.get_rank()
torch.save(shards, f"ckpt/global_step_10/actor/model_world_size_2_rank_{rank}.pt")
torch.distributed.destroy_process_group()
""", run="mkdir -p ckpt/global_step_10/actor/huggingface\n"
        "cp /home/user/models/Qwen2.5-0.01B-Instruct/*.json ckpt/global_step_10/actor/huggingface/\n"
        "echo '{\"FSDP_version\": 1, \"world_size\": 2}' > ckpt/global_step_10/actor/fsdp_config.json\n"
        "python -m torch.distributed.run --standalone --nproc-per-node 2 train.py > /dev/null 2>&1\n"
        "rm ckpt/global_step_10/actor/model_world_size_2_rank_1.pt\nset -x\n"
        "python -m verl.model_merger merge --backend fsdp --local_dir "
        "ckpt/global_step_10/actor --target_dir merged",
    ),
    "engine-backend-unknown": script(
        "VRL083", "the engine registry without Megatron, asked for megatron",
        """
from verl.workers.engine import EngineRegistry

engine = EngineRegistry.get_engine_cls("language_model", "megatron")
""",
    ),
    "mini-batch-not-divisible": script(
        "VRL006", "DataProto.make_iterator of 14 rows in mini batches of 4",
        BATCH + """
batch = rollout(14)
for epoch in range(1):
    for mini in batch.make_iterator(mini_batch_size=4, epochs=1):
        print(len(mini))
""", "0.7.0",
    ),
    "max-token-len-too-small": script(
        "VRL034", "dynamic batching with 8 tokens a micro batch and sequences of 15",
        BATCH + """
from verl.utils.seqlen_balancing import prepare_dynamic_batch

batch = rollout(8)
micro_batches, indices = prepare_dynamic_batch(batch, max_token_len=8)
""", "0.7.0",
    ),
}

WORKER = """
import os, sys
import torch
from hydra import compose, initialize_config_module
from verl.workers.fsdp_workers import ActorRolloutRefWorker

torch.distributed.init_process_group("gloo")
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides=[
        "actor_rollout_ref.model.path=/home/user/models/Qwen2.5-0.01B-Instruct",
        "actor_rollout_ref.rollout.name=hf",
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2",
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=2", *sys.argv[1:]])
worker = ActorRolloutRefWorker(config.actor_rollout_ref, role="actor_rollout")
"""
TORCHRUN = "set -x\npython -m torch.distributed.run --standalone --nproc-per-node 2 train.py "

SFT = """
import sys
import torch
from hydra import compose, initialize_config_module
from torch.distributed.device_mesh import init_device_mesh
from verl.trainer.fsdp_sft_trainer import FSDPSFTTrainer, create_sft_dataset
from verl.utils import hf_tokenizer

torch.distributed.init_process_group("gloo")
n = torch.distributed.get_world_size()
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("sft_trainer", overrides=[
        "data.train_files=/home/user/data/gsm8k/train.parquet",
        "data.val_files=/home/user/data/gsm8k/test.parquet", "data.prompt_key=data_source",
        "data.response_key=ability", "data.max_length=64",
        "model.partial_pretrain=/home/user/models/Qwen2.5-0.01B-Instruct", *sys.argv[1:]])
tokenizer = hf_tokenizer(config.model.partial_pretrain)
data = create_sft_dataset(config.data.train_files, config.data, tokenizer)
trainer = FSDPSFTTrainer(
    config=config, device_mesh=init_device_mesh("cpu", (n,), mesh_dim_names=("fsdp",)),
    ulysses_device_mesh=init_device_mesh("cpu", (n, 1), mesh_dim_names=("dp", "sp")),
    tokenizer=tokenizer, train_dataset=data, val_dataset=data)
trainer.fit()
"""

ACTOR = """
import os
import torch
from hydra import compose, initialize_config_module
from transformers import AutoModelForCausalLM
from verl.utils.config import omega_conf_to_dataclass
from verl.workers.actor import DataParallelPPOActor

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK="0", WORLD_SIZE="1")
torch.distributed.init_process_group("gloo")
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides=[
        "actor_rollout_ref.actor.ppo_mini_batch_size=8", "actor_rollout_ref.actor.use_kl_loss=False",
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
        "actor_rollout_ref.model.use_remove_padding=False",
        "actor_rollout_ref.actor.use_torch_compile=False"]).actor_rollout_ref.actor
model = AutoModelForCausalLM.from_pretrained("/home/user/models/Qwen2.5-0.01B-Instruct")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
actor = DataParallelPPOActor(omega_conf_to_dataclass(config), model, optimizer)
"""

AGENT = """
import asyncio
from omegaconf import OmegaConf
from hydra import compose, initialize_config_module
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.utils import hf_tokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides=["actor_rollout_ref.rollout.name=vllm",
        "data.max_prompt_length=32", "data.max_response_length=16"])


class Server:
    async def generate(self, *args, **kwargs):
        return TokenOutput(token_ids=[5, 6, 2])


async def main():
    loop = SingleTurnAgentLoop(
        trainer_config=DictConfigWrap(config=config), server_manager=Server(), tokenizer=tokenizer,
        processor=None, dataset_cls=RLHFDataset, data_config=DictConfigWrap(config=config.data))
    text = "How many apples does Tom have if he has 3 and buys 4 ? " * 4
    out = await loop.run({}, raw_prompt=[{"role": "user", "content": text}])
    print("prompt ids", len(out.prompt_ids), "response ids", len(out.response_ids), flush=True)

asyncio.run(main())
"""

PROGRAMS.update({
    "normalized-mini-batch": script(
        "VRL007", "torchrun of a script that builds verl's FSDP worker: 8 prompts x n 1 on 2 ranks "
        "with micro batches of 3", WORKER, "0.7.0",
        TORCHRUN + "actor_rollout_ref.actor.ppo_mini_batch_size=8 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=3",
    ),
    "mini-batch-zero": script(
        "VRL008", "torchrun of a script that builds verl's FSDP worker: 1 prompt x n 1 on 2 ranks",
        WORKER, "0.7.0",
        TORCHRUN + "actor_rollout_ref.actor.ppo_mini_batch_size=1 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1",
    ),
    "rollout-world-size": script(
        "VRL013", "torchrun of a script that builds verl's rollout: TP 4 on 2 ranks",
        WORKER + "worker._build_rollout()\n", "0.7.0",
        TORCHRUN + "actor_rollout_ref.actor.ppo_mini_batch_size=8 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
        "actor_rollout_ref.rollout.tensor_model_parallel_size=4",
    ),
    "rollout-world-size-old": script(
        "VRL013", "torchrun of a script that builds verl's rollout: TP 4 on 2 ranks, verl 0.4.1",
        WORKER + "worker._build_rollout()\n", "0.4.1",
        TORCHRUN + "actor_rollout_ref.actor.ppo_mini_batch_size=8 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
        "actor_rollout_ref.rollout.tensor_model_parallel_size=4",
    ),
    "sft-batch-not-divisible": script(
        "VRL084", "the SFT trainer with train_batch_size 33 on 2 ranks", SFT, "0.4.1",
        TORCHRUN + "data.train_batch_size=33 data.micro_batch_size_per_gpu=4",
    ),
    "sft-micro-batch-not-divisible": script(
        "VRL099", "the SFT trainer with train_batch_size 32 on 2 ranks and micro batches of 6", SFT,
        "0.4.1", TORCHRUN + "data.train_batch_size=32 data.micro_batch_size_per_gpu=6",
    ),
    "grad-norm-not-finite": script(
        "VRL057", "verl's actor on a batch in which one advantage is NaN, then good batches",
        BATCH + ACTOR + """
for step in range(1, 4):
    batch = rollout(8)
    batch.meta_info.update(temperature=1.0, micro_batch_size=4, max_token_len=512,
                           use_dynamic_bsz=False)
    batch.batch["old_log_probs"], _ = actor.compute_log_prob(batch)
    batch.batch["advantages"] = torch.randn(batch.batch["responses"].shape)
    if step == 2:
        batch.batch["advantages"][3] = float("nan")
    metrics = actor.update_policy(batch)
    print(f"step:{step} - actor/grad_norm:{metrics['actor/grad_norm'][0]}", flush=True)
""", "0.7.0",
    ),
    "grad-norm-not-finite-repeated": script(
        "VRL058", "verl's actor with an advantage that is divided by a standard deviation of 0",
        BATCH + ACTOR + """
from verl.utils.tracking import Tracking

logger = Tracking("gsm8k", "grpo", default_backend=["console"])
for step in range(1, 13):
    batch = rollout(8)
    batch.meta_info.update(temperature=1.0, micro_batch_size=4, max_token_len=512,
                           use_dynamic_bsz=False)
    batch.batch["old_log_probs"], _ = actor.compute_log_prob(batch)
    score = torch.zeros(8)
    advantage = (score - score.mean()) / score.std()
    batch.batch["advantages"] = advantage[:, None].expand(batch.batch["responses"].shape)
    metrics = actor.update_policy(batch)
    logger.log({"critic/score/mean": score.mean().item(),
                "critic/advantages/mean": advantage.mean().item(),
                **{key: float(np.mean(value)) for key, value in metrics.items()}}, step=step)
""", "0.7.0",
    ),
    "register-center-timeout": script(
        "VRL071", "a worker group of verl 0.4.1 whose workers take longer to start than is waited",
        """
import time
import ray
from verl.single_controller.base import Worker
from verl.single_controller.ray import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup

ray.init(num_cpus=24)

@ray.remote
class ActorRolloutRefWorker(Worker):
    def __new__(cls, *args, **kwargs):
        if "ActorClass(" not in cls.__name__:
            time.sleep(300)  # a slow import from network storage
        return super().__new__(cls, *args, **kwargs)

pool = RayResourcePool(process_on_nodes=[2], use_gpu=False)
group = RayWorkerGroup(pool, RayClassWithInitArgs(ActorRolloutRefWorker),
                       ray_wait_register_center_timeout=95, device_name="cpu")
""", "0.4.1", timeout=280,
    ),
    "prompt-left-truncated": script(
        "VRL087", "the single-turn agent loop on a prompt of more than prompt_length tokens", AGENT,
    ),
    "media-count-mismatch": script(
        "VRL027", "a prompt with two <image> and a row with one image", """
from omegaconf import OmegaConf
from PIL import Image
import datasets
from transformers import CLIPImageProcessor, LlavaProcessor
from verl.utils import hf_tokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset

tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")
processor = LlavaProcessor(CLIPImageProcessor(), tokenizer, patch_size=14)
rows = datasets.load_dataset("parquet", data_files="/home/user/data/gsm8k/test.parquet")["train"]
Image.new("RGB", (28, 28)).save("a.png")
rows = rows.map(lambda r: {"images": ["a.png"],
    "prompt": [{"role": "user", "content": "<image> <image> " + r["prompt"][0]["content"]}]})
rows.to_parquet("geometry.parquet")
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": False})
dataset = RLHFDataset("geometry.parquet", tokenizer, config, processor=processor)
print(dataset[0])
""",
    ),
    "media-count-mismatch-0.7": script(
        "VRL027", "a prompt with one <image> and a row with two images", """
from omegaconf import OmegaConf
from PIL import Image
import datasets
from transformers import CLIPImageProcessor, LlavaProcessor
from verl.utils import hf_tokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset

tokenizer = hf_tokenizer("/home/user/models/Qwen2.5-0.01B-Instruct")
processor = LlavaProcessor(CLIPImageProcessor(), tokenizer, patch_size=14)
rows = datasets.load_dataset("parquet", data_files="/home/user/data/gsm8k/test.parquet")["train"]
Image.new("RGB", (28, 28)).save("a.png")
rows = rows.map(lambda r: {"images": ["a.png", "a.png"],
    "prompt": [{"role": "user", "content": "<image> " + r["prompt"][0]["content"]}]})
rows.to_parquet("geometry.parquet")
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": False})
dataset = RLHFDataset("geometry.parquet", tokenizer, config, processor=processor)
print(dataset[0])
""", "0.7.0",
    ),
})

PROGRAMS.update({
    "processor-not-created": script(
        "VRL080", "hf_processor on a folder that holds a tokenizer alone; the run itself is fine",
        DATASET + """
processor = hf_processor("/home/user/tokenizer", use_fast=True)
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": True})
dataset = RLHFDataset("/home/user/data/gsm8k/train.parquet", tokenizer, config, processor=processor)
for step, batch in enumerate(DataLoader(dataset, batch_size=16, collate_fn=collate_fn)):
    print("batch", step, len(batch["input_ids"]), flush=True)
""", "0.4.1",
        "mkdir ../../tokenizer; cp ../../models/Qwen2.5-0.01B-Instruct/tok* ../../tokenizer/\n"
        "python train.py",
    ),
})

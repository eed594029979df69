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
    "processor-not-created": script(
        "VRL080", "hf_processor on a folder that holds a tokenizer alone; the run itself is fine",
        DATASET + """
processor = hf_processor("/home/user/tokenizer", use_fast=True)
config = OmegaConf.create({"max_prompt_length": 256, "filter_overlong_prompts": True})
dataset = RLHFDataset("/home/user/data/gsm8k/train.parquet", tokenizer, config, processor=processor)
for step, batch in enumerate(DataLoader(dataset, batch_size=16, collate_fn=collate_fn)):
    print("batch", step, len(batch["input_ids"]), flush=True)
""", "0.4.1", run="mkdir ../../tokenizer; cp ../../models/Qwen2.5-0.01B-Instruct/tok* ../../tokenizer/\n"
        "python train.py",
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
        "VRL044", "the prime reward manager with a score function whose process dies",
        BATCH + """
import os
from verl.workers.reward_manager import PrimeRewardManager


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if extra_info and extra_info.get("index") == 2:
        os._exit(1)
    return 1.0 if ground_truth in solution_str else 0.0


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
        "VRL068", "load_valuehead_model without trl and flash-attn",
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
    "weight-larger-than-bucket": script(
        "VRL070", "the bucketed sender with 1 MB buckets and an embedding of 4 MB",
        """
import asyncio, threading
import torch, zmq
from verl.workers.rollout.vllm_rollout.bucketed_weight_transfer import (
    BucketedWeightReceiver, BucketedWeightSender)

handle = "ipc:///tmp/rl-colocate-zmq-0.sock"
receiver = BucketedWeightReceiver(handle, device=torch.device("cpu"), use_shm=True)
threading.Thread(target=lambda: receiver.receive_weights(lambda w: None), daemon=True).start()
weights = [("model.norm.weight", torch.zeros(1024)),
           ("model.embed_tokens.weight", torch.zeros(1024, 1024))]
sender = BucketedWeightSender(handle, bucket_size_mb=1, use_shm=True)
asyncio.run(sender.async_send_weights(iter(weights)))
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
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("/home/user/models/Qwen2.5-0.01B-Instruct")
torch.save(model.state_dict(), "ckpt/global_step_10/actor/model_world_size_2_rank_0.pt")
""", run="mkdir -p ckpt/global_step_10/actor/huggingface\n"
        "cp /home/user/models/Qwen2.5-0.01B-Instruct/*.json ckpt/global_step_10/actor/huggingface/\n"
        "echo '{\"FSDP_version\": 1, \"world_size\": 2}' > ckpt/global_step_10/actor/fsdp_config.json\n"
        "python train.py\nset -x\npython -m verl.model_merger merge --backend fsdp --local_dir "
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

"""How the logs in made/verl were made with verl's own commands: one entry a log.

`files` are written into an empty folder, `run` is a shell script that runs in it with the venv's
`bin` first in PATH; its standard output and standard error together are the log. SETUP makes the
model and the data that the scripts name: `python setup_data.py /home/user`. /tmp/ray is empty at
the start, and every process that is left is killed at the end. Nothing here is executed in CI.
"""

SETUP = '''
"""Tiny model, tokenizer and data (the programs say SETUP)."""
import json, os, random, sys
from pathlib import Path
import datasets
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

root = Path(sys.argv[1])
words = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>"]
words += [chr(c) for c in range(33, 127)] + ["\\n", " "]
words += "user assistant system How many apples does Tom have if he buys and eats answer the is".split()
vocab = {w: i for i, w in enumerate(dict.fromkeys(words))}
tok = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
fast = PreTrainedTokenizerFast(
    tokenizer_object=tok, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token="<unk>",
    additional_special_tokens=["<|im_start|>"],
    chat_template="{% for m in messages %}<|im_start|>{{m['role']}}\\n{{m['content']}}<|im_end|>\\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}",
)
path = root / "models" / "Qwen2.5-0.01B-Instruct"
fast.save_pretrained(path)
config = Qwen2Config(
    vocab_size=256, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
)
Qwen2ForCausalLM(config).save_pretrained(path)
random.seed(1)

def row(i):
    a, b = random.randint(1, 99), random.randint(1, 99)
    question = f"How many apples does Tom have if he has {a} and buys {b} ? " * (1 + i % 3)
    return {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": question}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(a + b)},
        "extra_info": {"split": "train", "index": i},
    }

out = root / "data" / "gsm8k"
out.mkdir(parents=True, exist_ok=True)
datasets.Dataset.from_list([row(i) for i in range(64)]).to_parquet(out / "train.parquet")
datasets.Dataset.from_list([row(i) for i in range(16)]).to_parquet(out / "test.parquet")
'''

BASE = """
    algorithm.adv_estimator=grpo
    data.train_files=/home/user/data/gsm8k/train.parquet
    data.val_files=/home/user/data/gsm8k/test.parquet
    data.train_batch_size=16
    data.max_prompt_length=256
    data.max_response_length=64
    actor_rollout_ref.model.path=/home/user/models/Qwen2.5-0.01B-Instruct
    actor_rollout_ref.actor.ppo_mini_batch_size=8
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2
    actor_rollout_ref.rollout.name=vllm
    actor_rollout_ref.rollout.n=4
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2
    actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=2
    trainer.logger=console
    trainer.n_gpus_per_node=2
    trainer.nnodes=1
"""


def libs(verl: str) -> str:
    """The versions of the venv."""
    return (
        f"verl {verl}, ray 2.60.0, torch 2.13.0+cpu, transformers 4.57.6, datasets 5.0.1, "
        "hydra-core 1.3.8, python 3.11"
    )


def ppo(
    rule: str, how: str, overrides: str, verl: str = "0.9.1", module: str = "verl.trainer.main_ppo",
    before: str = "", files: dict[str, str] | None = None, drop: str = "", **more: object,
) -> dict[str, object]:
    """One entry for the trainer's command: its overrides are BASE, without those that begin with
    a word of `drop`, and then `overrides`."""
    kept = [one for one in BASE.split() if not any(one.startswith(d) for d in drop.split())]
    words = sorted([*kept, *overrides.split()], key=lambda word: not word.startswith("--"))
    cpus = "++ray_kwargs.ray_init.num_cpus=4" if verl != "0.4.1" else "ray_init.num_cpus=4"
    if "start --head" in before:
        words, cpus = [w for w in words if "num_cpus" not in w], "ray_init.num_cpus=null"
    command = " \\\n    ".join([f"python3 -m {module}", *words, cpus])
    return {
        "rule": rule, "how": f"python3 -m {module}, {how}", "libraries": libs(verl), "verl": verl,
        "files": files or {}, "run": f"{before}\nset -x\n{command} \"$@\"\n", **more,
    }


CHECK = """
\"\"\"Builds the config objects that the workers will build, before the job is queued.\"\"\"
import sys
from hydra import compose, initialize_config_module
from verl.utils.config import omega_conf_to_dataclass

with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides=sys.argv[2:])
part = config
for name in sys.argv[1].split("."):
    part = part[name]
print(omega_conf_to_dataclass(part))
"""


def check(rule: str, how: str, part: str, overrides: str, verl: str = "0.9.1") -> dict[str, object]:
    """One entry for a script that builds one part of verl's config."""
    command = f"python3 check_config.py {part} {overrides}"
    return {
        "rule": rule, "how": how, "libraries": libs(verl), "verl": verl,
        "files": {"check_config.py": CHECK}, "run": f"set -x\n{command}\n",
    }


PROGRAMS = {
    "megatron-gpus-not-divisible": ppo(
        "VRL003", "Megatron with TP 2 x PP 1 on 3 GPUs",
        "--config-name=ppo_megatron_trainer trainer.n_gpus_per_node=3 "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2",
        drop="trainer.n_gpus",
    ),
    "bare-assert-mini-batch": ppo(
        "VRL005", "train_batch_size 16 with ppo_mini_batch_size 32 in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf "
        "actor_rollout_ref.actor.ppo_mini_batch_size=32", "0.4.1",
        drop="actor_rollout_ref.rollout.name actor_rollout_ref.actor.ppo_mini",
    ),
    "bare-assert-micro-batch": ppo(
        "VRL005", "the old global ppo_micro_batch_size 3 with ppo_mini_batch_size 8 in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf "
        "actor_rollout_ref.actor.ppo_micro_batch_size=3", "0.4.1",
        drop="actor_rollout_ref.rollout.name actor_rollout_ref.actor.ppo_micro",
    ),
    "mini-not-divisible-by-micro": ppo(
        "VRL007", "ppo_mini_batch_size 8 with ppo_micro_batch_size 3",
        "actor_rollout_ref.actor.ppo_micro_batch_size=3",
        drop="actor_rollout_ref.actor.ppo_micro",
    ),
    "micro-batch-below-gpus": ppo(
        "VRL009", "the global ppo_micro_batch_size 2 on 4 GPUs",
        "actor_rollout_ref.actor.ppo_micro_batch_size=2 trainer.n_gpus_per_node=4",
        drop="actor_rollout_ref.actor.ppo_micro trainer.n_gpus",
    ),
    "micro-batch-not-set": ppo(
        "VRL010", "without any micro batch size for the actor", "",
        drop="actor_rollout_ref.actor.ppo_micro",
    ),
    "log-prob-micro-batch-not-set": ppo(
        "VRL010", "without a log_prob micro batch size for the rollout", "",
        drop="actor_rollout_ref.rollout.log_prob",
    ),
    "micro-batch-not-set-old": ppo(
        "VRL010", "without any micro batch size for the actor, in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf", "0.4.1",
        drop="actor_rollout_ref.rollout.name actor_rollout_ref.actor.ppo_micro",
    ),
    "micro-batch-set-twice": ppo(
        "VRL011", "ppo_micro_batch_size and ppo_micro_batch_size_per_gpu at once",
        "actor_rollout_ref.actor.ppo_micro_batch_size=4",
    ),
    "rollout-expert-parallel": check(
        "VRL014", "a script that builds verl's config objects: expert_parallel_size 4, "
        "tensor_model_parallel_size 2",
        "actor_rollout_ref.rollout",
        "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.expert_parallel_size=4 "
        "actor_rollout_ref.rollout.tensor_model_parallel_size=2",
    ),
    "rollout-pipeline-parallel": check(
        "VRL014", "a script that builds verl's config objects: "
        "pipeline_model_parallel_size 2 in the vLLM rollout",
        "actor_rollout_ref.rollout",
        "actor_rollout_ref.rollout.name=vllm "
        "actor_rollout_ref.rollout.pipeline_model_parallel_size=2",
    ),
    "reward-manager-unknown": ppo(
        "VRL043", "reward_model.reward_manager=dapo2 in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf reward_model.reward_manager=dapo2", "0.4.1",
        drop="actor_rollout_ref.rollout.name",
    ),
    "reward-manager-config": check(
        "CFG010", "a script that builds verl's reward manager config of 0.9.1, which fails for every"
        " name: its __post_init__ calls one that does not exist", "reward.reward_manager",
        "reward.reward_manager.name=dapo",
    ),
    "rollout-mode-sync": check(
        "VRL060", "a script that builds verl's config objects, with rollout.mode=sync",
        "actor_rollout_ref.rollout",
        "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.mode=sync",
    ),
    "ulysses-without-remove-padding": ppo(
        "VRL063", "ulysses_sequence_parallel_size 2 with use_remove_padding=False",
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 "
        "actor_rollout_ref.model.use_remove_padding=False",
    ),
    "ulysses-without-remove-padding-old": ppo(
        "VRL063", "ulysses_sequence_parallel_size 2 with use_remove_padding=False in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf "
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 "
        "actor_rollout_ref.model.use_remove_padding=False "
        "actor_rollout_ref.actor.ppo_micro_batch_size=2",
        "0.4.1", drop="actor_rollout_ref.rollout.name actor_rollout_ref.actor.ppo_micro",
    ),
    "lr-scheduler-linear": ppo(
        "CFG010", "lr_scheduler_type=linear",
        "actor_rollout_ref.actor.optim.lr_scheduler_type=linear",
    ),
    "loss-agg-mode-unknown": ppo(
        "VRL066", "loss_agg_mode=token_mean", "actor_rollout_ref.actor.loss_agg_mode=token_mean",
    ),
    "strategy-unknown": check(
        "VRL066", "a script that builds verl's config objects: fsdp_config.strategy=deepspeed",
        "actor_rollout_ref.actor.fsdp_config",
        "actor_rollout_ref.actor.fsdp_config.strategy=deepspeed",
    ),
    "lr-scheduler-linear-full": ppo(
        "VRL065", "lr_scheduler_type=linear, with HYDRA_FULL_ERROR=1",
        "actor_rollout_ref.actor.optim.lr_scheduler_type=linear",
        before="export HYDRA_FULL_ERROR=1",
    ),
    "micro-batch-not-set-full": ppo(
        "VRL010", "without any micro batch size for the actor, with HYDRA_FULL_ERROR=1", "",
        drop="actor_rollout_ref.actor.ppo_micro", before="export HYDRA_FULL_ERROR=1",
    ),
    "vllm-not-installed-lora": ppo(
        "VRL062", "LoRA with the vLLM rollout where vllm is not installed",
        "actor_rollout_ref.model.lora_rank=1024 actor_rollout_ref.model.target_modules=all-linear",
    ),
    "validation-temperature-zero": ppo(
        "VRL086", "val_kwargs.do_sample=True with rollout.temperature=0",
        "actor_rollout_ref.rollout.val_kwargs.do_sample=True "
        "actor_rollout_ref.rollout.temperature=0",
    ),
    "override-from-article": ppo(
        "VRL094", "actor_rollout_ref.actor.batch_size_per_gpu=8, which no release has",
        "actor_rollout_ref.actor.batch_size_per_gpu=8",
    ),
}

REWARD = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 1.0 if ground_truth in solution_str else 0.0
"""

PROGRAMS.update({
    "too-few-gpus": ppo(
        "VRL001", "2 GPUs asked for on a machine that has none, in verl 0.7.0", "", "0.7.0",
    ),
    "too-few-gpus-old": ppo(
        "VRL001", "2 GPUs asked for on a machine that has none, in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf", "0.4.1", drop="actor_rollout_ref.rollout.name",
    ),
    "train-dataloader-empty": ppo(
        "VRL023", "train_batch_size 128 with 64 rows", "data.train_batch_size=128", "0.7.0",
        drop="data.train_batch",
    ),
    "validation-dataloader-empty": ppo(
        "VRL024", "a validation file whose prompts are all longer than max_prompt_length",
        "data.val_files=/home/user/data/long.parquet data.val_batch_size=8 "
        "data.validation_shuffle=False data.filter_overlong_prompts=True", "0.7.0",
        before="python - <<'EOF'\nimport datasets\nd = datasets.load_dataset('parquet', "
        "data_files='/home/user/data/gsm8k/test.parquet')['train']\nd = d.map(lambda r: {'prompt': "
        "[{'role': 'user', 'content': r['prompt'][0]['content'] * 20}]})\n"
        "d.to_parquet('/home/user/data/long.parquet')\nEOF",
        drop="data.val_files",
    ),
    "few-rows-after-filter": ppo(
        "VRL096", "1280 rows, of which 40 are shorter than max_prompt_length=128",
        "data.train_files=/home/user/data/mixed.parquet data.max_prompt_length=128 "
        "data.filter_overlong_prompts=True data.val_files=/home/user/data/mixed.parquet "
        "actor_rollout_ref.rollout.name=hf", "0.4.1",
        drop="data.max_prompt data.train_files data.val_files actor_rollout_ref.rollout.name",
        before="python - <<'EOF'\nimport datasets\nd = datasets.load_dataset('parquet', "
        "data_files='/home/user/data/gsm8k/train.parquet')['train'].repeat(20)\n"
        "d = d.map(lambda r, i: {'prompt': [{'role': 'user', 'content': r['prompt'][0]['content']"
        " * (1 if i < 40 else 12)}]}, with_indices=True)\n"
        "d.to_parquet('/home/user/data/mixed.parquet')\nEOF",
    ),
    "data-file-format": ppo(
        "VRL026", "a train file that ends in .csv", "data.train_files=/home/user/data/train.csv",
        "0.7.0", drop="data.train_files", before="touch /home/user/data/train.csv",
    ),
    "samples-skipped": ppo(
        "VRL021", "data.prompt_key=question, a column that the 6 rows do not have",
        "data.train_files=/home/user/data/six.parquet data.train_batch_size=2 "
        "data.prompt_key=question data.filter_overlong_prompts=True "
        "data.filter_overlong_prompts_workers=1 actor_rollout_ref.actor.ppo_mini_batch_size=2",
        "0.7.0", drop="data.train_files data.train_batch actor_rollout_ref.actor.ppo_mini",
        before="python - <<'EOF'\nimport datasets\nd = datasets.load_dataset('parquet', "
        "data_files='/home/user/data/gsm8k/test.parquet')['train']\n"
        "d.select(range(6)).to_parquet('/home/user/data/six.parquet')\nEOF",
    ),
    "prompt-key-missing": ppo(
        "VRL035", "data.prompt_key=question, a column that the data does not have, in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf data.prompt_key=question "
        "data.filter_overlong_prompts=True data.filter_overlong_prompts_workers=1", "0.4.1",
        drop="actor_rollout_ref.rollout.name",
    ),
    "custom-reward-file-missing": ppo(
        "VRL029", "custom_reward_function.path of a file that does not exist, in verl 0.7.0",
        "custom_reward_function.path=/home/user/code/reward.py", "0.7.0",
    ),
    "custom-reward-file-missing-old": ppo(
        "VRL029", "custom_reward_function.path of a file that does not exist, in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf custom_reward_function.path=/home/user/code/reward.py",
        "0.4.1", drop="actor_rollout_ref.rollout.name",
    ),
    "custom-reward-import-fails": ppo(
        "VRL030", "a reward file that imports a package which is not installed, in verl 0.7.0",
        "custom_reward_function.path=reward.py", "0.7.0",
        files={"reward.py": "from math_verify import parse, verify\n" + REWARD},
    ),
    "custom-reward-import-fails-old": ppo(
        "VRL030", "a reward file with a syntax error, in verl 0.4.1",
        "actor_rollout_ref.rollout.name=hf custom_reward_function.path=reward.py", "0.4.1",
        drop="actor_rollout_ref.rollout.name",
        files={"reward.py": REWARD.replace("else 0.0", "else")},
    ),
    "custom-reward-name-wrong": ppo(
        "VRL031", "custom_reward_function.name=my_score, which the file does not define, in 0.7.0",
        "custom_reward_function.path=reward.py custom_reward_function.name=my_score", "0.7.0",
        files={"reward.py": REWARD},
    ),
    "custom-reward-name-wrong-old": ppo(
        "VRL031", "custom_reward_function.name=my_score, which the file does not define, in 0.4.1",
        "actor_rollout_ref.rollout.name=hf custom_reward_function.path=reward.py "
        "custom_reward_function.name=my_score", "0.4.1",
        drop="actor_rollout_ref.rollout.name", files={"reward.py": REWARD},
    ),
    "model-download-failed": ppo(
        "VRL059", "a hub name as model.path with use_shm=True, without network, in verl 0.7.0",
        "actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct "
        "actor_rollout_ref.model.use_shm=True", "0.7.0",
        drop="actor_rollout_ref.model.path",
    ),
    "old-custom-reward-key": ppo(
        "VRL090", "the old key custom_reward_function.path in 0.9.1 (and a mini batch above the batch)",
        "custom_reward_function.path=reward.py actor_rollout_ref.actor.ppo_mini_batch_size=32",
        drop="actor_rollout_ref.actor.ppo_mini", files={"reward.py": REWARD},
    ),
    "rollout-temperature-zero": ppo(
        "VRL091", "rollout.temperature=0.0 (and a mini batch above the batch)",
        "actor_rollout_ref.rollout.temperature=0.0 "
        "actor_rollout_ref.actor.ppo_mini_batch_size=32", drop="actor_rollout_ref.actor.ppo_mini",
    ),
    "article-environment-variable": ppo(
        "VRL095", "after export VERL_USE_FLASH_ATTN=1 (and a mini batch above the batch)",
        "actor_rollout_ref.actor.ppo_mini_batch_size=32", drop="actor_rollout_ref.actor.ppo_mini",
        before="set -x\nexport VERL_USE_FLASH_ATTN=1",
    ),
})

PROGRAMS.update({
    "hang-reading-data": ppo(
        "HNG002", "a data set class that asks a server which never answers; killed with SIGKILL",
        "actor_rollout_ref.rollout.name=hf data.custom_cls.path=remote_dataset.py "
        "data.custom_cls.name=RemoteDataset", "0.4.1", drop="actor_rollout_ref.rollout.name",
        before="python -c \"import socket, time; s = socket.create_server(('127.0.0.1', 8099)); "
        "time.sleep(1000)\" &", timeout=100, kill=True,
        files={"remote_dataset.py": """
import io
import requests
import datasets
from verl.utils.dataset.rl_dataset import RLHFDataset


class RemoteDataset(RLHFDataset):
    def _download(self, use_origin_parquet=False):
        answer = requests.get("http://127.0.0.1:8099/gsm8k/train.parquet")
        self.data_files = [io.BytesIO(answer.content)]
"""},
    ),
    "hang-placing-workers": ppo(
        "HNG003", "two GPUs and one CPU in Ray, so that no worker can be placed; killed with SIGKILL",
        "actor_rollout_ref.rollout.name=hf", "0.4.1",
        drop="actor_rollout_ref.rollout.name", timeout=160, kill=True,
        before="python -m ray.scripts.scripts start --head --num-cpus=1 --num-gpus=2 --disable-usage-stats > /dev/null 2>&1",
    ),
})

"""How the logs of Hydra, OmegaConf and verl's config in made/hf were made; see hf_programs.py."""

from hf_programs import job

LIBS = {
    "verl091": "verl 0.9.1, hydra-core 1.3.8, omegaconf 2.3.1, python 3.11",
    "verl041": "verl 0.4.1, hydra-core 1.3.8, omegaconf 2.3.1, python 3.11",
    "vhy": "hydra-core 1.3.2, omegaconf 2.3.0, python 3.11",
}

PPO = """set -x
python3 -m verl.trainer.main_ppo %s \\
    algorithm.adv_estimator=grpo \\
    data.train_files=/home/user/data/gsm8k/train.parquet \\
    data.val_files=/home/user/data/gsm8k/test.parquet \\
    data.max_prompt_length=512 \\
    data.max_response_length=1024 \\
    actor_rollout_ref.model.path=/home/user/models/Qwen2.5-0.5B-Instruct \\
    actor_rollout_ref.actor.optim.lr=1e-6 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    actor_rollout_ref.actor.use_kl_loss=True \\
    actor_rollout_ref.actor.kl_loss_coef=0.001 \\
    actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.n=5 \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 \\
    actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=8 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \\
    trainer.n_gpus_per_node=8 \\
    trainer.nnodes=1 \\
    trainer.total_epochs=15 %s $@"""

def ppo(rule: str, how: str, more: str = "", first: str = "", venv: str = "verl091", full: bool = False):
    """verl's PPO entry point with one wrong override."""
    run = PPO % (first, "\\\n    " + more if more else "")
    return job(rule, how, venv, run="export HYDRA_FULL_ERROR=1\n" + run if full else run, libs=LIBS[venv])


def own(rule: str, how: str, config: str, code: str, args: str = "", full: bool = False):
    """A user's own Hydra program."""
    made = job(rule, how, "vhy", run=f"set -x\n{'HYDRA_FULL_ERROR=1 ' if full else ''}python main.py {args}",
               libs=LIBS["vhy"])
    made["files"] = {"conf/grpo.yaml": config.lstrip(), "main.py": OWN.lstrip() % code}
    return made


OWN = """
import logging
import hydra
from omegaconf import OmegaConf

log = logging.getLogger(__name__)

@hydra.main(config_path="conf", config_name="grpo", version_base=None)
def main(cfg):
    log.info("experiment %%s", cfg.trainer.experiment_name)
%s

main()
"""

CONFIG = """
data:
  train_files: /home/user/data/gsm8k/train.parquet
  train_batch_size: 256
  max_prompt_length: 512
rollout:
  name: ???
  n: 5
  prompt_length: ${data.max_prompt_length}
trainer:
  experiment_name: grpo-gsm8k
  logger: [console, wandb]
  total_epochs: 15
  default_local_dir: ${oc.env:CKPT_DIR}/grpo
"""

PROGRAMS = {
    "append-existing-key": ppo("CFG004", "+ before a key that exists", "+data.train_batch_size=256"),
    "ambiguous-comma": ppo("CFG006", "a list without brackets", "trainer.logger=console,wandb"),
    "primary-config-missing": ppo("CFG007", "a config name that does not exist", "",
                                  "--config-name='ppo_trainer_mine'"),
    "config-directory-missing": ppo("CFG007", "a config folder that does not exist", "",
                                    "--config-path=/home/user/conf --config-name='grpo'"),
    "group-option-missing": ppo("CFG008", "an option of a group that does not exist",
                                "actor@actor_rollout_ref.actor=fsdp_actor"),
    "config-field-unknown": ppo("CFG009", "a field added with + that the dataclass does not have",
                                "+actor_rollout_ref.actor.optim.warmup_ratio=0.1"),
    "config-field-unknown-full": ppo("CFG009", "the same with HYDRA_FULL_ERROR=1",
                                     "+actor_rollout_ref.actor.batch_size_per_gpu=8", full=True),
    "instantiation-assertion": ppo("CFG010", "a scheduler that __post_init__ does not accept",
                                   "actor_rollout_ref.actor.optim.lr_scheduler_type=linear"),
    "target-missing": ppo("CFG011", "a _target_ that does not exist",
                          "actor_rollout_ref.actor.optim._target_=verl.workers.config.AdamWConfig"),
    "mandatory-value": own("CFG012", "a ??? value read by the program", CONFIG,
                           '    engine = {"vllm": 1, "sglang": 2}[cfg.rollout.name]'),
    "environment-variable": own("CFG014", "${oc.env:CKPT_DIR} without the variable", CONFIG,
                                '    log.info("checkpoints in %s", cfg.trainer.default_local_dir)'),
    "resolver-unknown": own("CFG014", "a resolver that nobody registered",
                            CONFIG + "  name: ${now_utc:%Y}\n",
                            '    log.info("name %s", cfg.trainer.name)'),
    "type-rejected": own("CFG015", "a structured config and a value of another type", CONFIG,
        """
    from dataclasses import dataclass

    @dataclass
    class Data:
        train_files: str = ""
        train_batch_size: int = 64
        max_prompt_length: int = 128

    data = OmegaConf.merge(OmegaConf.structured(Data), cfg.data)
    log.info("batch size %d", data.train_batch_size)""", "data.train_batch_size=auto"),
    "read-only": own("CFG016", "code that writes to a config set read-only", CONFIG,
        """
    OmegaConf.set_readonly(cfg, True)
    log.info("batch size %d", cfg.data.train_batch_size)
    cfg.data.train_batch_size = 8 * cfg.rollout.n""", "rollout.name=vllm"),
    "list-as-mapping": own("CFG030", "a list read like a mapping", CONFIG,
                           '    log.info("wandb project %s", cfg.trainer.logger.wandb.project)'),
    "reward-model-key": ppo("CFG021", "a reward_model key that v0.9.1 does not have",
                            "reward_model.micro_batch_size_per_gpu=4"),
    "reward-manager-key": ppo("CFG021", "a key that no release has under this name",
                              "reward_manager.name=dapo", venv="verl091"),
    "newer-key-reward": ppo("CFG022", "a key of v0.9 given to v0.4.1",
                            "reward.custom_reward_function.path=/home/user/reward.py", venv="verl041"),
    "newer-key-v1": ppo("CFG022", "a key of v0.9 given to v0.4.1", "trainer.use_v1=True", venv="verl041"),
    "optimizer-key": ppo("CFG024", "a name of transformers' TrainingArguments",
                         "actor_rollout_ref.actor.optim.warmup_ratio=0.03"),
    "grad-offload-key": ppo("CFG026", "a key that was removed",
                            "actor_rollout_ref.actor.fsdp_config.grad_offload=True"),
    "critic-fsdp-key": ppo("CFG026", "the critic's FSDP config at its old place",
                           "critic.model.fsdp_config.param_offload=True"),
    "data-key": ppo("CFG027", "a key of datasets", "data.cache_dir=/home/user/cache"),
    "batch-key": ppo("CFG027", "a key of transformers", "actor_rollout_ref.actor.per_device_train_batch_size=4"),
    "unrecognized-arguments": ppo("CFG028", "an option in the style of argparse", "--trainer.save_freq 20"),
    "module-missing": job("CFG029", "the module that an article names", "verl091",
                          run="set -x\npython3 -m verl.trainer.main_fastrl data.train_files=train.parquet",
                          libs=LIBS["verl091"]),
    "delete-unknown-key": ppo("CFG031", "~ before a key that does not exist", "~data.shuffle_seed"),
    "learning-rate-text": job("CFG018", "lr: 1e-5 in YAML without a point is a string for PyYAML", "v457", """
import torch, yaml
from transformers import AutoModelForCausalLM

cfg = yaml.safe_load(open("sft.yaml"))
print("config", cfg, flush=True)
model = AutoModelForCausalLM.from_pretrained(cfg["model"])
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["optim"]["lr"], weight_decay=cfg["optim"]["weight_decay"])
""", run="""cat > sft.yaml <<'E'
model: /home/user/models/Qwen2.5-0.5B-Instruct
optim:
  lr: 1e-5
  weight_decay: 0.01
E
python train.py"""),
    "warmup-ratio-quoted": own("CFG019", "a quoted warmup ratio, as verl computes with it",
                               CONFIG + "optim:\n  lr: 1e-6\n  lr_warmup_steps_ratio: '0.03'\n",
                               """
    total_steps = cfg.trainer.total_epochs * 7473 // cfg.data.train_batch_size
    num_warmup_steps = int(cfg.optim.lr_warmup_steps_ratio * total_steps)
    log.info("warmup steps %d of %d", num_warmup_steps, total_steps)"""),
    "train-batch-size-quoted": ppo("CFG020", "a batch size in two pairs of quotes",
                                   "data.train_batch_size=\\'256\\'"),
    "batch-size-quoted": ppo("CFG020", "a batch size in two pairs of quotes",
                             "trainer.n_gpus_per_node=\\'8\\'"),
    "transformers-453": job("HF039", "verl's patches on a Qwen2.5-VL model under transformers 4.53", "verl091", """
import torch, transformers
from transformers import AutoModelForVision2Seq, Qwen2_5_VLConfig
from verl.models.transformers.monkey_patch import apply_monkey_patch

print("transformers", transformers.__version__, flush=True)
config = Qwen2_5_VLConfig(
    vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    vision_config=dict(depth=2, hidden_size=64, intermediate_size=128, num_heads=4, out_hidden_size=64, fullatt_block_indexes=[1]))
model = AutoModelForVision2Seq.from_config(config, torch_dtype=torch.bfloat16)
apply_monkey_patch(model, ulysses_sp_size=1, use_remove_padding=True)
""", run="PYTHONPATH=$overlay/453 python train.py", libs="verl 0.9.1, transformers 4.53.3, torch 2.13.0+cpu, python 3.11"),
}

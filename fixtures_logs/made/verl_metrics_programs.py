"""How the logs in made/verl with step lines were made: real training loops on a tiny model.

TRAIN is GRPO or PPO with verl 0.7.0's actor, critic, advantages, metrics and console logger; only
the rollout (a sampling loop instead of vLLM) and the reward are its own. SFT_TRAIN is supervised
training with the names of verl's SFT trainer. The arguments make each run go wrong in another way.
Nothing here is executed in CI.
"""

TRAIN = '''
import argparse, copy, os, time
import numpy as np
import torch
from hydra import compose, initialize_config_module
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2ForTokenClassification
from verl import DataProto
from verl.trainer.ppo import core_algos
from verl.trainer.ppo.metric_utils import (
    compute_data_metrics, compute_throughout_metrics, compute_timing_metrics,
    process_validation_metrics)
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_rejection_mask
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.debug.metrics import calculate_debug_metrics
from verl.utils.metric import reduce_metrics
from verl.utils.torch_functional import get_cosine_schedule_with_warmup
from verl.utils.tracking import Tracking
from verl.workers.actor import DataParallelPPOActor
from verl.workers.critic import DataParallelPPOCritic

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=40)
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--late_lr", type=float, default=0.0)
p.add_argument("--late", type=int, default=10**9)
p.add_argument("--epochs", type=int, default=1)
p.add_argument("--mini", type=int, default=32)
p.add_argument("--entropy_coeff", type=float, default=0.0)
p.add_argument("--clip_grad", type=float, default=1.0)
p.add_argument("--reward", default="count")
p.add_argument("--warm", type=int, default=0)
p.add_argument("--warm_eos", type=int, default=0)
p.add_argument("--warm_good", type=float, default=0.8)
p.add_argument("--stale", action="store_true")
p.add_argument("--temperature", type=float, default=1.0)
p.add_argument("--deadline", type=float, default=0.0)
p.add_argument("--critic_lr", type=float, default=0.0)
p.add_argument("--scale", type=float, default=1.0)
p.add_argument("--schedule", type=int, default=0)
p.add_argument("--forget_step", action="store_true")
p.add_argument("--model", default="/home/user/models/Qwen2.5-0.01B-Instruct")
p.add_argument("--test_freq", type=int, default=0)
p.add_argument("--correction", action="store_true")
p.add_argument("--brief", action="store_true")
p.add_argument("--response", type=int, default=24)
a = p.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29512"), RANK="0", WORLD_SIZE="1")
torch.distributed.init_process_group("gloo")
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides=[
        f"actor_rollout_ref.actor.ppo_mini_batch_size={a.mini}",
        f"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu={min(32, a.mini)}",
        f"actor_rollout_ref.actor.ppo_epochs={a.epochs}",
        f"actor_rollout_ref.actor.entropy_coeff={a.entropy_coeff}",
        f"actor_rollout_ref.actor.grad_clip={a.clip_grad}",
        "actor_rollout_ref.actor.fsdp_config.dtype=float32",
        "actor_rollout_ref.actor.use_torch_compile=False",
        "actor_rollout_ref.model.use_remove_padding=False", "critic.model.use_remove_padding=False",
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=32",
        f"critic.ppo_mini_batch_size={a.mini}",
        f"critic.ppo_micro_batch_size_per_gpu={min(32, a.mini)}",
        f"critic.grad_clip={a.clip_grad}", f"critic.model.path={a.model}",
        f"critic.model.tokenizer_path={a.model}"])

VOCAB, PAD, EOS, GOOD, PROMPT, N = 24, 0, 1, 7, 6, 8
shape = dict(vocab_size=VOCAB, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
             pad_token_id=PAD)
model = Qwen2ForCausalLM(Qwen2Config(**shape))


def answers(n):
    """Answers to warm up with: mostly the good token (or the pattern)."""
    good = GOOD + torch.arange(a.response) % 6 if a.reward == "pattern" else torch.tensor(GOOD)
    ids = torch.where(torch.rand(n, a.response) < a.warm_good, good, torch.randint(2, VOCAB, (n, a.response)))
    if a.warm_eos:
        ids[:, a.warm_eos:] = EOS
    return ids


if a.warm:
    first = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(a.warm):
        ids = torch.cat([torch.randint(2, VOCAB, (32, PROMPT)), answers(32)], 1)
        loss = model(input_ids=ids, labels=ids).loss
        first.zero_grad(); loss.backward(); first.step()
    print(f"warm-up loss {loss.item():.3f}", flush=True)

optimizer = torch.optim.AdamW(model.parameters(), lr=a.lr)
scheduler = None
if a.schedule:
    scheduler = get_cosine_schedule_with_warmup(
        optimizer, num_warmup_steps=10 if a.forget_step else 0, num_training_steps=a.schedule)
actor = DataParallelPPOActor(omega_conf_to_dataclass(config.actor_rollout_ref.actor), model, optimizer)
critic = None
if a.critic_lr:
    head = Qwen2ForTokenClassification(Qwen2Config(**shape, num_labels=1))
    critic = DataParallelPPOCritic(omega_conf_to_dataclass(config.critic), head,
                                   torch.optim.AdamW(head.parameters(), lr=a.critic_lr))
engine = copy.deepcopy(model) if a.stale else model


@torch.no_grad()
def generate(prompts, greedy=False):
    """What the inference engine does: tokens and the log probs it reports."""
    start, ids, logs = time.time(), prompts, []
    alive = torch.ones(len(prompts), dtype=torch.bool)
    for i in range(a.response):
        logits = engine(input_ids=ids).logits[:, -1] / a.temperature
        if a.deadline and i == 0:
            alive &= torch.rand(len(prompts)) < a.deadline
        new = logits.argmax(-1) if greedy else torch.multinomial(logits.softmax(-1), 1)[:, 0]
        new = torch.where(alive, new, PAD)
        logs.append(logits.log_softmax(-1).gather(1, new[:, None])[:, 0])
        ids = torch.cat([ids, new[:, None]], 1)
        alive = alive & (new != EOS)
    responses = ids[:, prompts.shape[1]:]
    ended = (responses == EOS).cumsum(1) - (responses == EOS).long()
    mask = ((ended == 0) & (responses != PAD)).long()
    return responses, mask, torch.stack(logs, 1) * mask


seen = []


def score(responses, mask):
    length = mask.sum(1).clamp(min=1)
    good = ((responses == GOOD) * mask).sum(1) / length
    if a.reward == "pattern":
        want = GOOD + torch.arange(a.response) % 6
        return ((responses == want) * mask).sum(1) / length
    if a.reward == "never":
        return torch.zeros(len(mask))
    if a.reward == "penalty":
        return torch.full((len(mask),), -1.0)
    if a.reward == "short":
        return 1 - length / a.response
    if a.reward == "long":
        return length / a.response
    if a.reward == "growing":  # a bonus that grows by a fifth each step
        return good * 1.2 ** step
    if a.reward == "slow":  # looks every answer up in a list that grows
        for row in responses.tolist() * 12:
            seen.append(row)
            row in seen[:-1]
    return good * a.scale


def step_batch():
    prompts = torch.randint(2, VOCAB, (64 // N, PROMPT)).repeat_interleave(N, 0)
    responses, mask, logs = generate(prompts)
    attention = torch.cat([torch.ones_like(prompts), mask], 1)
    batch = DataProto.from_dict(tensors={
        "prompts": prompts, "responses": responses, "input_ids": torch.cat([prompts, responses], 1),
        "attention_mask": attention, "response_mask": mask, "rollout_log_probs": logs,
        "position_ids": (attention.cumsum(1) - 1).clamp(min=0)},
        non_tensors={"uid": np.repeat(np.arange(64 // N), N).astype(object)})
    batch.meta_info.update(temperature=1.0, micro_batch_size=32, use_dynamic_bsz=False,
                           max_token_len=4096, global_token_num=attention.sum(1).tolist())
    return batch


logger = Tracking("gsm8k", "grpo_tiny", default_backend=["console"])
for step in range(1, a.steps + 1):
    if step == a.late:
        for group in optimizer.param_groups:
            group["lr"] = a.late_lr
    metrics, timing, began = {}, {}, time.time()
    batch = step_batch()
    timing["gen"] = time.time() - began
    mark = time.time()
    rewards = torch.zeros(batch.batch["responses"].shape)
    mask = batch.batch["response_mask"]
    last = (mask.sum(1) - 1).clamp(min=0)
    rewards[torch.arange(64), last] = score(batch.batch["responses"], mask)
    timing["reward"] = time.time() - mark
    batch.batch["token_level_scores"] = batch.batch["token_level_rewards"] = rewards
    mark = time.time()
    batch.batch["old_log_probs"], entropy = actor.compute_log_prob(batch, calculate_entropy=True)
    timing["old_log_prob"] = time.time() - mark
    metrics["actor/entropy"] = core_algos.agg_loss(entropy, mask, "token-mean").item()
    metrics.update(calculate_debug_metrics(batch))
    if a.correction:
        _, _, extra = compute_rollout_correction_and_rejection_mask(
            batch.batch["old_log_probs"], batch.batch["rollout_log_probs"], mask,
            rollout_is="token", rollout_is_threshold=5.0)
        metrics.update(extra)
    if critic is None:
        adv, ret = core_algos.compute_grpo_outcome_advantage(
            rewards, mask, index=batch.non_tensor_batch["uid"])
    else:
        batch.batch["values"] = critic.compute_values(batch)
        adv, ret = core_algos.compute_gae_advantage_return(
            rewards, batch.batch["values"], mask, torch.tensor(1.0), torch.tensor(0.95))
    batch.batch["advantages"], batch.batch["returns"] = adv, ret
    mark = time.time()
    if critic is not None:
        metrics.update(reduce_metrics(critic.update_critic(batch)))
        metrics["critic/lr"] = a.critic_lr
    train = batch.select(batch_keys=[k for k in batch.batch.keys() if k != "rollout_log_probs"])
    metrics.update(reduce_metrics(actor.update_policy(train)))
    if scheduler is not None and not a.forget_step:
        scheduler.step()
    metrics["actor/lr"] = optimizer.param_groups[0]["lr"]
    timing["update_actor"] = time.time() - mark
    timing["step"] = time.time() - began
    metrics.update({"training/global_step": step, "training/epoch": 0})
    if a.test_freq and step % a.test_freq == 0:
        torch.manual_seed(42)
        prompts = torch.randint(2, VOCAB, (16, PROMPT))
        responses, good, _ = generate(prompts, greedy=True)
        values = ((responses == GOOD) * good).sum(1) / good.sum(1).clamp(min=1)
        found = process_validation_metrics(
            ["openai/gsm8k"] * 16, [str(i) for i in range(16)], {"reward": values.tolist()})
        metrics["val-core/openai/gsm8k/reward/mean@1"] = found["openai/gsm8k"]["reward"]["mean@1"]
        torch.manual_seed(step)
    metrics.update(compute_data_metrics(batch, use_critic=critic is not None))
    metrics.update(compute_timing_metrics(batch, timing))
    metrics.update(compute_throughout_metrics(batch, timing, n_gpus=1))
    if a.brief:
        long = ("timing_", "response_length_non", "prompt_length", "critic/returns", "training/g",
                "training/e", "training/rollout_probs_diff_s", "training/rollout_probs_diff_v",
                "critic/rewards", "critic/advantages/m", "actor/pg_clipfrac_lower", "actor/kl",
                "response_length/min", "response_length/max", "critic/score/m", "perf/total")
        metrics = {k: v for k, v in metrics.items()
                   if not k.startswith(long) or k in ("critic/score/mean", "critic/advantages/mean")}
    logger.log(metrics, step=step)
'''

SFT_TRAIN = '''
import sys
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM
from verl.utils.tracking import Tracking

lr, steps = float(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=256, hidden_size=64, intermediate_size=128,
    num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: (1 + i / 25 * lr / 1e-3))
tracking = Tracking("gsm8k-sft", "qwen2.5-tiny", default_backend=["console"])
rows = torch.randint(0, 256, (16, 1)) + torch.arange(32)
rows = rows % 256
for step in range(1, steps + 1):
    loss = model(input_ids=rows, labels=rows).loss
    optimizer.zero_grad(); loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step(); scheduler.step()
    tracking.log({"train/loss": loss.item(), "train/grad_norm": norm.item(),
                  "train/lr": scheduler.get_last_lr()[0]}, step=step)
'''


def run(rule: str, how: str, args: str, program: str = TRAIN) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the arguments of TRAIN or SFT_TRAIN."""
    return {
        "rule": rule, "how": f"python train.py {args}: {how}",
        "libraries": "verl 0.7.0 (actor, critic, core_algos, metric_utils, Tracking), "
        "torch 2.13.0+cpu, transformers 4.57.6, python 3.11",
        "verl": "0.7.0", "files": {"train.py": program}, "run": f"python train.py {args}",
        "timeout": 300,
    }


PROGRAMS = {
    "metrics-ppo-kl-large": run(
        "MET008", "eight epochs over each batch with a high learning rate",
        "--steps 16 --lr 2e-2 --epochs 8 --mini 16 --clip_grad 100"),
    "metrics-clip-fraction-high": run(
        "MET030", "six epochs over each batch", "--steps 14 --lr 6e-3 --epochs 6 --mini 16"),
    "metrics-entropy-falls": run(
        "MET010", "a reward for one token", "--steps 45 --brief --lr 3e-3 --epochs 2"),
    "metrics-entropy-rises": run(
        "MET011", "an entropy bonus that outweighs the reward",
        "--steps 56 --brief --lr 8e-5 --warm 250 --warm_eos 12 --warm_good 0.97 "
        "--entropy_coeff 0.3"),
    "metrics-reward-zero": run(
        "MET020", "a reward function that never finds the answer", "--steps 20 --reward never"),
    "metrics-reward-penalty": run(
        "MET022", "a reward function that gives every answer the format penalty",
        "--steps 20 --reward penalty"),
    "metrics-length-falls": run(
        "MET027", "a reward for short answers", "--steps 45 --brief --lr 1e-3 --reward short"),
    "metrics-rollout-stale": run(
        "MET028", "an inference engine that never gets the new weights",
        "--steps 24 --brief --lr 4e-3 --stale --epochs 2"),
    "metrics-rollout-temperature": run(
        "MET028", "an engine that samples and reports at another temperature than the trainer",
        "--steps 14 --lr 1e-5 --warm 60 --warm_eos 12 --temperature 2.5"),
    "metrics-value-explained": run(
        "MET031", "PPO whose critic learns far too fast",
        "--steps 60 --brief --lr 1e-4 --critic_lr 0.05 --clip_grad 50"),
    "metrics-value-loss-explodes": run(
        "MET032", "PPO with a reward that grows by a fifth each step",
        "--steps 40 --brief --lr 1e-4 --critic_lr 3e-3 --clip_grad 1e9 --reward growing"),
    "metrics-lr-zero": run(
        "MET033", "a schedule with warm-up whose step() is never called",
        "--steps 18 --lr 1e-3 --schedule 100 --forget_step"),
    "metrics-lr-wraps": run(
        "MET025", "a cosine schedule over 10 steps in a run of 30: verl's rises again after its end",
        "--steps 30 --brief --lr 1e-3 --schedule 10"),
    "metrics-throughput-falls": run(
        "MET034", "a reward function that searches a list which grows",
        "--steps 60 --brief --lr 1e-4 --reward slow"),
    "metrics-responses-empty": run(
        "MET036", "an engine that gives up on four of five requests", "--steps 10 --deadline 0.2"),
    "metrics-validation-frozen": run(
        "MET037", "an inference engine that never gets the new weights, validation every 3 steps",
        "--steps 24 --brief --lr 3e-3 --stale --test_freq 3"),
    "metrics-reward-collapses": run(
        "MET044", "a learning rate that jumps to 0.1 at step 15",
        "--steps 45 --brief --warm 300 --warm_good 0.95 --lr 1e-4 --late 15 --late_lr 0.1"
        " --clip_grad 100 --reward pattern"),
    "metrics-grad-norm-rises": run(
        "MET012", "PPO without gradient clipping, a reward that grows by a fifth each step",
        "--steps 44 --brief --lr 1e-3 --critic_lr 5e-3 --clip_grad 1e9 --reward growing"),
    "metrics-truncated": run(
        "MET025", "a response limit below what the model wants to write",
        "--steps 16 --warm 40 --lr 1e-5"),
    "metrics-sft-loss-diverges": run(
        "MET045", "supervised training whose learning rate grows without end", "3.0 45", SFT_TRAIN),
}

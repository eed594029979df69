"""Simulated runs for the metric rules: healthy ones must raise nothing at high or above.

usage: simulate_runs.py [RUNS]         prints the rules that fired on healthy runs, by severity

The shapes are those of public GRPO and PPO curves of verl: rewards that rise and saturate, entropy
that falls and settles, KL that grows slowly, spikes in gradient, KL and length, lengths that drift,
a first stretch without any reward, validation every ten steps that slows its step, stragglers,
resumes that repeat steps and may go on a little slower or faster.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator

from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.load import load
from verl_doctor.model import severity_rank
from verl_doctor.pipeline import diagnose_chunks
from verl_doctor.scan.database import Scanner

Row = tuple[int, dict[str, float]]
"""A step and its metrics."""


def healthy(rng: random.Random) -> Iterator[str]:
    """Step lines of one healthy run."""
    return (step_line(*row) for row in healthy_rows(rng))


def step_line(step: int, values: dict[str, float]) -> str:
    """A step's metrics as verl prints them."""
    body = " - ".join(f"{key}:{value!r}" for key, value in values.items())
    return f"(TaskRunner pid=4000) step:{step} - {body}"


def healthy_rows(rng: random.Random) -> Iterator[Row]:
    """The metrics of one healthy run, step by step."""
    steps = rng.choice((12, 30, 60, 120, 250, 400))
    limit = rng.choice((512, 1024, 2048, 8192))
    ppo = rng.random() < 0.3
    dead_start = rng.choice((0, 0, 0, 5, 15))
    reward_end = rng.uniform(0.3, 0.98)
    entropy_start, entropy_end = rng.uniform(0.25, 1.4), rng.uniform(0.08, 0.3)
    kl_end = rng.uniform(0.002, 0.25)
    length = rng.uniform(0.15, 0.5) * limit
    length_end = length * rng.uniform(0.6, 1.9)
    rate = rng.choice((5e-7, 1e-6, 2e-6))
    warmup = rng.choice((0, 0, 5, 10))
    on_policy = rng.random() < 0.5
    memory = rng.uniform(40, 75)
    host = rng.uniform(100, 900)
    numbers = list(range(1, steps + 1))
    if steps > 100 and rng.random() < 0.4:
        cut = rng.randrange(60, steps)
        numbers = numbers[:cut] + numbers[cut - rng.randrange(5, 30) :]
    pace, before = 1.0, 0
    for step in numbers:
        if step <= before:
            pace = rng.uniform(0.85, 1.1)
        before = step
        validated = step % 10 == 0
        straggler = rng.uniform(1.5, 3) if rng.random() < 0.02 else 1.0
        slow = pace / straggler * (0.6 if validated else 1)
        t = step / steps
        rise = 1 / (1 + math.exp(-8 * (t - 0.35)))
        reward = max(0.0, min(1.0, 0.03 + reward_end * rise + rng.gauss(0, 0.03)))
        if step <= dead_start:
            reward = 0.0
        spread = 0.0 if reward in (0.0, 1.0) else 1.0
        entropy = entropy_end + (entropy_start - entropy_end) * math.exp(-3 * t)
        grad = math.exp(rng.gauss(-1.2, 0.3)) * (0.02 if not spread else 1)
        if rng.random() < 0.01:
            grad *= rng.uniform(5, 30)
        mean = max(20.0, length + (length_end - length) * t + rng.gauss(0, length * 0.04))
        if rng.random() < 0.01:
            mean *= rng.uniform(1.5, 2.5)
        mean = min(mean, limit * 0.8)
        clip = max(0.0, min(0.3, (mean / limit - 0.5) * 0.6 + rng.gauss(0, 0.01)))
        values = {
            "actor/entropy": entropy * rng.uniform(0.95, 1.05),
            "actor/pg_loss": rng.gauss(0, 0.02) * spread,
            "actor/pg_clipfrac": 0.0 if on_policy else abs(rng.gauss(0.004, 0.003)),
            "actor/ppo_kl": 0.0 if on_policy else rng.gauss(0.0, 0.0006),
            "actor/kl_loss": kl_end
            * t
            * rng.uniform(0.7, 1.3)
            * (8 if rng.random() < 0.005 else 1),
            "actor/kl_coef": 0.001,
            "actor/grad_norm": grad,
            "actor/lr": rate * min(1.0, (step - 1) / warmup) if warmup else rate,
            "training/global_step": step,
            "critic/score/mean": reward,
            "critic/score/max": 1.0 if spread else reward,
            "critic/score/min": 0.0 if spread else reward,
            "critic/rewards/mean": reward,
            "critic/rewards/max": 1.0 if spread else reward,
            "critic/rewards/min": 0.0 if spread else reward,
            "critic/advantages/mean": rng.gauss(0, 0.02) * spread,
            "critic/advantages/max": 2.4 * spread,
            "critic/advantages/min": -2.4 * spread,
            "response_length/mean": mean,
            "response_length/max": limit if clip > 0 else min(limit, mean * 2),
            "response_length/min": max(4.0, mean * 0.2),
            "response_length/clip_ratio": clip,
            "prompt_length/mean": rng.uniform(90, 110),
            "prompt_length/clip_ratio": 0.0,
            "training/rollout_probs_diff_mean": abs(rng.gauss(0.003, 0.0007)),
            "training/rollout_probs_diff_max": rng.uniform(0.1, 0.7),
            "timing_s/gen": mean / limit * 120 * rng.uniform(0.9, 1.2) * straggler,
            "timing_s/reward": rng.uniform(0.5, 3),
            "timing_s/update_actor": rng.uniform(40, 48),
            "timing_s/step": rng.uniform(110, 190),
            "perf/throughput": rng.uniform(1400, 1900) * slow,
            "perf/mfu/actor": rng.uniform(0.35, 0.45) * pace,
            "perf/max_memory_allocated_gb": memory,
            "perf/max_memory_reserved_gb": memory * 1.06,
            "perf/cpu_memory_used_gb": host * (1 + 0.02 * t) + rng.gauss(0, 2),
        }
        if ppo:
            values["critic/vf_loss"] = abs(rng.gauss(0.05, 0.02))
            values["critic/vf_explained_var"] = -0.6 + 1.2 * rise + rng.gauss(0, 0.1)
            values["critic/grad_norm"] = math.exp(rng.gauss(0, 0.5))
        if validated:
            values["val-core/gsm8k/acc/mean@1"] = reward * 0.9 + rng.gauss(0, 0.01)
            values["timing_s/testing"] = rng.uniform(60, 90)
        yield step, values


def fired(base: RuleBase, scanner: Scanner, log: str) -> list[tuple[str, str]]:
    """(rule, severity) of every finding of a log."""
    report, _ = diagnose_chunks([("run", [log.encode()], [])], base, scanner)
    return [(one.rule or "?", one.severity) for one in report.findings]


def main() -> None:
    """Runs the simulation; exits with 1 if a healthy run raised an alarm."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    base, scanner = load()
    counts: Counter[tuple[str, str]] = Counter()
    for seed in range(runs):
        log = "\n".join(healthy(random.Random(seed))) + "\n"
        counts.update(set(fired(base, scanner, log)))
    for (rule, severity), count in sorted(
        counts.items(), key=lambda item: severity_rank(item[0][1])
    ):
        print(f"{severity:8} {rule:8} {count:4} of {runs}")
    if any(severity in ("critical", "high") for _, severity in counts):
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Writes a realistic healthy log of any size: step lines, Ray prefixes with colours, samples, bars.

usage: make_log.py MEGABYTES > big.log
"""

from __future__ import annotations

import random
import sys

CHATTER = (
    "generate_sequences: 512 requests, 0 failed, 0 errors, retry=0",
    "update_weights bucket 17 of 64, 512.0 MB, 0.21 s",
    "micro batch 3/16: 15872 tokens, max_seq_len 4096",
    "reward manager: 1024 responses scored in 3.21 s, timeout=0",
    "kv cache usage 71.3 %, running 212 reqs, waiting 41 reqs, prefix hit rate 0.62",
    "INFO 12-01 06:01:52 [loggers.py:118] Avg prompt throughput: 8123.4 tokens/s",
)
KEYS = (
    "actor/entropy", "actor/pg_loss", "actor/pg_clipfrac", "actor/ppo_kl", "actor/kl_loss",
    "actor/grad_norm", "actor/lr", "training/global_step", "critic/score/mean",
    "critic/rewards/mean", "critic/advantages/mean", "response_length/mean",
    "response_length/clip_ratio", "prompt_length/mean", "timing_s/gen", "timing_s/reward",
    "timing_s/update_actor", "timing_s/step", "perf/throughput", "perf/max_memory_allocated_gb",
)  # fmt: skip
SAMPLE = (
    "[prompt] Write a function that parses the number.",
    "[response] def parse(x):\n    try:\n        return int(x)\n    except ValueError as error:\n"
    "        raise RuntimeError(f'cannot parse {x}') from error",
    "[ground_truth] 72",
    "[score] 0.0",
)


def lines(rng: random.Random) -> object:
    """Endless lines of a run in which nothing is wrong."""
    step = 0
    while True:
        step += 1
        for _ in range(400):
            pid = 5000 + rng.randrange(64)
            host = f", ip=10.0.0.{rng.randrange(8)}" if rng.random() < 0.8 else ""
            text = rng.choice(CHATTER)
            yield f"\x1b[36m(WorkerDict pid={pid}{host})\x1b[0m {text} #{rng.randrange(10**6)}"
        done = step % 1000
        state = f"{done // 10}%|###       | {done}/1000 [41:00<3:12:01, 41.5s/it]"
        yield f"\rTraining Progress:  {state}"
        if step % 10 == 0:
            for part in SAMPLE:
                for line in part.split("\n"):
                    yield f"\x1b[36m(TaskRunner pid=4000)\x1b[0m {line}"
        values = " - ".join(f"{key}:{0.2 + rng.random() / 10:.12f}" for key in KEYS)
        yield f"\x1b[36m(TaskRunner pid=4000)\x1b[0m step:{step} - {values}"


def main() -> None:
    """Writes to standard output until the wanted size is reached."""
    wanted = int(sys.argv[1]) * 1_000_000
    rng = random.Random(7)
    written = 0
    buffer: list[str] = []
    for line in lines(rng):  # type: ignore[attr-defined]
        buffer.append(line)
        if len(buffer) == 20_000:
            data = ("\n".join(buffer) + "\n").encode()
            sys.stdout.buffer.write(data)
            written += len(data)
            buffer.clear()
            if written >= wanted:
                return


if __name__ == "__main__":
    main()

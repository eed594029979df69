"""Writes a realistic log of any size to standard output.

usage: python -m benchmarks.make_log MEGABYTES [KIND] > big.log

KIND is one of
  healthy      (default) what 64 workers print in colour, samples, bars, a warning in a thousand
               lines, and after each thousand lines a step line of verl with its 36 metrics
  warnings     the same, with every tenth line a warning
  matches      the same, with 100,000 matches of one rule spread over it
  tracebacks   nothing but tracebacks of eight exceptions, each from one of 64 workers
  line         the healthy log without a single line end

Steps are numbered on and on, and their metrics are those of a simulated healthy run that has
converged. The parts of a log are drawn from a few made once, so that a gigabyte takes seconds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator

from benchmarks.simulate_runs import Row, healthy_rows

CHATTER = (
    "generate_sequences: 512 requests, 0 failed, 0 errors, retry=0",
    "update_weights bucket 17 of 64, 512.0 MB, 0.21 s",
    "micro batch 3/16: 15872 tokens, max_seq_len 4096",
    "reward manager: 1024 responses scored in 3.21 s, timeout=0",
    "kv cache usage 71.3 %, running 212 reqs, waiting 41 reqs, prefix hit rate 0.62",
    "INFO 12-01 06:01:52 [loggers.py:118] Avg prompt throughput: 8123.4 tokens/s",
)
WARNINGS = (
    "WARNING 12-01 06:01:52 [sampler.py:77] seed {} is used for more than one request",
    "WARNING:root:reward of sample {} took longer than usual",
    "/opt/venv/lib/python3.11/site-packages/verl/utils/model.py:{}: UserWarning: slow tokenizer",
)
MATCH = "NotImplementedError: Rank {} has no gradient hook"
SAMPLE = (
    "[prompt] Write a function that parses the number.",
    "[response] def parse(x):\n    try:\n        return int(x)\n    except ValueError as error:\n"
    "        raise RuntimeError(f'cannot parse {x}') from error",
    "[ground_truth] 72",
    "[score] 0.0",
)
EXCEPTIONS = (
    "KeyError: 'responses'",
    "ValueError: too many values to unpack (expected 2)",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.11 GiB of which 1.02 GiB is free.",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/gsm8k/train.parquet'",
    "AssertionError: only support equal chunk. Got size of DataProto 31 and chunk 8.",
    "TypeError: forward() got an unexpected keyword argument 'use_cache'",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "mypkg.rewards.RewardFailed: the sandbox gave no verdict",
)
FRAMES = (
    "verl/trainer/main_ppo.py",
    "verl/trainer/ppo/ray_trainer.py",
    "verl/single_controller/ray/base.py",
    "verl/workers/fsdp_workers.py",
    "verl/workers/actor/dp_actor.py",
)
ENDING = b"\x1b[36m(TaskRunner pid=4000)\x1b[0m Final validation metrics: {'val/acc': 0.71}\n"
LINES_PER_STEP = 1_000
MATCHES = 100_000
VARIANTS = 16
"""Different texts made of each part of a log."""

Random = random.Random
Piece = Callable[[int], bytes]
"""A stretch of a log. Takes the number of the step."""


def worker(rng: Random, text: str) -> str:
    """A line as Ray prints it for one of 64 workers on eight nodes."""
    host = f", ip=10.0.0.{rng.randrange(8)}" if rng.random() < 0.8 else ""
    return f"\x1b[36m(WorkerDict pid={5000 + rng.randrange(64)}{host})\x1b[0m {text}"


def chatter(rng: Random, warned: float) -> bytes:
    """What the workers print during one step. Takes the share of warnings."""
    lines = []
    for _ in range(LINES_PER_STEP):
        if rng.random() < warned:
            text = rng.choice(WARNINGS).format(rng.randrange(10**4))
        else:
            text = f"{rng.choice(CHATTER)} #{rng.randrange(10**6)}"
        lines.append(worker(rng, text))
    return ("\n".join(lines) + "\n").encode()


def told_metrics(rng: Random) -> list[bytes]:
    """Step lines of one run that has converged, with few answers cut at the limit; `%d` stands for
    the step, twice. All are of one run: from step to step nothing jumps.
    """
    rows: list[Row] = []
    while len(rows) < 200 or max(row["response_length/clip_ratio"] for _, row in rows[-50:]) > 0.05:
        rows = list(healthy_rows(rng))
    start = "\x1b[36m(TaskRunner pid=4000)\x1b[0m step:%d - training/global_step:%d"
    lines = []
    for _, values in rows[-50:]:
        values.pop("training/global_step")
        pairs = [f" - {key}:{value!r}" for key, value in values.items()]
        lines.append(f"{start}{''.join(pairs)}\n".encode())
    return lines


def bar(step: int) -> bytes:
    """The progress bar after a step; Ray gives no prefix to what follows a carriage return."""
    done = step % 1000
    return (
        f"\rTraining Progress:  {done // 10}%|###       | {done}/1000 [41:00<3:12:01, 41.5s/it]\n"
    ).encode()


def steps(rng: Random, warned: float = 0.001) -> Piece:
    """Steps of a run in which nothing is wrong."""
    talk = [chatter(rng, warned) for _ in range(VARIANTS)]
    told = told_metrics(rng)
    sample = "".join(
        f"\x1b[36m(TaskRunner pid=4000)\x1b[0m {line}\n"
        for part in SAMPLE
        for line in part.split("\n")
    ).encode()

    def piece(step: int) -> bytes:
        shown = sample if step % 10 == 0 else b""
        metrics = told[step % len(told)] % (step, step)
        return rng.choice(talk) + bar(step) + shown + metrics

    return piece


def matches(rng: Random, steps_in_all: int) -> Piece:
    """A healthy run whose workers complain, so often that it comes to MATCHES over all steps."""
    healthy = steps(rng)
    each = -(-MATCHES // steps_in_all)

    def piece(step: int) -> bytes:
        lines = healthy(step).split(b"\n")
        for i in range(each):
            at = (i * len(lines)) // each
            lines[at] += b"\n" + worker(rng, MATCH.format(i % 64)).encode()
        return b"\n".join(lines)

    return piece


def traceback(rng: Random) -> bytes:
    """One worker's traceback with five frames."""
    lines = ["Traceback (most recent call last):"]
    for depth, path in enumerate(FRAMES):
        lines.append(f'  File "/opt/venv/{path}", line {rng.randrange(2000)}, in step_{depth}')
        lines.append(f"    self.part_{depth}(batch)")
    lines.append(rng.choice(EXCEPTIONS))
    who = 5000 + rng.randrange(64)
    return "".join(f"\x1b[36m(WorkerDict pid={who})\x1b[0m {line}\n" for line in lines).encode()


def pieces(kind: str, size: int) -> Piece:
    """The parts of a log of this kind and size in bytes. Errors: KeyError for an unknown kind."""
    rng = Random(7)
    if kind == "tracebacks":
        told = [b"".join(traceback(rng) for _ in range(100)) for _ in range(VARIANTS)]
        return lambda step: told[step % VARIANTS]
    healthy = steps(rng)
    if kind == "line":
        return lambda step: healthy(step).replace(b"\n", b" ")
    return {
        "healthy": lambda: healthy,
        "warnings": lambda: steps(rng, 0.1),
        "matches": lambda: matches(rng, size // len(healthy(1)) + 1),
    }[kind]()


def blocks(kind: str, size: int) -> Iterator[bytes]:
    """Yields a log of at least `size` bytes, a step at a time; a run ends as runs do."""
    piece = pieces(kind, size)
    step = written = 0
    while written < size:
        step += 1
        block = piece(step)
        yield block
        written += len(block)
    if kind != "tracebacks":
        yield ENDING


def main() -> None:
    """Writes to standard output until the wanted size is reached."""
    size, kind = int(sys.argv[1]) * 1_000_000, (*sys.argv[2:], "healthy")[0]
    for block in blocks(kind, size):
        sys.stdout.buffer.write(block)


if __name__ == "__main__":
    main()

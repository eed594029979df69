"""A million lines, 64 ranks, one failure printed four times with its cascade: one incident."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conftest import Doctor

RANKS = 64
GUILTY = 17
HEALTHY_STEPS = 60
FRAMES = (
    '  File "/opt/verl/verl/workers/fsdp_workers.py", line 901, in update_actor',
    "    metrics = self.actor.update_policy(data=data)",
    '  File "/opt/verl/verl/workers/actor/dp_actor.py", line 512, in update_policy',
    "    loss.backward()",
)
ERROR = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.93 GiB. GPU 1 has a total "
    "capacity of 79.11 GiB of which 3.20 GiB is free. Including non-PyTorch memory, this process "
    "has 75.88 GiB memory in use. Of the allocated memory 70.01 GiB is allocated by PyTorch, and "
    "1.02 GiB is reserved by PyTorch but unallocated."
)


def worker(rank: int) -> str:
    return f"\x1b[36m(WorkerDict pid={5000 + rank}, ip=10.0.{rank // 8}.2)\x1b[0m "


def traceback(prefix: str, last: str) -> Iterator[str]:
    yield f"{prefix}Traceback (most recent call last):"
    for frame in FRAMES:
        yield prefix + frame
    yield prefix + last


def healthy(lines: int) -> Iterator[str]:
    """Steps, worker chatter and bars."""
    each = lines // HEALTHY_STEPS
    for step in range(1, HEALTHY_STEPS + 1):
        for i in range(each):
            rank = i % RANKS
            yield f"{worker(rank)}micro batch {i} of rank {rank}: 4096 tokens, 0 errors, retry=0"
        yield (
            f"\x1b[36m(TaskRunner pid=4000)\x1b[0m step:{step} - actor/entropy:0.31 - "
            f"actor/grad_norm:0.42 - critic/score/mean:{0.3 + step / 500:.3f} - timing_s/step:61.2"
        )


def failure() -> Iterator[str]:
    # four printings of one exception: worker, Ray's unhandled error, TaskRunner, driver
    yield from traceback(worker(GUILTY), ERROR)
    for rank in range(RANKS):
        if rank == GUILTY:
            continue
        yield (
            f"{worker(rank)}[rank{rank}]:[E1201 06:03:12.314158169 ProcessGroupNCCL.cpp:689] "
            f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, "
            "OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600010 "
            "milliseconds before timing out."
        )
        gloo = "[../gloo/transport/tcp/pair.cc] Connection closed by peer"
        yield f"{worker(rank)}RuntimeError: {gloo}"
    yield "Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): "
    yield from ray_error(ERROR, "WorkerDict.actor_rollout_update_actor")
    for line in ray_error(ERROR, "TaskRunner.run"):
        yield f"\x1b[36m(TaskRunner pid=4000)\x1b[0m {line}"
    yield "Error executing job with overrides: ['data.train_batch_size=1024']"
    yield "Traceback (most recent call last):"
    yield '  File "/opt/verl/verl/trainer/main_ppo.py", line 42, in main'
    yield "    run_ppo(config)"
    yield from ray_error(ERROR, "TaskRunner.run")
    for rank in range(RANKS):
        yield (
            f"{worker(rank)}ray.exceptions.ActorDiedError: The actor died unexpectedly before "
            "finishing this task."
        )


def ray_error(last: str, function: str) -> Iterator[str]:
    kind = "torch.OutOfMemoryError".rpartition(".")[2]
    yield f"ray.exceptions.RayTaskError({kind}): ray::{function}() (pid=5017, ip=10.0.2.2)"
    yield from FRAMES
    yield last


def chunks(lines: Iterator[str], size: int = 1 << 22) -> Iterator[bytes]:
    buffer: list[str] = []
    length = 0
    for line in lines:
        buffer.append(line)
        length += len(line) + 1
        if length >= size:
            yield ("\n".join(buffer) + "\n").encode()
            buffer, length = [], 0
    if buffer:
        yield ("\n".join(buffer) + "\n").encode()


def test_one_incident_with_the_right_rank_and_line(doctor: Doctor) -> None:
    total = 1_000_000
    decisive = 0

    def log() -> Iterator[str]:
        nonlocal decisive
        number = 0
        for line in healthy(total):
            number += 1
            yield line
        for line in failure():
            number += 1
            if not decisive and "torch.OutOfMemoryError" in line:
                decisive = number
            yield line

    report = doctor(list(chunks(log())))  # type: ignore[arg-type]
    first = report.findings[0]
    assert report.sources[0].lines > total
    assert first.evidence[0].line == decisive
    assert "out of memory" in first.evidence[0].text
    assert f"pid={5000 + GUILTY}" in first.workers[0]
    assert first.count == 4
    assert report.verdict == "failed"
    assert report.phase.step == HEALTHY_STEPS
    assert [one.role for one in report.findings].count("root") == 1

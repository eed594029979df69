"""Limits and room of the machine or container: files, processes, shared memory, main memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model import Fix, Text
from ...quantities import size
from ..types import Result, ok
from .facts import Clock, Cpus, Limits, Memory, Network, Processes, SharedMemory

CHECK = "env.limits"
NOFILE_LEAST = 8192
"""What Ray recommends (ray/_private/worker.py). It raises the soft limit itself up to the hard one,
so that only the hard one counts."""
THREADS_LEAST = 8192
"""Processes and threads that a run on one node should be free to start: Ray starts a worker for
each core, each with some hundred threads."""
SHM_LEAST = 1 << 30
"""A container's /dev/shm has 64 MB unless more is asked for; Ray, NCCL and DataLoader workers
share it."""
RAY_STORE_SHARE = 0.3
RAY_STORE_MOST = 10**10
"""Ray's object store wants this share of the memory. Up to 10 GB it falls back to a folder on the
disk where /dev/shm has less; above, it makes do with what /dev/shm has (ray/_private/utils.py)."""
MEMORY_USED_MOST = 0.9
"""Ray's memory monitor kills workers at 95 % of the node's or the container's memory."""
CLOCK_SLACK_S = 86400.0


def check(facts: Mapping[str, Any]) -> Iterator[Result]:
    """Judges what sections/host.py told; a part that is not there says nothing."""
    faults = [*_faults(facts)]
    yield from faults
    if facts and not faults:
        yield ok(
            CHECK,
            "The limits of this machine leave room for a run.",
            "本机的各项限制足以运行训练。",
            *_table(facts),
        )


def _faults(facts: Mapping[str, Any]) -> Iterator[Result]:
    if "limits" in facts:
        yield from _limits(facts["limits"])
        if "network" in facts:
            yield from _locked_memory(facts["limits"], facts["network"])
    if "processes" in facts:
        yield from _processes(facts["processes"])
    if "cpus" in facts:
        yield from _cpus(facts["cpus"])
    if "shared_memory" in facts:
        yield from _shared_memory(facts["shared_memory"], facts.get("memory"))
    if "memory" in facts:
        yield from _memory(facts["memory"])
    if "clock" in facts:
        yield from _clock(facts["clock"])


def _table(facts: Mapping[str, Any]) -> Iterator[str]:
    if "limits" in facts:
        for name in ("nofile", "nproc", "memlock"):
            soft, hard = ("unlimited" if one is None else str(one) for one in facts["limits"][name])
            yield f"{name}: {soft} (hard {hard})"
    if "shared_memory" in facts:
        shm: SharedMemory = facts["shared_memory"]
        yield f"/dev/shm: {size(shm['free'])} / {size(shm['total'])}"
    if "memory" in facts:
        memory: Memory = facts["memory"]
        yield f"RAM: {size(memory['available'])} / {size(memory['total'])}"
        if memory["limit"] is not None:
            yield f"cgroup memory: {size(memory['used'] or 0)} / {size(memory['limit'])}"
    if "processes" in facts and facts["processes"]["limit"] is not None:
        yield f"cgroup pids: {facts['processes']['used']} / {facts['processes']['limit']}"


def _limits(limits: Limits) -> Iterator[Result]:
    hard = limits["nofile"][1]
    if hard is not None and hard < NOFILE_LEAST:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"At most {hard} files and sockets may be open in a process; Ray recommends "
                f"{NOFILE_LEAST} or more.",
                f"单进程最多打开 {hard} 个文件/套接字；Ray 建议不少于 {NOFILE_LEAST}。",
            ),
            "medium",
            (f"ulimit -Hn: {hard}",),
            Fix(
                Text(
                    "Raise the hard limit: limits.conf, `docker run --ulimit nofile=…`, or the "
                    "scheduler's.",
                    "提高硬限制：limits.conf、`docker run --ulimit nofile=…` 或调度系统设置。",
                ),
                run="docker run --ulimit nofile=65536:65536 ...",
            ),
            "SYS004",
        )
    soft = limits["nproc"][0]
    if soft is not None and soft < THREADS_LEAST and "nproc" not in limits["exempt"]:
        yield _few_threads(
            f"This user may have {soft} processes and threads on the whole machine.",
            f"该用户在整台机器上最多只能有 {soft} 个进程/线程。",
            f"ulimit -u: {soft}",
            "ulimit -u 65536   # or limits.conf",
        )


def _processes(group: Processes) -> Iterator[Result]:
    limit, used = group["limit"], group["used"]
    if limit is not None and used is not None and limit - used < THREADS_LEAST:
        yield _few_threads(
            f"The container or job may have {limit} processes and threads; {used} exist already.",
            f"容器或作业最多允许 {limit} 个进程/线程，目前已有 {used} 个。",
            f"pids.max: {limit}, pids.current: {used}",
            "docker run --pids-limit=-1 ...",
        )


def _few_threads(en: str, zh: str, seen: str, command: str) -> Result:
    more = "Ray starts a worker for each core, with hundreds of threads each."
    more_zh = "Ray 会为每个 CPU 核启动一个 worker，每个都有数百个线程。"
    return Result(
        CHECK,
        "fault",
        Text(f"{en} {more}", zh + more_zh),
        "medium",
        (seen,),
        Fix(
            Text(
                "Raise the limit, or let Ray start fewer workers.",
                "提高上限，或让 Ray 少启动 worker。",
            ),
            run=command,
            set="ray_kwargs.ray_init.num_cpus=16",
        ),
        "RAY046",
    )


def _cpus(cpus: Cpus) -> Iterator[Result]:
    """Ray counts the machine's cores, also where the job was given a few of them."""
    if 0 < cpus["allowed"] * 2 <= cpus["machine"] and not cpus["told"]:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"This job may use {cpus['allowed']} of {cpus['machine']} cores, and Ray would "
                "start workers for all of them.",
                f"该作业只能使用 {cpus['machine']} 个核中的 {cpus['allowed']} 个，"
                "而 Ray 会按全部核数启动 worker。",
            ),
            "medium",
            (f"os.cpu_count(): {cpus['machine']}, sched_getaffinity: {cpus['allowed']}",),
            Fix(
                Text("Tell Ray the job's number.", "告知 Ray 作业的核数。"),
                set=f"ray_kwargs.ray_init.num_cpus={cpus['allowed']}",
            ),
            "RAY046",
        )


def _shared_memory(shm: SharedMemory, memory: Memory | None) -> Iterator[Result]:
    seen = f"/dev/shm: {size(shm['free'])} / {size(shm['total'])}"
    small = Fix(
        Text(
            "Start the container with more; in Kubernetes mount an emptyDir of medium Memory.",
            "启动容器时加大；Kubernetes 中挂载 medium: Memory 的 emptyDir。",
        ),
        run="docker run --shm-size=64g ...   # or --ipc=host",
        risk="none",
    )
    full = Fix(
        Text("Delete what dead runs left there.", "清理已死任务留下的文件。"),
        run="ls -lt /dev/shm | head",
        risk="none",
    )
    store = _ray_store(memory) if memory else 0
    if min(shm["total"], shm["free"]) < SHM_LEAST:
        used_up = shm["total"] >= SHM_LEAST
        yield Result(
            CHECK,
            "fault",
            Text(
                f"/dev/shm has {size(shm['free'])} free of {size(shm['total'])}: too little for "
                "Ray's object store, NCCL and DataLoader workers.",
                f"/dev/shm 共 {size(shm['total'])}，可用 {size(shm['free'])}："
                "不足以供 Ray object store、NCCL 与 DataLoader worker 使用。",
            ),
            "high",
            (seen,),
            full if used_up else small,
            "SYS002" if used_up else "RAY048",
        )
    elif shm["free"] < store:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"Ray's object store of {size(store)} does not fit into /dev/shm "
                f"({size(shm['free'])} free): it goes to a folder on the disk, which is slow.",
                f"Ray object store（{size(store)}）放不进 /dev/shm（可用 {size(shm['free'])}）："
                "将改用磁盘目录，速度变慢。",
            ),
            "low",
            (seen,),
            small if shm["total"] < store else full,
            "RAY048",
        )


def _ray_store(memory: Memory) -> float:
    """Bytes that Ray's object store takes by default, where that is what /dev/shm has to hold."""
    free = memory["available"]
    if memory["limit"] is not None and memory["used"] is not None:
        free = min(free, memory["limit"] - memory["used"])
    return min(RAY_STORE_SHARE * free, RAY_STORE_MOST)


def _memory(memory: Memory) -> Iterator[Result]:
    limit, used = memory["limit"], memory["used"]
    if limit is not None and used is not None:
        total, taken = limit, used
        whose, whose_zh = "The container's or job's memory", "容器或作业的内存"
    else:
        total, taken = memory["total"], memory["total"] - memory["available"]
        whose, whose_zh = "This machine's memory", "本机内存"
    if taken > MEMORY_USED_MOST * total:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{whose} is nearly used up before the run starts: {size(taken)} of {size(total)}.",
                f"训练尚未启动，{whose_zh}已接近用尽：{size(total)} 中的 {size(taken)}。",
            ),
            "high",
            (f"{size(taken)} / {size(total)}",),
            Fix(
                Text("See who holds it.", "查看被谁占用。"),
                run="ps -eo pid,user,rss,args --sort=-rss | head",
                risk="none",
            ),
            "RAY010",
        )


def _clock(clock: Clock) -> Iterator[Result]:
    if clock["newest"] - clock["now"] > CLOCK_SLACK_S:
        days = (clock["newest"] - clock["now"]) / 86400
        yield Result(
            CHECK,
            "fault",
            Text(
                f"The clock is wrong: {clock['package']} was installed {days:.0f} days in its "
                "future. Certificates and tokens may be refused.",
                f"系统时钟有误：{clock['package']} 的安装时间在 {days:.0f} 天之后。"
                "证书与令牌可能因此被拒。",
            ),
            "medium",
            (),
            Fix(Text("Set it.", "校准时钟。"), run="date; timedatectl status", risk="none"),
        )


def _locked_memory(limits: Limits, network: Network) -> Iterator[Result]:
    """The limit on locked memory, which only matters to InfiniBand and RoCE."""
    soft = limits["memlock"][0]
    if network["infiniband"] and soft is not None and "memlock" not in limits["exempt"]:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"Only {size(soft)} of memory may be locked, and InfiniBand has to lock its "
                "buffers: NCCL may fail with `ibv_reg_mr` errors.",
                f"可锁定内存上限仅 {size(soft)}，而 InfiniBand 需要锁定缓冲区："
                "NCCL 可能报 `ibv_reg_mr` 失败。",
            ),
            "medium",
            (f"ulimit -l: {soft // 1024}", *network["infiniband"]),
            Fix(
                Text("Lift the limit.", "取消该限制。"),
                run="ulimit -l unlimited   # docker run --ulimit memlock=-1",
            ),
            "DST008",
        )

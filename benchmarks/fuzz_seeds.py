"""What `benchmarks/fuzz.py` begins with: genuine logs, shipped rules, and small files of every
other kind, made here."""

from __future__ import annotations

import io
import json
import pickle
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@cache
def logs() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "fixtures_logs/genuine").glob("*.log"))]


def lines() -> list[bytes]:
    return sorted({line[:400] for log in logs() for line in log.splitlines()})[::20]


def tracebacks() -> list[bytes]:
    """Logs from their first traceback on."""
    mark = b"Traceback (most recent call last)"
    return [log[max(0, log.find(mark) - 100) :] for log in logs() if mark in log]


def metrics() -> list[bytes]:
    """Lines of every trainer, and runs of them."""
    told = [
        b"(TaskRunner pid=7) step:%d - actor/grad_norm:0.5 - critic/score/mean:np.float64(0.25)",
        b"{'loss': 0.%d, 'grad_norm': nan, 'epoch': '0.5'}",
        b"Global step %d: {'policy_loss': 0.1, 'kl': -1e-3}",
        b'{"step": %d, "data": {"actor/entropy": 0.1, "response_length/mean": 512}}',
    ]
    return [one % 1 for one in told] + [
        b"\n".join(one % step for step in range(30)) for one in told
    ]


@cache
def metric_rules() -> list[dict[str, Any]]:
    """What the shipped rules ask of metrics."""
    from verl_doctor.knowledge.load import load

    base, _ = load(cache=False)
    return [dict(base.spec(rule_id).options) for rule_id in base.by_kind["metric"]]


def rules() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "rules").rglob("*.yaml"))]


def scripts() -> list[bytes]:
    return [
        b"set -x\nN=${N:-8}\nARGS=(data.train_batch_size=$((N * 64)) trainer.nnodes=1)\n"
        b'if [ "$N" = 8 ]; then\n  M=/models/a\nfi\n'
        b"python3 -m verl.trainer.main_ppo \\\n  algorithm.adv_estimator=grpo \\\n"
        b'  "${ARGS[@]}" actor_rollout_ref.model.path="$M" $@ 2>&1 | tee a.log\n',
        b"export A='x y'\nB=(a.b=1 'c.d=[1,2]')\nB+=(e.f=`date`)\npython -m verl.x ${B[*]}\n",
        b"cat <<EOF > x.sh\npython3 -m verl.trainer.main_ppo a.b=1\nEOF\nbash x.sh\n",
    ]


def launches() -> list[bytes]:
    return [
        b"data.train_batch_size=256\nactor_rollout_ref.actor.ppo_mini_batch_size=64",
        b"+trainer.x={a: [1, 2]}\n~data.seed\n++data.y=null\ntrainer.nnodes=2",
        b"actor_rollout_ref.actor.strategy=megatron\nactor_rollout_ref.rollout.n=8",
        b"data.train_files=['/a.parquet','/b.parquet']\ndata.max_prompt_length=${data.seed}",
        b"model_engine=megatron\n--config-name=ppo_megatron_trainer\nactor_rollout_ref=null",
    ]


def configs() -> list[bytes]:
    return [
        b"data: {train_batch_size: 256, train_files: [/a.parquet]}\ntrainer: {nnodes: 1}\n",
        b"actor_rollout_ref:\n  actor: &a\n    strategy: megatron\n  rollout: *a\n",
        b"data:\n  max_prompt_length: ${data.max_response_length}\n  x: ???\n---\na: !!int '3'\n",
    ]


def _dump(state: str = "completed") -> dict[str, Any]:
    entry = {
        "process_group": ("0", "default_pg"), "collective_seq_id": 3, "is_p2p": False,
        "profiling_name": "nccl:all_reduce", "input_sizes": [[4, 8]], "output_sizes": [[4, 8]],
        "input_dtypes": ["Float"], "state": state, "time_created_ns": 10**18, "retired": False,
        "frames": [{"filename": "/a.py", "line": 3, "name": "f"}],
    }  # fmt: skip
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    return {"version": "2.10", "pg_config": config, "entries": [entry, entry]}


def dumps() -> list[bytes]:
    made = [_dump("scheduled"), _dump("completed")]
    pickled = [pickle.dumps(one, protocol) for one in made for protocol in (0, 2, 4)]
    return [*pickled, *(json.dumps(one).encode() for one in made)]


@cache
def whole_dumps(folder: Path) -> list[str]:
    """Paths of dumps of two further ranks."""
    paths = [folder / "whole_rank_0", folder / "whole_rank_2"]
    for path in paths:
        path.write_bytes(pickle.dumps(_dump("started"), 2))
    return [str(path) for path in paths]


def stacks() -> list[bytes]:
    frame = {"name": "f", "filename": "/a.py", "line": 3, "module": None, "short_filename": "a.py"}
    thread = {
        "pid": 7, "thread_id": 1, "thread_name": "MainThread", "os_thread_id": 7,
        "active": True, "owns_gil": True, "frames": [frame],
    }  # fmt: skip
    return [json.dumps([thread]).encode(), b"[]"]


def model_files() -> list[bytes]:
    weight = {"w": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}
    config = {"model_type": "qwen2", "vocab_size": 8, "hidden_size": 4, "auto_map": {"A": "b.C"}}
    tokens = {"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 7, "content": "<x>"}]}
    return [json.dumps(one).encode() for one in (weight, config, tokens, {"weight_map": {}})]


def rows() -> list[bytes]:
    """Parquet of every compression and JSON lines."""
    import pyarrow
    from pyarrow import parquet

    row = {
        "prompt": [{"role": "user", "content": "1 + 1?"}], "data_source": "openai/gsm8k",
        "reward_model": {"ground_truth": "2", "style": "rule"},
    }  # fmt: skip
    table = pyarrow.Table.from_pylist([row, row])
    made = [json.dumps(row).encode() + b"\n"]
    for compression in ("none", "snappy", "gzip", "zstd"):
        file = io.BytesIO()
        parquet.write_table(table, file, compression=compression, store_schema=False)
        made.append(file.getvalue())
    return made


def stores() -> list[bytes]:
    """What the export of a recorded run holds: all of it, and each kind of line by itself."""
    from verl_doctor.knowledge.load import load
    from verl_doctor.pipeline import diagnose_chunks
    from verl_doctor.store import add_note, export, record, tag

    report, _ = diagnose_chunks([("train.log", [logs()[0]], [])], *load(cache=False))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "incidents.db"
        record(report, db_path=path)
        add_note(report.findings[0].fingerprint, "a note", db_path=path)
        tag(report.findings[0].fingerprint, ["node-7"], db_path=path)
        told = [line.encode() for line in export(db_path=path)]
    return [b"".join(told), *(told[0] + one for one in told[1:])]

"""What the smoke tests of sections/smoke/ came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model import Text
from ..types import Result, ok, unknown
from .ask import Answer, Failed
from .facts import Smoke
from .torch_build import IMPORT_RULES, rule_of

CHECK = "env.smoke"
TESTS = {
    "kernel": Text("a kernel on every GPU", "每张 GPU 上启动一个 kernel"),
    "matmul": Text("a bf16 matrix product against fp32", "bf16 矩阵乘与 fp32 对比"),
    "all_reduce": Text("an all-reduce of two processes", "两进程 all-reduce"),
    "flash_attention": Text("a flash-attn call against fp32", "flash-attn 调用与 fp32 对比"),
}
"""Section and part -> what it does."""
SKIPPED = {
    "gpu": Text("no GPU here", "此处没有 GPU"),
    "flash-attn": Text("flash-attn is not installed", "未安装 flash-attn"),
    "distributed": Text("this torch has no torch.distributed", "当前 torch 不含 torch.distributed"),
}
RULES = (
    (r"no kernel image is available|invalid device function", "CUD004"),
    (r"out of memory", "CUD001"),
    (r"driver on your system is too old|PTX was compiled", "CUD026"),
    (r"No CUDA GPUs|no NVIDIA driver|no CUDA-capable", "CUD025"),
    (r"ECC|GPU is lost", "CUD015"),
    (r"illegal memory access", "CUD006"),
    (r"No usable|no socket interface|NCCL_OOB_NET_IFNAME", "DST005"),
    (r"Unable to find address", "DST021"),
    (r"shared memory segment|posix_fallocate", "DST009"),
    (r"NCCL", "DST013"),
    *IMPORT_RULES,
)
"""What a failing test says -> the rule that reports it from a log."""


def check(answers: Mapping[str, Answer]) -> Iterator[Result]:
    """Judges each test (its name -> the answer of its section)."""
    for name, answer in answers.items():
        what = TESTS[name]
        failed = answer.failed.get(name) or answer.failed.get("")
        if failed is not None:
            yield _failed(what, failed)
        elif name in answer.facts:
            told: Smoke = answer.facts[name]
            yield _told(what, told, answer.seconds)


def _told(what: Text, told: Smoke, seconds: float) -> Result:
    if told["skipped"]:
        why = SKIPPED[told["skipped"]]
        return unknown(CHECK, f"Not run: {what.en} ({why.en}).", f"未运行：{what.zh}（{why.zh}）。")
    seen = f"{told['what']}, {seconds:.1f} s"
    return ok(CHECK, f"Works: {what.en}.", f"正常：{what.zh}。", seen)


def _failed(what: Text, failed: Failed) -> Result:
    if failed.how == "timeout":
        en, zh = f"no end within {failed.what}", f"{failed.what} 内没有结束"
        rule = "HNG001"
    elif failed.how == "signal":
        en, zh, rule = failed.what, failed.what, "SYS023"
    else:
        en, zh, rule = failed.what, failed.what, rule_of(failed.what, RULES)
    text = Text(f"Fails: {what.en}: {en}", f"失败：{what.zh}：{zh}")
    return Result(CHECK, "fault", text, "critical", failed.where, None, rule)

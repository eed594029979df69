"""Compiled extensions: whether they hold code for the GPUs, and whether they load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from ...model import Fix, Text
from ..types import Result, ok
from .architecture import covers, written
from .ask import Answer, Failed
from .facts import Device, Extension
from .torch_build import IMPORT_RULES, rule_of

CHECK = "env.extensions"
LOADED = (
    ("flash-attn", r"flash_attn_2_cuda[\w.-]*\.so", "HF034"),
    ("vllm", r"_(?:moe_)?C[\w.-]*\.so", "VLM021"),
    ("torchvision", r"_C[\w.-]*\.so", "INS031"),
    ("xformers", r"_C[\w.-]*\.so", ""),
    ("causal-conv1d", r"causal_conv1d_cuda[\w.-]*\.so", ""),
)
"""Libraries that need nothing but torch to be loaded first: package, file name, and the rule of an
undefined symbol. Others find their own libraries in their package's code, so that loading them
alone would fail without a fault."""


def loadable(extensions: Sequence[Extension]) -> list[str]:
    """Paths of the libraries that can be loaded on their own."""
    return [one["path"] for one in extensions if _known(one) is not None]


def check(
    extensions: Sequence[Extension], devices: Sequence[Device], loads: Mapping[str, Answer]
) -> Iterator[Result]:
    """Judges what sections/extensions.py told, for the GPUs that torch sees, and what loading each
    library (path -> answer of sections/library.py) came to."""
    faults = [*_architectures(extensions, devices), *_loads(extensions, loads)]
    yield from faults
    names = sorted({one["package"] for one in extensions if one["sm"] or one["path"] in loads})
    if names and not faults:
        yield ok(
            CHECK,
            "No compiled extension was found that fails to load or lacks code for the GPUs here."
            if devices
            else "No compiled extension was found that fails to load; no GPU is seen here to hold "
            "their code to.",
            "未发现无法加载或缺少本机 GPU 架构代码的编译扩展。"
            if devices
            else "未发现无法加载的编译扩展；此处看不到 GPU，未核对架构。",
            *(f"{name}: {_listed(*_held(extensions, name))}" for name in names),
        )


def _held(extensions: Sequence[Extension], package: str) -> tuple[list[int], list[int]]:
    """Architectures of all libraries of a package: single ones are for single GPUs on purpose."""
    own = [one for one in extensions if one["package"] == package]
    return (
        sorted({arch for one in own for arch in one["sm"]}),
        sorted({arch for one in own for arch in one["ptx"]}),
    )


def _listed(sm: Sequence[int], ptx: Sequence[int]) -> str:
    return " ".join([*(f"sm_{one}" for one in sm), *(f"compute_{one}" for one in ptx)]) or "-"


def _architectures(extensions: Sequence[Extension], devices: Sequence[Device]) -> Iterator[Result]:
    kinds = {tuple(one["capability"]): one for one in devices}
    for package in sorted({one["package"] for one in extensions}):
        sm, ptx = _held(extensions, package)
        for capability, device in kinds.items():
            if (sm or ptx) and not covers(capability, sm, ptx):
                yield _no_code(package, device, _listed(sm, ptx))


def _no_code(package: str, device: Device, held: str) -> Result:
    arch = written(device["capability"])
    major, minor = device["capability"]
    return Result(
        CHECK,
        "fault",
        Text(
            f"{package} holds no code for {device['name']} ({arch}): its first kernel fails with "
            "`no kernel image is available`.",
            f"{package} 不含 {device['name']}（{arch}）的代码："
            "调用其 kernel 会报 `no kernel image is available`。",
        ),
        "high",
        (f"{package}: {held}",),
        _rebuild(package, major, minor),
        "CUD004",
    )


BUILT = {
    "causal-conv1d": "",
    "flash-attn": "FLASH_ATTN_CUDA_ARCHS={major}{minor} FLASH_ATTENTION_FORCE_BUILD=TRUE ",
    "grouped-gemm": "",
    "mamba-ssm": "",
}
"""Packages that are usually built where they are used, and what their builds ask for beside
TORCH_CUDA_ARCH_LIST."""


def _rebuild(package: str, major: int, minor: int) -> Fix:
    if package not in BUILT:
        return Fix(
            Text(
                f"Install a release of {package} whose wheel is built for this GPU.",
                f"安装其 wheel 包含该架构的 {package} 版本。",
            ),
            run="verl-doctor versions",
            risk="medium",
        )
    more = BUILT[package].format(major=major, minor=minor)
    return Fix(
        Text("Build it for this GPU, past pip's cache.", "跳过 pip 缓存，针对该 GPU 重新编译。"),
        run=f"TORCH_CUDA_ARCH_LIST={major}.{minor} {more}pip install --no-build-isolation "
        f"--force-reinstall --no-cache-dir --no-deps {package}",
        risk="medium",
    )


def _loads(extensions: Sequence[Extension], loads: Mapping[str, Answer]) -> Iterator[Result]:
    for one in extensions:
        answer = loads.get(one["path"])
        failed = answer.failed.get("library") if answer else None
        if failed is not None and not _excused(failed):
            yield _not_loaded(one, failed)


def _excused(failed: Failed) -> bool:
    """Whether the reason lies elsewhere: no driver here, or torch's own import, told already."""
    driver = re.search(r"lib(?:cuda|nvidia-ml)\.so\S*: cannot open", failed.what)
    return failed.how == "timeout" or bool(driver) or "named 'torch'" in failed.what


def _known(extension: Extension) -> str | None:
    """The rule of a library's undefined symbol; None where it isn't loaded on its own."""
    name = PurePath(extension["path"]).name
    for package, pattern, rule in LOADED:
        if package == extension["package"] and re.fullmatch(pattern, name):
            return rule
    return None


def _not_loaded(extension: Extension, failed: Failed) -> Result:
    rule = rule_of(failed.what, IMPORT_RULES)
    if rule == "INS023":
        rule = _known(extension) or rule
    elif failed.how == "signal":
        rule = "SYS023"
    name = extension["package"]
    return Result(
        CHECK,
        "fault",
        Text(
            f"{name}'s compiled part does not load with the installed torch: {failed.what}",
            f"{name} 的编译扩展无法与当前 torch 一起加载：{failed.what}",
        ),
        "high",
        (extension["path"], *failed.where),
        Fix(
            Text(
                "Install the release that is built for this torch and CUDA, or build it here.",
                "安装与当前 torch、CUDA 配套的版本，或在本机重新编译。",
            ),
            run=f"pip install --force-reinstall --no-deps --no-build-isolation --no-cache-dir "
            f"{name}==VERSION",
            risk="medium",
        ),
        rule,
    )

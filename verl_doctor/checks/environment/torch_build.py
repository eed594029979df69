"""torch: whether it can be imported, and whether it fits the driver and the GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...model import Fix, Text
from ..types import Result, ok, unknown
from .architecture import covers, written
from .ask import Answer, Failed
from .facts import Device, Devices, Driver, TorchBuild, TorchImport

CHECK = "env.torch"
IMPORT_RULES = (
    (r"No module named 'torch'", "INS010"),
    (r"partially initialized module|consider renaming", "INS020"),
    (r"unknown location", "INS021"),
    (r"undefined symbol: (?:nccl|__nvJitLink|cu(?:blas|dnn|sparse|solver)|iJIT|nvrtc)", "INS024"),
    (r"undefined symbol", "INS023"),
    (r"lib(?:cuda|nvidia-ml)\.so\S*: cannot open", "INS027"),
    (r"lib(?:cu\w+|nccl|nv\w+|c10_cuda|torch_cuda)\S*\.so\S*: cannot open", "INS026"),
    (r"cannot open shared object file", "INS025"),
    (r"GLIBC\w*_[\d.]+' not found", "INS030"),
    (r"not found in the system path", "INS029"),
)
"""What an import error says -> the rule that reports it from a log."""
DEVICE_RULES = (
    (r"driver on your system is too old", "CUD026"),
    (r"not yet initialized|unsupported display driver|forward compatibility", "CUD016"),
    (r"busy or unavailable", "CUD017"),
    (r"initialization", "CUD034"),
    (r"ECC|hardware|GPU is lost", "CUD015"),
)
"""What torch says where it can't use the GPUs -> the rule; else CUD025."""

STAGES = {
    "driver": Text("Loading the driver's library (libcuda.so.1)", "加载驱动库（libcuda.so.1）"),
    "torch_build": Text("Asking the imported torch for its build", "查询 torch 构建信息"),
    "devices": Text("Starting CUDA in the imported torch", "torch 导入后初始化 CUDA"),
}
"""Parts beside the import in which a child can end."""


def check(answer: Answer, *, gpus: int, hidden: bool) -> Iterator[Result]:
    """Judges what sections/torch_build.py told.

    `gpus`: how many the machine has, as the driver says; `hidden`: CUDA_VISIBLE_DEVICES leaves
    none, which is told elsewhere.
    """
    if "torch_import" in answer.failed:
        yield _import_failed(answer.failed["torch_import"])
        return
    for part in STAGES:
        if part in answer.failed and answer.failed[part].how != "raised":
            yield _ended(part, answer.failed[part])
            return
    if "torch_import" not in answer.facts:
        return  # the interpreter itself failed, which is told elsewhere
    torch: TorchImport = answer.facts["torch_import"]
    if "torch_build" not in answer.facts:
        why = answer.failed["torch_build"].what
        yield unknown(
            CHECK,
            f"torch {torch['version']} did not say what it was built with: {why}",
            f"torch {torch['version']} 未能给出构建信息：{why}",
            torch["file"],
        )
        return
    build: TorchBuild = answer.facts["torch_build"]
    if build["hip"]:
        yield unknown(
            CHECK,
            f"torch {torch['version']} is built for ROCm, which is not checked here.",
            f"torch {torch['version']} 为 ROCm 版本，此处不做检查。",
        )
        return
    driver: Driver = answer.facts.get("driver") or Driver(cuda=0, error="")
    about = _about(torch, build, driver)
    if not build["cuda"]:
        yield _cpu_build(torch, gpus, driver, about)
    elif not driver["cuda"]:
        yield _no_driver(torch, build, driver, about)
    elif int(build["cuda"].split(".")[0]) > driver["cuda"] // 1000:
        yield _driver_too_old(build, driver, about)
    elif "devices" in answer.facts and not hidden:
        yield from _devices(answer.facts["devices"], build, driver, about)


def _about(torch: TorchImport, build: TorchBuild, driver: Driver) -> tuple[str, ...]:
    """What a person would compare, one line each."""
    rows = (
        ("torch", f"{torch['version']}  {torch['file']}"),
        ("CUDA", build["cuda"]),
        ("CUDA of the driver", cuda_version(driver["cuda"]) if driver["cuda"] else ""),
        ("cuDNN", str(build["cudnn"] or "")),
        ("NCCL", build["nccl"]),
        ("C++11 ABI", "" if build["cxx11_abi"] else "False"),
        ("architectures", " ".join(build["archs"])),
    )
    return tuple(f"{name}: {value}" for name, value in rows if value)


def cuda_version(number: int) -> str:
    """12080 as 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _import_failed(failed: Failed) -> Result:
    if failed.how == "signal":
        en, zh = f"`import torch` crashes: {failed.what}.", f"`import torch` 崩溃：{failed.what}。"
        rule = "SYS023"
    elif failed.how == "timeout":
        en = f"`import torch` has not ended within {failed.what}."
        zh = f"`import torch` 在 {failed.what} 内没有完成。"
        rule = "HNG001"
    else:
        en, zh = f"`import torch` fails: {failed.what}", f"`import torch` 失败：{failed.what}"
        rule = rule_of(failed.what, IMPORT_RULES)
    return Result(CHECK, "fault", Text(en, zh), "critical", failed.where, None, rule)


def rule_of(text: str, rules: Sequence[tuple[str, str]], other: str = "") -> str:
    """The rule of the first pattern found in the text."""
    return next((rule for pattern, rule in rules if re.search(pattern, text)), other)


def _cpu_build(torch: TorchImport, gpus: int, driver: Driver, about: tuple[str, ...]) -> Result:
    if not gpus:
        return unknown(
            CHECK,
            f"torch {torch['version']} is a CPU build, and no GPU is visible here: nothing about "
            "GPUs could be checked.",
            f"torch {torch['version']} 为 CPU 版本，且此处看不到 GPU：未检查任何 GPU 相关项。",
            *about,
        )
    return Result(
        CHECK,
        "fault",
        Text(
            f"torch {torch['version']} is a CPU build, though the driver lists GPUs ({gpus}).",
            f"本机有 {gpus} 张 GPU，但 torch {torch['version']} 是 CPU 版本。",
        ),
        "critical",
        about,
        _reinstall(driver),
        "CUD027",
    )


INDEXES = (118, 121, 124, 126, 128, 129, 130)
"""CUDA versions that torch has wheels for at download.pytorch.org (11.8 as 118)."""


def _reinstall(driver: Driver) -> Fix:
    supported = driver["cuda"] // 1000 * 10 + driver["cuda"] % 1000 // 10
    index = max((one for one in INDEXES if one <= supported), default=0)
    source = f" --index-url https://download.pytorch.org/whl/cu{index}" if index else ""
    return Fix(
        Text(
            "Install the build that the inference engine asks for (VERSION: `verl-doctor versions`)"
            ", from the index of a CUDA that the driver supports.",
            "安装推理引擎要求的 torch 版本（VERSION 见 `verl-doctor versions`），"
            "并选用驱动支持的 CUDA 对应的索引。",
        ),
        run=f"pip install --force-reinstall torch==VERSION{source}",
        risk="medium",
    )


def _no_driver(
    torch: TorchImport, build: TorchBuild, driver: Driver, about: tuple[str, ...]
) -> Result:
    return Result(
        CHECK,
        "fault",
        Text(
            f"torch {torch['version']} is built for CUDA {build['cuda']}, but this process finds "
            "no NVIDIA driver.",
            f"torch {torch['version']} 面向 CUDA {build['cuda']}，但该进程找不到 NVIDIA 驱动。",
        ),
        "high",
        (driver["error"], *about),
        Fix(
            Text(
                "On a GPU node nvidia-smi lists the GPUs; a container has to be started with them.",
                "GPU 节点上 nvidia-smi 应能列出显卡；容器启动时须分配 GPU。",
            ),
            run="nvidia-smi; docker run --rm --gpus all IMAGE nvidia-smi",
            risk="none",
        ),
        "CUD025",
    )


def _driver_too_old(build: TorchBuild, driver: Driver, about: tuple[str, ...]) -> Result:
    supports = cuda_version(driver["cuda"])
    return Result(
        CHECK,
        "fault",
        Text(
            f"The driver supports CUDA up to {supports}, and torch is built for {build['cuda']}: "
            "within a major version an older driver serves, across one it doesn't.",
            f"驱动最高支持 CUDA {supports}，而 torch 面向 {build['cuda']}："
            "同一大版本内旧驱动可用，跨大版本则不行。",
        ),
        "critical",
        about,
        _reinstall(driver),
        "CUD026",
    )


def _ended(part: str, failed: Failed) -> Result:
    """The child crashed, hung or exited in a part after or before the import."""
    stage = STAGES[part]
    return Result(
        CHECK,
        "fault",
        Text(f"{stage.en} ends with: {failed.what}.", f"{stage.zh}时出现：{failed.what}。"),
        "critical",
        failed.where,
        None,
        {"signal": "SYS023", "timeout": "HNG001"}.get(failed.how, ""),
    )


def _devices(
    seen: Devices, build: TorchBuild, driver: Driver, about: tuple[str, ...]
) -> Iterator[Result]:
    if not seen["devices"]:
        said = seen["error"] or next(iter(seen["warnings"]), "torch.cuda.is_available(): False")
        yield Result(
            CHECK,
            "fault",
            Text(f"torch can't use a GPU: {said}", f"torch 无法使用 GPU：{said}"),
            "critical",
            about,
            None,
            rule_of(said, DEVICE_RULES, "CUD025"),
        )
        return
    lacking = [one for one in _kinds(seen["devices"]) if not _served(one, build["archs"])]
    for device in lacking:
        yield _no_code(device, driver, about)
    if not lacking:
        names = [one["name"] for one in seen["devices"]]
        yield ok(
            CHECK,
            f"torch holds code for every GPU that it sees ({len(names)}).",
            f"torch 可见 {len(names)} 张 GPU，且含有其架构的代码。",
            *(f"{names.count(name)} x {name}" for name in dict.fromkeys(names)),
            *about,
        )


def _kinds(devices: Sequence[Device]) -> list[Device]:
    """One device of each kind."""
    return list({tuple(one["capability"]): one for one in devices}.values())


def _served(device: Device, archs: Sequence[str]) -> bool:
    numbers = [re.fullmatch(r"(sm|compute)_(\d+)[af]?", arch) for arch in archs]
    read = [(one[1], int(one[2])) for one in numbers if one]
    sm = [number for kind, number in read if kind == "sm"]
    ptx = [number for kind, number in read if kind == "compute"]
    return not read or covers(device["capability"], sm, ptx)


def _no_code(device: Device, driver: Driver, about: tuple[str, ...]) -> Result:
    arch = written(device["capability"])
    return Result(
        CHECK,
        "fault",
        Text(
            f"This torch holds no code for {device['name']} ({arch}): the first kernel fails with "
            "`no kernel image is available`.",
            f"当前 torch 不含 {device['name']}（{arch}）的代码："
            "第一个 kernel 就会报 `no kernel image is available`。",
        ),
        "critical",
        about,
        _reinstall(driver),
        "CUD005",
    )

"""Environment variables of the run: what is set, and the values known to break it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from ...model import Fix, Text
from ..types import Result, ok
from . import visible_devices
from .nvidia import Gpu
from .shown_variables import CHECK, fault, hub_flag, listed


def check(
    environment: Mapping[str, str],
    *,
    gpus: Sequence[Gpu],
    interfaces: Sequence[str],
    installed: Mapping[str, str],
) -> Iterator[Result]:
    """Judges the variables against the machine: its GPUs and network interfaces (none: not known),
    and the installed versions by package name."""
    faults = [
        *visible_devices.check(environment, gpus),
        *_interfaces(environment, interfaces),
        *_allocator(environment, installed),
        *_hub(environment, installed),
        *_libraries(environment),
        *_proxies(environment),
        *_slow(environment),
    ]
    yield from faults
    yield ok(
        CHECK,
        "The variables that a run reads, as they are set here."
        if faults
        else "No variable is set to a value known to break a run.",
        "训练会读取的环境变量的当前值。" if faults else "没有发现已知会导致问题的环境变量。",
        *listed(environment),
    )


def _interfaces(environment: Mapping[str, str], interfaces: Sequence[str]) -> Iterator[Result]:
    if not interfaces:
        return
    value = environment.get("NCCL_SOCKET_IFNAME", "")
    if value and not value.startswith("^") and not _nccl_finds(value, interfaces):
        yield _no_interface(environment, "NCCL_SOCKET_IFNAME", interfaces, "DST005")
    value = environment.get("GLOO_SOCKET_IFNAME", "")
    if value and not set(value.split(",")) <= set(interfaces):
        yield _no_interface(environment, "GLOO_SOCKET_IFNAME", interfaces, "DST021")


def _nccl_finds(value: str, interfaces: Sequence[str]) -> bool:
    """As NCCL reads it: a list of prefixes, or of whole names behind `=`; a port may follow."""
    exact = value.startswith("=")
    names = [part.split(":")[0] for part in value.lstrip("=").split(",")]
    return any(
        one == name if exact else one.startswith(name) for name in names for one in interfaces
    )


def _no_interface(
    environment: Mapping[str, str], name: str, interfaces: Sequence[str], rule: str
) -> Result:
    return fault(
        environment,
        [name],
        "high",
        f"{name} names no network interface of this machine; it has {', '.join(interfaces)}.",
        f"{name} 指定的网卡在本机不存在；本机有 {'、'.join(interfaces)}。",
        rule,
        Fix(
            Text(
                "Name the one that reaches the other nodes, or unset it.",
                "改为能连通其他节点的网卡，或取消该变量。",
            ),
            run=f"ip -br addr; unset {name}",
            risk="none",
        ),
    )


VLLM_BEARS_EXPANDABLE = Version("0.19")
"""Up to 0.18 vLLM's memory pool refuses this very text (vllm/device_allocator/cumem.py); later it
switches the setting off for itself (vllm-project/vllm#40812)."""


def _allocator(environment: Mapping[str, str], installed: Mapping[str, str]) -> Iterator[Result]:
    name = "PYTORCH_CUDA_ALLOC_CONF"
    vllm = _version(installed, "vllm")
    expandable = "expandable_segments:True" in environment.get(name, "")
    if expandable and vllm is not None and vllm < VLLM_BEARS_EXPANDABLE:
        yield fault(
            environment,
            [name],
            "high",
            f"Expandable segments do not work with the sleep mode of vLLM {vllm}, which verl uses "
            "by default.",
            f"expandable_segments 与 vLLM {vllm} 的 sleep mode 不兼容，而 verl 默认使用后者。",
            "VLM030",
        )


HUB_WITHOUT_HF_TRANSFER = Version("1.0")
"""huggingface_hub 1.0 dropped hf_transfer; before, it refuses to download without the package."""


def _hub(environment: Mapping[str, str], installed: Mapping[str, str]) -> Iterator[Result]:
    name = "HF_HUB_ENABLE_HF_TRANSFER"
    hub = _version(installed, "huggingface-hub")
    if hub is None or hub >= HUB_WITHOUT_HF_TRANSFER or "hf-transfer" in installed:
        return
    if hub_flag(environment, name):
        yield fault(
            environment,
            [name],
            "high",
            f"{name} is on, but hf_transfer is not installed: every download is refused.",
            f"{name} 已开启，但未安装 hf_transfer：所有下载都会被拒绝。",
            "",
            Fix(
                Text("Install it, or unset the variable.", "安装它，或取消该变量。"),
                run="pip install hf_transfer",
                risk="none",
            ),
        )


def _version(installed: Mapping[str, str], name: str) -> Version | None:
    try:
        return Version(installed.get(name, ""))
    except InvalidVersion:
        return None


def _libraries(environment: Mapping[str, str]) -> Iterator[Result]:
    name = "LD_LIBRARY_PATH"
    stubs = [part for part in environment.get(name, "").split(":") if Path(part).name == "stubs"]
    if stubs:
        yield fault(
            environment,
            [name],
            "high",
            f"{name} holds the toolkit's stubs, which are only for linking: CUDA may load them "
            "instead of the driver.",
            f"{name} 含有 toolkit 的 stubs 目录（仅供链接）：CUDA 可能误加载它而不是真正的驱动。",
            "CUD025",
            Fix(
                Text("Take that folder out.", "去掉该目录。"),
                run=r"export LD_LIBRARY_PATH=$(echo $LD_LIBRARY_PATH | tr ':' '\n' | "
                r"grep -v 'stubs/*$' | paste -sd:)",
                risk="none",
            ),
        )


def _proxies(environment: Mapping[str, str]) -> Iterator[Result]:
    proxies = [
        name
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
        if environment.get(name)
    ]
    exempt = environment.get("no_proxy", "") or environment.get("NO_PROXY", "")
    if proxies and not exempt:
        yield fault(
            environment,
            proxies,
            "low",
            "A proxy is set and no_proxy is not: requests between the run's own processes (Ray, "
            "the engines' HTTP servers) may go to the proxy.",
            "设置了代理但未设置 no_proxy：训练内部进程之间的请求（Ray、推理引擎的 HTTP 服务）"
            "可能被发往代理。",
            "",
            Fix(
                Text("Exempt this machine and the other nodes.", "将本机与其他节点排除在外。"),
                run="export no_proxy=localhost,127.0.0.1,$(hostname -I | tr -s ' ' ',')",
                risk="none",
            ),
        )


SLOW = {
    "CUDA_LAUNCH_BLOCKING": ("1", "every kernel is waited for", "每个 kernel 都要同步等待"),
    "NCCL_P2P_DISABLE": (
        "1",
        "the GPUs of a node exchange data through host memory",
        "同机 GPU 之间只能经主机内存传输",
    ),
    "NCCL_IB_DISABLE": ("1", "nodes exchange data over TCP", "节点之间只能走 TCP"),
}
"""Settings of a search for a fault that are often forgotten: the value and what it costs."""


def _slow(environment: Mapping[str, str]) -> Iterator[Result]:
    for name, (value, en, zh) in SLOW.items():
        if environment.get(name) == value:
            yield fault(
                environment,
                [name],
                "low",
                f"{name}={value} makes the run slow: {en}.",
                f"{name}={value} 会使训练变慢：{zh}。",
            )

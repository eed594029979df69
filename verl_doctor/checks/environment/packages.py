"""Installed versions against what the installed packages themselves ask for.

verl's own metadata counts first; the table of releases stands in for a checkout without any.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ...knowledge import versions
from ...model import Fix, Severity, Text
from ..types import Result, ok
from .facts import Module, Package, Python

CHECK = "env.packages"
ENGINES = ("vllm", "sglang")
"""Where one is installed, verl's extra of that name counts as well."""
BOUND_TO_TORCH = frozenset(("sglang", "torchaudio", "torchvision", "vllm", "xformers"))
"""Compiled against one torch release: with another one their libraries don't load."""
SELF_CHECKED = "transformers"
"""Refuses to be imported beside versions outside its own ranges."""
RULES = {SELF_CHECKED: "HF054", "torchvision": "INS031", "vllm": "VLM021"}
"""Owner of an unmet requirement -> the rule of what it leads to where that is certain."""
PIP_CONFLICT = "INS032"
SHOWN = frozenset(
    (
        *("flash-attn", "megatron-core", "ray", "sglang", "tensordict"),
        *("torch", "transformers", "verl", "vllm"),
    )
)
"""What is listed, whatever else is found."""


def check(
    python: Python, packages: Sequence[Package], modules: Mapping[str, Module]
) -> Iterator[Result]:
    """What is installed, and every requirement of the stack that it doesn't meet."""
    installed: dict[str, Package] = {}
    for one in packages:
        installed.setdefault(one["name"], one)  # the first is the one that Python finds
    faults = [
        *_no_verl(python, installed, modules),
        *_python_version(python, installed),
        *_unmet_of_all(python, installed),
        *_unmet_of_checkout(installed, modules),
    ]
    yield from faults
    yield ok(
        CHECK,
        "What is installed of the stack."
        if faults
        else "The installed versions are what the packages ask for of each other.",
        "已安装的主要组件。" if faults else "各包版本满足彼此的依赖要求。",
        f"Python {python['version']} ({python['executable']})",
        *sorted(f"{name} {one['version']}" for name, one in installed.items() if name in SHOWN),
    )


def _no_verl(
    python: Python, installed: Mapping[str, Package], modules: Mapping[str, Module]
) -> Iterator[Result]:
    if "verl" in installed or "verl" in modules:
        return
    yield Result(
        CHECK,
        "fault",
        Text(
            f"verl is not installed for {python['executable']}.",
            f"{python['executable']} 的环境中没有安装 verl。",
        ),
        "high",
        (f"Python {python['version']}",),
        Fix(
            Text(
                "If another interpreter trains, name it with --python; else install verl.",
                "如果训练使用的是另一个解释器，请用 --python 指定；否则请安装 verl。",
            ),
            run=f"{shlex.quote(python['executable'])} -m pip install verl",
        ),
        "INS010",
    )


def _python_version(python: Python, installed: Mapping[str, Package]) -> Iterator[Result]:
    verl = installed.get("verl")
    if verl and _outside(verl["requires_python"], python["version"]):
        wanted = verl["requires_python"]
        yield Result(
            CHECK,
            "fault",
            Text(
                f"verl {verl['version']} asks for Python {wanted}; this is {python['version']}.",
                f"verl {verl['version']} 要求 Python {wanted}，当前为 {python['version']}。",
            ),
            "medium",
            (python["executable"],),
        )


def _unmet_of_all(python: Python, installed: Mapping[str, Package]) -> Iterator[Result]:
    for owner in installed.values():
        unmet = _unmet(owner["requires"], python, installed)
        if owner["name"] == "verl":
            for engine in ENGINES:
                if engine in installed:
                    unmet |= _unmet(owner["requires"], python, installed, engine)
        if unmet:
            yield _fault(f"{owner['name']} {owner['version']}", owner["name"], unmet, installed)


def _unmet_of_checkout(
    installed: Mapping[str, Package], modules: Mapping[str, Module]
) -> Iterator[Result]:
    """The table's ranges for verl that runs from its sources and was never installed."""
    if "verl" in installed or "verl" not in modules:
        return
    release = known_release(modules["verl"]["version"])
    if release is None:
        return
    asks = dict(release.asks)
    for engine in ENGINES:
        if engine in installed:
            asks |= release.extras.get(engine, {})
    unmet = {
        name: _but(f"{name}{wanted}", installed.get(name))
        for name, wanted in asks.items()
        if name not in installed or _outside(wanted, installed[name]["version"])
    }
    if unmet:
        yield _fault(f"verl {release.version}", "verl", unmet, installed)


def known_release(stated: str) -> versions.Release | None:
    """The table's release of the same series as a stated version (`0.9.0.dev0`), the newest that
    is not newer where there are several; None where the table has no such series."""
    try:
        version = Version(stated)
    except InvalidVersion:
        return None
    series = [
        one
        for one in versions.releases()
        if Version(one.version).release[:2] == version.release[:2]
    ]
    older = [one for one in series if Version(one.version) <= version]
    return next(iter([*reversed(older), *series]), None)


def _unmet(
    requires: Sequence[str], python: Python, installed: Mapping[str, Package], extra: str = ""
) -> dict[str, str]:
    """Package -> requirement and what is there. What only the extra asks for may be missing: an
    image may do without a part of it."""
    found: dict[str, str] = {}
    for line in requires:
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            continue
        marker = wanted.marker
        if marker is not None and not marker.evaluate({**python["markers"], "extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        package = installed.get(name)
        if package is None:
            if not extra:
                found[name] = _but(f"{name}{wanted.specifier}", None)
        elif _outside(str(wanted.specifier), package["version"]):
            found[name] = _but(f"{name}{wanted.specifier}", package)
    return found


def _outside(specifier: str, version: str) -> bool:
    """Whether a version is certainly not in a range."""
    try:
        return not SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


def _is_release(package: Package | None) -> bool:
    """Whether a package is there and no vendor's own build (2.8.0a0+nv25.06): that one meets no
    range, and what comes with it was built for it."""
    try:
        return package is not None and not Version(package["version"]).is_prerelease
    except InvalidVersion:
        return False


def _but(wanted: str, package: Package | None) -> str:
    return f"{wanted}: {package['version'] if package else 'missing'}"


def _fault(
    owner: str, name: str, unmet: Mapping[str, str], installed: Mapping[str, Package]
) -> Result:
    bound = name in BOUND_TO_TORCH and "torch" in unmet and _is_release(installed.get("torch"))
    severity: Severity = "high" if bound or name == SELF_CHECKED else "medium"
    seen = tuple(unmet[key] for key in sorted(unmet))
    if bound:
        en = f"{owner} is compiled for another torch than the installed one."
        zh = f"{owner} 是按另一版本的 torch 编译的，与已安装的不符。"
        fix = Fix(
            Text(
                f"Install the {name} that goes with this torch, or the torch that it asks for; "
                "the table says what goes with a verl release.",
                f"安装与当前 torch 配套的 {name}，或其要求的 torch；"
                "下表列出各 verl 版本对应的组合。",
            ),
            run="verl-doctor versions",
            risk="medium",
        )
    else:
        en = f"{owner} asks for other versions than the installed ones."
        zh = f"{owner} 要求的依赖版本与已安装的不符。"
        wanted = " ".join(f"'{line.rpartition(': ')[0]}'" for line in seen)
        fix = Fix(
            Text(
                "Install what it asks for, and look which other package then disagrees.",
                "安装其要求的版本，并确认没有其他包因此冲突。",
            ),
            run=f"pip install {wanted} && pip check",
            risk="medium",
        )
    rule = RULES.get(name, PIP_CONFLICT) if severity == "high" else PIP_CONFLICT
    return Result(CHECK, "fault", Text(en, zh), severity, seen, fix, rule)

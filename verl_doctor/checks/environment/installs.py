"""Which copy of a package an import takes: doubles, shadows, editable checkouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model import Fix, Text
from ..types import Result, ok
from .facts import Module, Package

CHECK = "env.installs"


def check(
    packages: Sequence[Package], modules: Mapping[str, Module], names: Mapping[str, str]
) -> Iterator[Result]:
    """Copies that hide each other. `names` says which packages count, and what each imports as."""
    found: dict[str, list[Package]] = {}
    for one in packages:
        if one["name"] in names:
            found.setdefault(one["name"], []).append(one)
    for name, copies in found.items():
        if len({one["version"] for one in copies}) > 1:
            yield _double(name, copies)
        module = modules.get(names[name])
        if module is not None and len(copies) == 1 and not _belongs(module, copies[0]):
            yield _shadow(names[name], module, copies[0])
    for one in found.get("verl", ())[:1]:
        if one["editable"]:
            commit = f", commit {one['commit'][:12]}" if one["commit"] else ""
            yield ok(
                CHECK,
                f"verl {one['version']} is an editable install{commit}.",
                f"verl {one['version']} 为可编辑（editable）安装{commit}。",
                one["editable"],
            )


def _belongs(module: Module, package: Package) -> bool:
    """Whether an import goes into the folder that holds the package."""
    home = Path(package["editable"] or Path(package["path"]).parent).resolve()
    places = module["folders"] or [module["file"]]
    return any(Path(place).is_relative_to(home) for place in places if place)


def _double(name: str, copies: Sequence[Package]) -> Result:
    first, *others = copies
    rows = tuple(f"{one['version']}: {one['path']}" for one in copies)
    if any(Path(one["path"]).parent == Path(first["path"]).parent for one in others):
        return Result(
            CHECK,
            "fault",
            Text(
                f"{name} is installed in several versions in one folder: Python reports "
                f"{first['version']}, and its files may be of any.",
                f"同一目录中装有多个版本的 {name}：Python 报告的版本为 {first['version']}，"
                "而实际文件可能来自任意一个版本。",
            ),
            "medium",
            rows,
            Fix(
                Text(
                    "Uninstall it until pip finds none, then install one.",
                    "反复卸载直到 pip 找不到，再安装一份。",
                ),
                run=f"pip uninstall -y {name}; pip uninstall -y {name}; "
                f"pip install {name}==VERSION",
                risk="medium",
            ),
            "INS032",
        )
    return Result(
        CHECK,
        "fault",
        Text(
            f"{name} {first['version']} hides {name} {others[0]['version']} in a later folder.",
            f"{name} {first['version']} 遮住了后面目录中的 {name} {others[0]['version']}。",
        ),
        "low",
        rows,
        Fix(
            Text(
                "If the other one is meant: uninstall this one, or leave out ~/.local where it is "
                "there.",
                "若要使用另一份：卸载当前这份；若它位于 ~/.local，可忽略该目录。",
            ),
            run="export PYTHONNOUSERSITE=1",
            risk="none",
        ),
    )


def _shadow(module_name: str, module: Module, package: Package) -> Result:
    place = module["file"] or module["folders"][0]
    empty = not module["file"]
    return Result(
        CHECK,
        "fault",
        Text(
            f"`import {module_name}` does not take the installed {package['version']}, but "
            f"{'a folder without __init__.py' if empty else 'another copy'}: {place}",
            f"`import {module_name}` 得到的不是已安装的 {package['version']}，而是"
            f"{'一个没有 __init__.py 的目录' if empty else '另一份代码'}：{place}",
        ),
        "high" if empty else "medium",
        (place, package["path"]),
        Fix(
            Text(
                "Start from another folder, or install the copy that is meant "
                "(`pip install -e .` in it).",
                "换一个目录启动，或安装你要用的那一份（在其中执行 `pip install -e .`）。",
            ),
        ),
        "INS021" if empty else "",
    )

"""The rules' patterns in the words of ripgrep, mtail and SEC, for benchmarks/compare.py."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.build import PATTERN_KINDS
from verl_doctor.model import Pattern

_GROUP = re.compile(r"\(\?P<\w+>")


def patterns(base: RuleBase, rules: int) -> list[str]:
    """One regular expression, without named groups, for each pattern of the first so many rules
    that look for texts."""
    found: list[str] = []
    for rule_id in sorted(base.plains):
        spec = base.spec(rule_id)
        if spec.kind in PATTERN_KINDS and rules > 0:
            rules -= 1
            found += [_GROUP.sub("(?:", _expression(pattern)) for pattern in spec.patterns]
    return list(dict.fromkeys(found))


def _expression(pattern: Pattern) -> str:
    if not pattern.exception:
        return pattern.regex or re.escape(max(pattern.contains, key=len))
    names = "|".join(r"\w+" if name == "*" else re.escape(name) for name in pattern.exception)
    message = rf".*(?:{pattern.message})" if pattern.message else ""
    return rf"(?:{names})(?:\([\w.]+\))?:{message}"


def usable(all_of_them: Sequence[str], accepts: Callable[[Sequence[str]], bool]) -> list[str]:
    """Those that a tool accepts: neither has look-around. Halves what it refuses."""
    if not all_of_them or accepts(all_of_them):
        return list(all_of_them)
    if len(all_of_them) == 1:
        return []
    half = len(all_of_them) // 2
    return usable(all_of_them[:half], accepts) + usable(all_of_them[half:], accepts)


def ripgrep(found: Sequence[str], folder: Path, name: str, *options: str) -> tuple[list[str], int]:
    """ripgrep's command line, to which a log is added, and the number of patterns in it."""
    file = folder / f"{name}.rg"
    command = ["rg", "-j1", "-c", "--regex-size-limit", "4G", *options, "-f", str(file)]

    def accepts(some: Sequence[str]) -> bool:
        file.write_text("\n".join(some) + "\n", encoding="utf-8")
        done = subprocess.run([*command, "/dev/null"], capture_output=True)
        return done.returncode == 1  # nothing found

    kept = usable([one for one in found if "\n" not in one], accepts)
    accepts(kept)
    return command, len(kept)


def mtail(found: Sequence[str], folder: Path) -> tuple[list[str], int]:
    """mtail's command line, to which a log is added, and the number of patterns in it."""
    file, empty = folder / "rules.mtail", folder / "empty.log"
    empty.touch()
    command = ["mtail", "-one_shot", "-progs", str(file), "-logs", str(empty)]

    def accepts(some: Sequence[str]) -> bool:
        blocks = [f"/{one.replace('/', chr(92) + '/')}/ {{\n  hits++\n}}\n" for one in some]
        file.write_text("counter hits\n" + "".join(blocks), encoding="utf-8")
        return not subprocess.run([*command, "-compile_only"], capture_output=True).returncode

    kept = usable([one for one in found if "\n" not in one], accepts)
    accepts(kept)
    return command[:-1], len(kept)


def sec(found: Sequence[str], folder: Path) -> tuple[list[str], int]:
    """SEC's command line, to which a log is added, and the number of patterns in it."""
    file = folder / "rules.sec"
    kept = [one for one in found if "\n" not in one]
    file.write_text(
        "\n".join(
            f"type=Single\nptype=RegExp\npattern={one}\ndesc=rule\naction=none\n" for one in kept
        ),
        encoding="utf-8",
    )
    return ["sec", f"-conf={file}", "-notail", "-fromstart", "-quoting", "-input"], len(kept)

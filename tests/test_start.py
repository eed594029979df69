"""What a start costs, counted in what it loads: that holds on any machine."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import verl_doctor
from verl_doctor import lazy


def lazy_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Where each pattern of the package stands, and the pattern."""
    for module in pkgutil.walk_packages(verl_doctor.__path__, "verl_doctor."):
        if module.name != "verl_doctor.__main__":
            for name, value in vars(importlib.import_module(module.name)).items():
                parts = value if isinstance(value, tuple) else (value,)
                for part in parts:
                    for one in part if isinstance(part, tuple) else (part,):
                        if isinstance(one, lazy._Pattern):
                            yield f"{module.name}.{name}", one


def test_every_lazy_pattern_compiles() -> None:
    found = list(lazy_patterns())
    assert len(found) > 100
    for place, pattern in found:
        assert isinstance(pattern.pattern, str | bytes), place


def test_a_lazy_pattern_is_compiled_once_and_answers_as_its_own() -> None:
    words = lazy.compile(r"(?P<word>a+)", re.I)
    assert "search" not in vars(words)
    assert words.search("xAAy")["word"] == "AA"
    assert words.search is vars(words)["search"]
    assert words.sub("-", "bab") == "b-b"
    assert lazy.compile(rb"\d+").findall(b"1 22") == [b"1", b"22"]

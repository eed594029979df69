"""What a start costs, counted in what it loads: that holds on any machine."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import verl_doctor
from tests.conftest import GENUINE
from tests.test_cli import imported
from verl_doctor import lazy

LOG = GENUINE / "backward-twice.log"
NEVER = {
    # other programs' and Python's, which bring much along
    *("textual", "torch", "sqlite_utils", "sqlite3", "yaml", "matplotlib", "rich.console"),
    *("statistics", "decimal", "difflib", "shutil", "glob", "logging", "concurrent.futures"),
    # ours, which a complete log in one file doesn't ask for
    *("verl_doctor.live", "verl_doctor.notify", "verl_doctor.store", "verl_doctor.checks"),
    *("verl_doctor.run", "verl_doctor.authoring", "verl_doctor.tui", "verl_doctor.knowledge.read"),
    *("verl_doctor.sources.follow", "verl_doctor.sources.folder"),
    *("verl_doctor.sources.flight_recorder", "verl_doctor.detect.flight_recorder"),
}
MOST_OURS, MOST = 140, 320
"""Modules that a plain diagnosis may import: ours, and those of Python and libraries too. They are
130 and 300, of which every one takes about as long as reading 1 MB of a log."""


@pytest.mark.usefixtures("compiled_once")
def test_a_plain_diagnosis_imports_what_its_log_asks_for() -> None:
    found = imported(str(LOG), "--no-record")
    assert found & NEVER == set()
    assert len({name for name in found if name.startswith("verl_doctor")}) <= MOST_OURS
    assert len(found) <= MOST
    ours = [name for name in NEVER if name.startswith("verl_doctor")]
    assert all(importlib.util.find_spec(name) for name in ours)  # none has another name by now


def test_what_a_start_imports_compiles_no_pattern() -> None:
    code = (
        "import re, sys, verl_doctor.cli.diagnose, verl_doctor.pipeline, verl_doctor.render.text\n"
        "for name in [name for name in sys.modules if name.startswith('verl_doctor')]:\n"
        "    values = vars(sys.modules[name]).items()\n"
        "    print(*(f'{name}.{key}' for key, value in values if type(value) is re.Pattern))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == []


@pytest.mark.usefixtures("compiled_once")
def test_a_start_parses_only_the_rules_that_it_reports() -> None:
    code = (
        "from verl_doctor.knowledge.load import load\n"
        "from verl_doctor.pipeline import diagnose_chunks\n"
        "base, scanner = load()\n"
        f"log = open({str(LOG)!r}, 'rb').read()\n"
        "report, _ = diagnose_chunks([('x.log', [log], [])], base, scanner)\n"
        "print(report.findings[0].rule, len(base.plains), len(base.plains._parsed))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    rule, rules, parsed = done.stdout.split()
    assert rule == "TOR001"
    assert 1 <= int(parsed) <= 20 < int(rules)


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

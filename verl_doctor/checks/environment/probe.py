"""Gathers facts inside the interpreter that trains: `python probe.py SECTION [ARGUMENT…]`.

Stand-alone, on Python 3.8 and later, and on the standard library alone: that interpreter has no
verl-doctor. A section is a file of `sections/` whose PARTS are functions that take the arguments
and return what JSON can hold. Each fact is written as soon as it is known, on a line of its own
behind MARK, so that a crash loses only what came after it; whatever else imports print is noise.
Nothing here is imported by verl-doctor but MARK.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import sys
import traceback
from typing import Any, Callable

MARK = "\x1everl-doctor "
"""Begins a line that is a fact (an ASCII record separator: no program prints it by accident)."""


def tell(**fact: Any) -> None:
    """Writes one fact."""
    # a line that another library left open ends first
    os.write(1, f"\n{MARK}{json.dumps(fact)}\n".encode())


def run(part: Callable[..., Any], arguments: list[str]) -> None:
    """Tells that a part begins, and then its facts or the exception that it ended with."""
    tell(part=part.__name__)
    try:
        facts = part(*arguments)
    except BaseException as error:  # SystemExit too: a library that exits is a finding
        stack = traceback.extract_tb(error.__traceback__)
        frames = [one for one in stack if "importlib" not in one.filename]
        tell(
            part=part.__name__,
            error=type(error).__name__,
            message=str(error),
            frame=f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "",
        )
    else:
        tell(part=part.__name__, facts=facts)


def main(name: str, arguments: list[str]) -> None:
    """Runs all parts of a section. The time limit in seconds stands in VERL_DOCTOR_LIMIT_S."""
    faulthandler.enable()  # a segmentation fault then says in which import
    limit = float(os.environ.get("VERL_DOCTOR_LIMIT_S", "0"))
    if limit:  # and a hang where it hangs, shortly before it is ended
        faulthandler.dump_traceback_later(limit * 0.9, exit=False)
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "sections", name + ".py")
    spec = importlib.util.spec_from_file_location("verl_doctor_section", path)
    assert spec is not None
    assert spec.loader is not None
    section = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(section)
    # as `python -m verl.trainer.main_ppo` has it: the working directory comes first, and
    # this file's folder must not be on the path (PYTHONSAFEPATH keeps off both)
    if os.path.realpath(sys.path[0]) == os.path.realpath(here):
        sys.path[0] = os.getcwd()
    for part in section.PARTS:
        run(part, arguments)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

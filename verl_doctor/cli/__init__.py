"""The command line: the process's arguments in, its exit status out."""

from __future__ import annotations

import gc
import io
import os
import sys
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """What the process says to the shell."""

    OK = 0
    """Nothing at or above --fail-on."""
    FINDINGS = 1
    """At least one finding at or above --fail-on."""
    USAGE = 2
    """Usage error, unreadable input, broken rule."""
    INTERRUPTED = 130


HELP = Path(__file__).with_name("help.txt")
"""What click prints for --help (a test holds them equal): importing click takes 30 ms."""


def main(argv: list[str] | None = None) -> None:
    """Runs the command line and exits with its status.

    Takes the arguments (default: the process's own). Known errors are one line on standard error.
    """
    args = sys.argv[1:] if argv is None else argv
    if args in (["--help"], ["-h"]):
        sys.stdout.write(HELP.read_text(encoding="utf-8"))
        sys.exit(ExitCode.OK)
    status = int(_run(args))
    gc.freeze()  # as Python ends, it would look through all objects for garbage, again and again
    sys.exit(status)


def _run(args: list[str]) -> int:
    # a start makes some 20,000 objects that stay: looked through after every 700, as by default,
    # they cost a twentieth of it
    gc.set_threshold(30_000)
    import click

    if sys.stdout is None:  # closed by the caller (`>&-`)
        print("verl-doctor: standard output is closed; use -o FILE", file=sys.stderr)
        return ExitCode.USAGE
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            # an ASCII locale still gets its report: what can't be encoded shows as an escape
            stream.reconfigure(errors="backslashreplace")
    from ..errors import DoctorError, RuleError
    from ..logs.text import visible
    from .app import cli

    try:
        result = cli.main(args=args, prog_name="verl-doctor", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return result if isinstance(result, int) else ExitCode.OK
    except (click.exceptions.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        told = io.StringIO()
        error.show(told)
        sys.stderr.write(visible(told.getvalue()))  # it may quote a file's name, or what it holds
        return ExitCode.USAGE
    except BrokenPipeError:
        # the reader went away (`| head`): nothing is left to say, and Python must not try
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except OSError as error:
        # standard output is full or closed: there is nowhere to go with the result
        print(f"verl-doctor: cannot write the result: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitCode.USAGE
    except DoctorError as error:
        print(f"verl-doctor: {visible(str(error))}", file=sys.stderr)
        for problem in error.problems if isinstance(error, RuleError) else ():
            print(visible(problem), file=sys.stderr)
        return ExitCode.USAGE

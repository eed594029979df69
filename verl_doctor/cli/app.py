"""The verbs. Each one's module is imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys

import click

from .. import __version__

VERBS = {
    "diagnose": ("diagnose", "Name the cause and the fix in a log (the default verb)."),
    "check": ("check", "Before a run: configuration, data, model, machine."),
    "run": ("run", "Start a run; a diagnosis at its end, stacks at a hang."),
    "tui": ("tui", "Look at a log interactively; also live (-f) and on a pipe."),
    "explain": ("explain", "What a rule knows: meaning, causes, fixes, links. Offline."),
    "rules": ("rules", "List, check and test the rules."),
    "incidents": ("incidents", "What was found before on this machine."),
    "report": ("report", "One masked page, ready to paste into an issue."),
    "versions": ("versions", "Which torch, vLLM, SGLang, CUDA go with a verl release."),
    "schema": ("schema", "JSON Schema of a rule file, for editors."),
}


class Verbs(click.Group):
    """`verl-doctor LOG…` is short for `verl-doctor diagnose LOG…`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f".{VERBS[cmd_name][0]}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # the verbs' own modules stay unimported: help has to be instant
        with formatter.section("Verbs"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        own = ("--help", "-h", "--version")
        if not args:
            args = [] if sys.stdin is None or sys.stdin.isatty() else ["diagnose"]
        elif first not in VERBS and first not in own:
            if not os.path.exists(first) and (close := _nearest(first)):
                raise click.UsageError(f"no log and no verb is called {first!r}: {close}?", ctx)
            args = ["diagnose", *args]
        return super().parse_args(ctx, args)


def _nearest(word: str) -> str:
    """The verb that a word can be a slip of, or ''."""
    import difflib

    return next(iter(difflib.get_close_matches(word, VERBS, n=1, cutoff=0.8)), "")


@click.command(
    cls=Verbs,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "VERL_DOCTOR",
        "max_content_width": 100,
    },
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="verl-doctor")
def cli() -> None:
    """Reads the console log of a verl / LLM reinforcement-learning run that has died, hangs or
    learns nothing, and says what happened, why, how sure it is and what to do.

    \b
      verl-doctor train.log              one log (also .gz .bz2 .xz .zst)
      verl-doctor logs/*.log             several files as one run
      verl-doctor /path/to/logs/         a folder
      cat train.log | verl-doctor        a pipe
      verl-doctor run -- python -m verl.trainer.main_ppo …
      verl-doctor explain use-cache-unexpected-argument

    Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage error or unreadable input.
    """

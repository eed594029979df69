"""`verl-doctor report`: the one page that a maintainer asks for."""

from __future__ import annotations

import sys

import click

from ..errors import StoreError
from ..model import Lang, Report
from .inout import named_logs, put, read_logs
from .memory import recalled
from .options import LANGS, rules_option


@click.command()
@click.argument("logs", nargs=-1, metavar="LOG…", type=click.Path())
@click.option("--format", "form", type=click.Choice(("markdown", "html")), default="markdown")
@click.option("-o", "--output", type=click.Path(), help="Write the page to a file instead.")
@click.option(
    "--lang",
    type=click.Choice(LANGS),
    default="en",
    help="Language of the page.  [default: en, which most maintainers read]",
)
@rules_option
def report(
    logs: tuple[str, ...], form: str, output: str | None, lang: Lang, rule_dirs: tuple[str, ...]
) -> int:
    """One page ready to paste into an issue, with what verl's bug form and its maintainers ask for.

    Verdict, decisive lines of the right worker, what followed, versions, command and overrides,
    hardware, what was tried. Tokens, keys, URLs with credentials and home paths are masked; read
    it once more before you publish it. Nothing is recorded.

    \b
      verl-doctor report train.log | gh issue create -R verl-project/verl -F - -t "…"
      verl-doctor report train.log --format html -o report.html
    """
    from ..render import issue
    from . import ExitCode

    found, interrupted, unreadable = read_logs(named_logs(logs), rule_dirs, lang)
    if found is None:
        return ExitCode.USAGE
    known, trouble = recalled(found)
    if trouble:
        print(f"verl-doctor: {trouble}", file=sys.stderr)
    page = issue.page_of(known, lang=lang, tried=_notes(known))
    put(issue.markdown(page) if form == "markdown" else issue.html_page(page, lang), output)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.USAGE if unreadable else ExitCode.OK


def _notes(known: Report) -> list[str]:
    """What people wrote on the root; nothing if the store can't be read, which has been told."""
    from ..store import notes

    if not known.findings or known.findings[0].history is None:
        return []
    try:
        return [note.text for note in notes(known.findings[0].fingerprint)]
    except StoreError:
        return []

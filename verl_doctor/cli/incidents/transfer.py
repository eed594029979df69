"""Verbs that move and delete: `export`, `import`, `merge`, `purge`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TextIO

import click

from ... import store
from ...errors import StoreError
from ...model import Lang
from ..options import lang_option
from .change import span
from .group import format_option, incidents, named
from .output import SCHEMA_VERSION, stdout, write_json
from .words import word

MAX_LINE = 64 << 20
"""Characters of a line that is taken in; one run with all its messages has some MB."""


@incidents.command("export")
@click.option("-o", "--output", type=click.Path(), help="Write to a file instead.")
def export(output: str | None) -> None:
    """Write all there is as JSON lines, masked as it is stored.

    \b
      verl-doctor incidents export | gzip > incidents.jsonl.gz
      zcat incidents.jsonl.gz | verl-doctor incidents import -
    """
    if output is None:
        stdout().writelines(store.export())
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.writelines(store.export())
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from error


@incidents.command("import")
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@format_option("text", "json")
@lang_option
def import_(file: TextIO, form: str, lang: Lang) -> None:
    """Add what `export` wrote; `-` is standard input. A second time it changes nothing."""
    _tell(store.take_in(_lines(file)), "took in", form, lang)


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file. Raises StoreError for one that is longer than any that is exported."""
    for number in count(1):
        line = file.readline(MAX_LINE)
        if not line:
            return
        if len(line) == MAX_LINE:
            raise StoreError(f"{file.name}: line {number} is longer than {MAX_LINE >> 20} MiB")
        yield line


@incidents.command("merge")
@click.argument("other", metavar="OTHER.db", type=click.Path(path_type=Path))
@format_option("text", "json")
@lang_option
def merge(other: Path, form: str, lang: Lang) -> None:
    """Add what another store holds, of another machine or user. A second time it changes nothing.

    Of what both know the later version stands; notes, tags and fixes of both are kept.
    """
    _tell(store.merge(other), "took in", form, lang)


@incidents.command("purge")
@click.argument("names", metavar="[ID]…", nargs=-1)
@click.option("--older-than", type=span, help="Runs that ended so long ago: 90d, 12w.")
@click.option("--all", "everything", is_flag=True, help="All there is.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@format_option("text", "json")
@lang_option
def purge(
    names: tuple[str, ...],
    older_than: float | None,
    everything: bool,
    yes: bool,
    form: str,
    lang: Lang,
) -> None:
    """Delete incidents, old runs or everything, from the file too.

    An incident goes with its last run, unless somebody has written something about it.
    """
    if not (names or older_than is not None or everything):
        raise click.UsageError("what? Name an ID, --older-than 90d or --all.")
    chosen = [named(name).fingerprint for name in names]
    if not yes:
        question = word("purge?", lang, path=store.default_path())
        click.confirm(question, abort=True, err=True)
    before = None if older_than is None else time.time() - older_than
    done = store.purge(chosen, before=before, everything=everything)
    _tell(done, "purged", form, lang)


def _tell(done: store.Merged | store.Purged, words: str, form: str, lang: Lang) -> None:
    counts = done._asdict()
    if form == "json":
        write_json({"schema_version": SCHEMA_VERSION, **counts})
    else:
        click.echo(word(words, lang, **counts), file=sys.stdout)

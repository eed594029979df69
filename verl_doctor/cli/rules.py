"""`verl-doctor rules`: list, lint, test."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..logs.json_text import json_text
from ..model import Lang
from .options import lang_option, rules_option


@click.group()
def rules() -> None:
    """List, check and test the rules."""


@rules.command("list")
@click.option("--layer", help="Only rules of this layer (ray, datasets, cuda, …).")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@rules_option
@lang_option
def list_(layer: str | None, form: str, rule_dirs: tuple[str, ...], lang: Lang) -> None:
    """All rules, one a line: id, severity, slug, title."""
    from ..knowledge.load import load
    from ..logs.text import visible

    base, _ = load(rule_dirs)
    chosen = [
        plain
        for _, plain in sorted(base.plains.items())
        if layer is None or plain["layer"] == layer
    ]
    if not chosen:
        layers = sorted({plain["layer"] for plain in base.plains.values()})
        raise click.ClickException(f"no rule of layer {layer!r}; layers: {', '.join(layers)}")
    if form == "json":
        keys = ("id", "slug", "status", "severity", "role", "layer", "title")
        sys.stdout.write(json_text([{key: one[key] for key in keys} for one in chosen]))
        return
    for one in chosen:
        title = one["title"].get(lang) or one["title"]["en"]
        print(f"{one['id']:7} {one['severity']:8} {one['role']:8} {one['slug']}\n{'':8}{title}")
    print(f"{len(chosen)} rules", file=sys.stderr)
    for note in base.notes:
        print(visible(note), file=sys.stderr)


def _chosen(
    names: tuple[str, ...], rule_dirs: tuple[str, ...]
) -> tuple[tuple[str, ...], list[Path]]:
    """The files and folders that the arguments mean (an id means its rule's file), and the rule
    folders. Raises ClickException for an argument that is neither."""
    from ..knowledge.load import files_named, rule_folders

    folders = rule_folders(rule_dirs)
    found: list[str] = []
    for name in names:
        files = [name] if Path(name).exists() else [*map(str, files_named({name}, folders))]
        if not files:
            raise click.ClickException(
                f"{name} is no file, folder or rule id; `verl-doctor rules list` shows the ids"
            )
        found += files
    return tuple(found), folders


def _outside(files: tuple[str, ...], known: set[Path]) -> list[Path]:
    """Rule files among the arguments that lie in none of the rule folders."""
    from ..knowledge.load import rule_files

    found = []
    for name in files:
        path = Path(name)
        found += rule_files(path) if path.is_dir() else [path]
    return [path for path in found if path.resolve() not in known]


def _wanted(path: str, files: tuple[str, ...]) -> bool:
    if not files:
        return True
    found = Path(path).resolve()
    return any(found == Path(name).resolve() or Path(name).resolve() in found.parents
               for name in files)  # fmt: skip


@rules.command()
@click.argument("files", nargs=-1, type=click.Path())
@rules_option
def lint(files: tuple[str, ...], rule_dirs: tuple[str, ...]) -> int:
    """Every problem of the rule files at once, with line and column.

    FILES: only these files, folders or rule ids; a folder outside the rule folders is read as
    well.
    """
    from ..authoring.lint import lint as check
    from ..authoring.lint import slow_patterns
    from ..knowledge.load import read_rules
    from ..knowledge.read import read_rule_file
    from ..logs.text import visible

    files, folders = _chosen(files, rule_dirs)
    plains, problems, notes = read_rules(folders)
    known = {Path(plain["path"]).resolve() for plain in plains}
    known |= {Path(problem.path).resolve() for problem in problems}
    for path in _outside(files, known):
        plain, found = read_rule_file(path)
        problems += found
        plains += [plain] if plain else []
    problems += check(plains)
    problems += slow_patterns([one for one in plains if _wanted(one["path"], files)])
    shown = [problem for problem in problems if _wanted(problem.path, files)]
    for problem in shown:
        print(visible(str(problem)))
    for note in notes:
        print(visible(note), file=sys.stderr)
    print(f"{len(plains)} rules, {len(shown)} problems", file=sys.stderr)
    return 1 if shown else 0


@rules.command()
@click.argument("files", nargs=-1, type=click.Path())
@rules_option
def test(files: tuple[str, ...], rule_dirs: tuple[str, ...]) -> int:
    """Every rule on its own examples, through the real pipeline; says why one did not fire.

    FILES: only these files, folders or rule ids.
    """
    from ..authoring.proof import prove_all
    from ..errors import RuleError
    from ..knowledge.base import RuleBase, by_id
    from ..knowledge.load import read_rules

    files, folders = _chosen(files, rule_dirs)
    plains, problems, _ = read_rules(folders)
    bad = [problem for problem in problems if _wanted(problem.path, files)]
    if bad:
        raise RuleError("broken rules", tuple(str(problem) for problem in bad))
    base = RuleBase(by_id(plains))
    chosen = [base.rule(one["id"]) for one in plains if _wanted(one["path"], files)]
    wrong = prove_all(base, chosen)
    for outcome in wrong:
        print(outcome)
    count = sum(len(one.examples_match) + len(one.examples_no_match) for one in chosen)
    print(f"{len(chosen)} rules, {count} examples, {len(wrong)} failed", file=sys.stderr)
    return 1 if wrong else 0


@rules.command("new")
@click.option("--layer", default="mine", help="Layer of the rule (ray, datasets, cuda, …).")
@click.option("--from", "origin", metavar="LOG:LINE", help="Draft it from a line of a log.")
@click.option("--from-incident", "number", metavar="N", help="Draft it from an incident on record.")
@click.option("-o", "--output", metavar="DIR", help="Write it there instead of printing it.")
@rules_option
def new(
    layer: str,
    origin: str | None,
    number: str | None,
    output: str | None,
    rule_dirs: tuple[str, ...],
) -> None:
    """Draft a rule: signature and example filled in, the rest marked TODO."""
    from datetime import date

    from ..authoring.draft import draft
    from ..knowledge.load import load
    from ..sources import chunks, expand

    if (origin is None) == (number is None):
        raise click.UsageError("give --from LOG:LINE or --from-incident N")
    path, line = _place(origin) if origin else _incident(number or "")
    sources, failures = expand([path])
    if not sources:
        raise click.ClickException(failures[0].message)
    base, scanner = load(rule_dirs)
    text = draft(base, scanner, chunks(sources[0]), line, layer, date.today().isoformat())
    if output is None:
        print(text, end="")
        return
    name = "-".join(part.partition(": ")[2] for part in text.splitlines()[:2])
    target = Path(output) / f"{name}.yaml"
    if target.exists():
        raise click.ClickException(f"{target} exists already")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    print(f"{target}: fill in the TODOs, then `verl-doctor rules lint {target}`", file=sys.stderr)


def _place(origin: str) -> tuple[str, int]:
    path, _, line = origin.rpartition(":")
    if not path or not line.isdigit():
        raise click.UsageError(f"--from wants LOG:LINE, such as train.log:1019, not {origin!r}")
    return path, int(line)


def _incident(number: str) -> tuple[str, int]:
    """Log and line of the decisive evidence of an incident on record."""
    from ..store import find, occurrences

    found = find(number)
    if len(found) != 1:
        raise click.ClickException(f"{number} names {len(found)} incidents: see `incidents list`")
    for occurrence in occurrences(found[0].fingerprint):
        for one in occurrence.evidence:
            path = Path(one.path).expanduser()
            if path.is_file():
                return str(path), one.line
    raise click.ClickException(f"no log of incident {number} is still where it was")


@rules.command()
@click.argument("logs", nargs=-1, type=click.Path())
@rules_option
def coverage(logs: tuple[str, ...], rule_dirs: tuple[str, ...]) -> None:
    """What the rules do not cover.

    Without LOGS: rules without a genuine example, and alternatives that no example needs. With
    LOGS (files or folders): errors in them that no rule explains, grouped by shape.
    """
    from ..authoring.coverage import unknown_errors, unused_patterns, without_genuine
    from ..knowledge.load import load
    from ..sources import expand

    base, scanner = load(rule_dirs)
    if logs:
        sources, failures = expand(logs)
        for failure in failures:
            print(f"verl-doctor: {failure.message}", file=sys.stderr)
        groups, count = unknown_errors(sources, base, scanner)
        for group in groups:
            print(f"{group.count:6}  {group.path}:{group.line}\n        {group.text}")
        print(f"{len(groups)} shapes of unknown errors in {count} logs", file=sys.stderr)
        return
    chosen = [base.rule(rule_id) for rule_id in sorted(base.plains)]
    bare = without_genuine(chosen)
    for rule in bare:
        print(f"{rule.id}: no genuine example")
    for rule, index in unused_patterns(base, chosen):
        print(f"{rule.id}: alternative {index + 1} of its match is needed by no example")
    print(f"{len(chosen)} rules, {len(chosen) - len(bare)} with a genuine example", file=sys.stderr)

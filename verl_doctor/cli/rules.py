"""`verl-doctor rules`: list, lint, test."""

from __future__ import annotations

import sys
from pathlib import Path

import click

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
        import json

        keys = ("id", "slug", "status", "severity", "role", "layer", "title")
        print(json.dumps([{key: one[key] for key in keys} for one in chosen], ensure_ascii=False))
        return
    for one in chosen:
        title = one["title"].get(lang) or one["title"]["en"]
        print(f"{one['id']:7} {one['severity']:8} {one['role']:8} {one['slug']}\n{'':8}{title}")
    print(f"{len(chosen)} rules", file=sys.stderr)
    for note in base.notes:
        print(note, file=sys.stderr)


def _folders(files: tuple[str, ...], rule_dirs: tuple[str, ...]) -> list[Path]:
    from ..knowledge.load import rule_folders

    for name in files:
        if not Path(name).exists():
            raise click.ClickException(f"{name} does not exist")
    return rule_folders(rule_dirs)


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

    FILES: only these files or folders; a folder outside the rule folders is read as well.
    """
    from ..knowledge.lint import lint as check
    from ..knowledge.load import read_rules
    from ..knowledge.read import read_rule

    plains, problems, notes = read_rules(_folders(files, rule_dirs))
    known = {Path(plain["path"]).resolve() for plain in plains}
    known |= {Path(problem.path).resolve() for problem in problems}
    for path in _outside(files, known):
        plain, found = read_rule(path.read_text(encoding="utf-8"), str(path))
        problems += found
        plains += [plain] if plain else []
    problems += check(plains)
    shown = [problem for problem in problems if _wanted(problem.path, files)]
    for problem in shown:
        print(problem)
    for note in notes:
        print(note, file=sys.stderr)
    print(f"{len(plains)} rules, {len(shown)} problems", file=sys.stderr)
    return 1 if shown else 0


@rules.command()
@click.argument("files", nargs=-1, type=click.Path())
@rules_option
def test(files: tuple[str, ...], rule_dirs: tuple[str, ...]) -> int:
    """Every rule on its own examples, through the real pipeline; says why one did not fire."""
    from ..errors import RuleError
    from ..knowledge.base import RuleBase
    from ..knowledge.load import read_rules
    from ..proof import prove_all

    plains, problems, _ = read_rules(_folders(files, rule_dirs))
    bad = [problem for problem in problems if _wanted(problem.path, files)]
    if bad:
        raise RuleError("broken rules", tuple(str(problem) for problem in bad))
    base = RuleBase(plains)
    chosen = [base.rule(one["id"]) for one in plains if _wanted(one["path"], files)]
    wrong = prove_all(base, chosen)
    for outcome in wrong:
        print(outcome)
    count = sum(len(one.examples_match) + len(one.examples_no_match) for one in chosen)
    print(f"{len(chosen)} rules, {count} examples, {len(wrong)} failed", file=sys.stderr)
    return 1 if wrong else 0

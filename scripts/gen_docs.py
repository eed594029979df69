"""Builds the rule reference as a static site: one page a rule, both languages, an index by layer.

usage: gen_docs.py OUT_FOLDER

The pages are made from the rule files alone and are not kept in the repository, so they can't
drift. Everything from a rule is escaped; a link whose rule does not exist ends the build.
"""

from __future__ import annotations

import html
import sys
from collections import defaultdict
from pathlib import Path

from verl_doctor.knowledge.load import load
from verl_doctor.model import Lang, Rule, Text
from verl_doctor.render.labels import label, pasted
from verl_doctor.render.manual import signature

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.55 system-ui, "Noto Sans SC", sans-serif; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; }
pre, code { font: 14px/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; }
pre { padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; }
code { padding: .1rem .3rem; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line);
  padding: .35rem .5rem; text-align: left; vertical-align: top; }
.cols { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; }
@media (max-width: 50rem) { .cols { grid-template-columns: 1fr; } }
.tag { border: 1px solid var(--line); border-radius: 4px; padding: .05rem .4rem; font-size: .85em; }
"""


def esc(text: str) -> str:
    return html.escape(text, quote=True)


def page(title: str, body: str) -> str:
    """A whole HTML document."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{esc(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def both(text: Text, tag: str = "p") -> tuple[str, str]:
    return f"<{tag}>{esc(text.en)}</{tag}>", f'<{tag} lang="zh">{esc(text.zh)}</{tag}>'


def column(rule: Rule, lang: Lang) -> str:
    """Summary, causes and fixes in one language."""

    def say(text: Text) -> str:
        return esc(text.get(lang))

    out = [f'<section lang="{lang}"><h2>{say(rule.title)}</h2><p>{say(rule.summary)}</p>']
    if rule.impact:
        out.append(f"<p>{say(rule.impact)}</p>")
    for cause in rule.causes:
        likely = label(f"likely_{cause.likelihood}", lang)
        out.append(f'<h3><span class="tag">{esc(likely)}</span> {say(cause.text)}</h3><ol>')
        for fix in cause.fixes:
            code = "".join(f"<pre>{esc(text)}</pre>" for _, text in pasted(fix))
            verify = f"<p><em>{say(fix.verify)}</em></p>" if fix.verify else ""
            out.append(f"<li>{say(fix.text)}{code}{verify}</li>")
        out.append("</ol>")
    for text in rule.false_positives:
        out.append(f"<p>{esc(label('not', lang))}: {say(text)}</p>")
    return "".join(out) + "</section>"


def rule_page(rule: Rule, known: set[str]) -> str:
    """One rule's page. Errors: SystemExit for a relation to a rule that does not exist."""
    facts = [rule.severity, rule.role, rule.scope, rule.status, rule.layer, *rule.phase]
    facts += [f"{name} {versions}" for name, versions in rule.applies_to.items()]
    tags = " ".join(f'<span class="tag">{esc(fact)}</span>' for fact in facts)
    out = [f'<p><a href="index.html">verl-doctor</a></p><h1>{rule.id} {esc(rule.slug)}</h1>{tags}']
    out.append(f'<div class="cols">{column(rule, "en")}{column(rule, "zh")}</div>')
    lines = "\n".join(signature(rule.match))
    out.append(f"<h2>Signature</h2><pre>{esc(lines)}</pre>")
    for name in ("explains", "supersedes", "see_also"):
        others = getattr(rule, name)
        missing = set(others) - known
        if missing:
            sys.exit(
                f"{rule.path}: {name} names {', '.join(sorted(missing))}, which does not exist"
            )
        if others:
            links = ", ".join(f'<a href="{other}.html">{other}</a>' for other in others)
            out.append(f"<p>{name.replace('_', ' ')}: {links}</p>")
    out.append("<h2>References</h2><ul>")
    for one in rule.references:
        facts = (one.kind, one.versions, one.checked, one.note)
        note = esc(" ".join(part for part in facts if part))
        url = esc(one.url)
        link = f'<a href="{url}">{url}</a>' if one.url.startswith("https://") else url
        out.append(f"<li>{link} <small>{note}</small></li>")
    out.append("</ul>")
    for example in rule.examples_match:
        shown = example.log.rstrip() or f"fixtures_logs/{example.file}"
        out.append(f"<pre>{esc(shown[:2000])}</pre><p><small>{esc(example.origin)}</small></p>")
    return page(f"{rule.id} {rule.title.en}", "".join(out))


def index(rules: list[Rule]) -> str:
    """All rules by layer."""
    layers: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        layers[rule.layer].append(rule)
    out = [f"<h1>verl-doctor: {len(rules)} rules</h1>"]
    for layer, members in sorted(layers.items()):
        out.append(f"<h2>{esc(layer)}</h2><table>")
        for rule in members:
            en, zh = both(rule.title, "div")
            out.append(f'<tr><td><a href="{rule.id}.html">{rule.id}</a></td><td>{en}{zh}</td></tr>')
        out.append("</table>")
    return page("verl-doctor rules", "".join(out))


def main() -> None:
    """Writes the site."""
    if len(sys.argv) != 2:
        sys.exit("usage: gen_docs.py OUT_FOLDER")
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    base, _ = load(cache=False)
    rules = [base.rule(rule_id) for rule_id in sorted(base.plains)]
    for rule in rules:
        (out / f"{rule.id}.html").write_text(rule_page(rule, set(base.plains)), encoding="utf-8")
    (out / "index.html").write_text(index(rules), encoding="utf-8")
    print(f"{len(rules)} pages in {out}")


if __name__ == "__main__":
    main()

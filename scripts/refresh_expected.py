"""Writes fixtures_logs/expected.json: for every genuine log the verdict, the first finding's rule
and line, and every rule that matches anywhere in it.

usage: refresh_expected.py            (then read the diff: each change is a claim about a real log)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from verl_doctor.authoring.proof import Prover
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.knowledge.load import load
from verl_doctor.pipeline import diagnose_chunks
from verl_doctor.scan.database import Scanner

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures_logs"
EXPECTED = FIXTURES / "expected.json"


def logs() -> list[Path]:
    """Every single-file log of the fixtures."""
    return sorted([*FIXTURES.glob("genuine/*.log"), *FIXTURES.glob("made/*/*.log")])


def said(path: Path, base: RuleBase, scanner: Scanner, prover: Prover) -> dict[str, Any]:
    """What verl-doctor says about a log, in the few words that must not change unseen."""
    data = path.read_bytes()
    report, _ = diagnose_chunks([(path.name, [data], [])], base, scanner)
    first = report.findings[0] if report.findings else None
    return {
        "verdict": report.verdict,
        "rule": first.rule if first else None,
        "line": first.evidence[0].line if first else None,
        "matches": sorted({match.rule for match in prover.matches(data)}),
    }


def main() -> None:
    """Rewrites the file."""
    base, scanner = load(cache=False)
    prover = Prover(base, scanner)
    found = {str(path.relative_to(FIXTURES)): said(path, base, scanner, prover) for path in logs()}
    lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} logs")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n\n")[0]).parse_args()
    main()

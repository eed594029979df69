"""What `verl-doctor check` says of the launch scripts in verl's own examples/.

usage: check_examples.py REPOSITORY REF[=RELEASE]…     for instance ../verl v0.7.0 v0.9.0

Takes a clone of verl (bare ones too) and tags of it; the scripts are read at each tag and checked
against the configuration of that release, or of the one behind the `=`. Prints each script with a
fault at high or above, and the counts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from verl_doctor.checks.config import check, compose, known_release, script

HOME = {"HOME": "/home/user"}
BAD = ("critical", "high")


def scripts(repository: str, ref: str) -> Iterator[tuple[str, str]]:
    """(path, text) of every shell script below examples/ at a tag."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", repository, *words], check=True, capture_output=True, text=True
        )
        return done.stdout

    for path in git("ls-tree", "-r", "--name-only", ref, "examples").split():
        if path.endswith(".sh"):
            yield path, git("show", f"{ref}:{path}")


def main() -> None:
    """Prints the faults and the counts of each tag."""
    repository, *refs = sys.argv[1:]
    for ref in refs:
        tag, _, stated = ref.partition("=")
        release = known_release(stated or tag.removeprefix("v"))
        launched = clean = 0
        for path, text in scripts(repository, tag):
            found = script(text, HOME)
            if not found.module:
                continue
            launched += 1
            results = check(compose(found, release))
            faults = [one for one in results if one.state == "fault" and one.severity in BAD]
            clean += not faults
            for one in faults:
                print(f"{path}\n  {one.severity}: {one.text.en} {one.seen[:1]}")
        print(f"{tag}, judged as {release}: {launched} scripts start verl, {clean} are clean\n")


if __name__ == "__main__":
    main()

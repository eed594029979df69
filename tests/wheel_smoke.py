"""Builds the wheel, installs it into a fresh environment, diagnoses a fixture (`make wheel`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "fixtures_logs" / "genuine" / "verl-batch-not-divisible.log"


def main() -> None:
    """Exits with 1 if the installed wheel does not name the cause."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", name, str(ROOT)], check=True)
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "venv", with_pip=True, symlinks=True)
        python = folder / "venv" / "bin" / "python"
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        subprocess.run([*install, str(wheel)], check=True)
        done = subprocess.run(
            [str(folder / "venv" / "bin" / "verl-doctor"), str(LOG), "--format", "json"],
            capture_output=True,
            cwd=name,
            env={"HOME": name, "PATH": os.environ["PATH"]},
            check=False,
        )
        report = json.loads(done.stdout)
        assert done.returncode == 1, done.stderr.decode()
        assert report["findings"][0]["rule"] == "VRL002", report["findings"][0]
        print(f"wheel ok: {wheel.name}, {report['rules_version']}")


if __name__ == "__main__":
    main()

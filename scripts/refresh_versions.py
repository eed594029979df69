"""Writes what verl releases, and the engines that they name, ask of each other's versions.

usage: refresh_versions.py VERSION…        (verl releases; asks the package index through pip)

Source: the `Requires-Dist` of each package's own metadata, the same that pip resolves by. What
verl's images pin beyond that is not in it. Writes verl_doctor/data/versions.json.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys

from packaging.requirements import Requirement

from verl_doctor.knowledge.versions import DATA, ends

KEPT = ("torch", "vllm", "sglang", "transformers", "tensordict", "numpy", "ray", "flash-attn")
ENGINES = ("vllm", "sglang")
CUDA = re.compile(r"(?:nvidia-cuda-runtime(?:-cu\d+)?|cuda-toolkit\[.*?\])==(\d+\.\d+)")
RUNTIME = {"sglang": "srt"}  # older sglang keeps torch under this extra


def requires(package: str, version: str) -> list[Requirement]:
    """The metadata's requirements, without downloading what it requires."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "-q"]
    command += ["--ignore-installed", "--report", "-", f"{package}=={version}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    metadata = json.loads(done.stdout)["install"][0]["metadata"]
    return [Requirement(text) for text in metadata.get("requires_dist", [])]


def kept(found: list[Requirement], extra: str) -> dict[str, str]:
    """Package -> version specifier ("" for any) of the requirements under one extra."""
    out: dict[str, str] = {}
    for one in found:
        if "extra" in str(one.marker or ""):
            wanted = (
                bool(extra) and one.marker is not None and one.marker.evaluate({"extra": extra})
            )
        else:
            wanted = not extra
        if wanted and one.name in KEPT:
            out[one.name] = str(one.specifier)
    return out


def main() -> None:
    """Refreshes the file for the verl releases named on the command line."""
    verl, engines, torch = {}, {}, {}
    for release in sys.argv[1:]:
        found = requires("verl", release)
        verl[release] = {"": kept(found, "")} | {one: kept(found, one) for one in ENGINES}
        for engine in ENGINES:
            for version in ends(verl[release][engine].get(engine, "")):
                asked = requires(engine, version)
                extra = kept(asked, RUNTIME[engine]) if engine in RUNTIME else {}
                engines[f"{engine} {version}"] = extra | kept(asked, "")
    for version in {ends(one["torch"])[0] for one in engines.values()}:
        hits = [CUDA.search(str(one)) for one in requires("torch", version)]
        torch[version] = next((hit[1] for hit in hits if hit), "")
    document = {
        "source": "Requires-Dist of the packages' metadata on PyPI",
        "checked": datetime.date.today().isoformat(),
        "verl": verl,
        "engines": dict(sorted(engines.items())),
        "torch_cuda": dict(sorted(torch.items())),
    }
    DATA.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

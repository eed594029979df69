"""`slurmstepd: error: `, `srun: error: `: part of the message; only the level is read."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="slurm_error",
    starts="s",
    then="lrba",
    pattern=r"(?=(?:slurmstepd|srun|sbatch|salloc|slurmd): (?P<level>error|warning): )",
    samples=(
        Sample(
            "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0.",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0.",
            {"level": "ERROR"},
        ),
        Sample(
            "srun: error: gpu-03: task 3: Out Of Memory",
            "srun: error: gpu-03: task 3: Out Of Memory",
            {"level": "ERROR"},
        ),
    ),
)

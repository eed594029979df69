"""`Training Progress:  10%|# | 116/1155 [7:54:43<67:30:48, 233.93s/it]`: a bar with a known end.

tqdm prints no newline behind a bar, so the next message is glued to it; vLLM's own bar says
`25% Completed`.
"""

from __future__ import annotations

from . import DESCRIPTION, Format, Sample

FORMAT = Format(
    name="tqdm_bar",
    starts="",
    pattern=DESCRIPTION + r" *\d{1,3}%"
    r"(?:\|[^|\n]{0,400}\|| Completed \|) ?[^\s/]{1,20}/[^\s\[]{1,20} "
    r"\[[\d:?]{1,20}<[^\]\n]{1,200}\](?: +$)?",
    needs=("%|", "% Completed |"),
    samples=(
        Sample("  0%|          | 0/100 [00:00<?, ?it/s]", "", {}),
        Sample(
            "Training Progress:  10%|#         | 116/1155 [7:54:43<67:30:48, 233.93s/it](raylet) "
            "[2026-01-20 05:56:34,811 E 29106 29116] (raylet) node_manager.cc:116: text",
            "text",
            {"actor": "raylet", "level": "ERROR", "time": "2026-01-20T05:56:34.811"},
        ),
        Sample(
            "Validation rollouts:   2%|▎         | 1/40 [00:02<01:24,  2.15s/it][transformers] x",
            "x",
            {},
        ),
        Sample("Casting the dataset:   0%|          | 0/2 [00:00<?, ? examples/s]text", "text", {}),
        Sample(
            "(TaskRunner pid=5) Training Progress:   1%|          | 1/99 [00:10<16:20, 10.00s/it]",
            "",
            {"actor": "TaskRunner", "pid": "5"},
        ),
        Sample(
            "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:00<00:01,  2.5it/s]",
            "",
            {},
        ),
    ),
)

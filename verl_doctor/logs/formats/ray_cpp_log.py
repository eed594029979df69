"""`[2026-12-01 05:56:34,811 E 29106 29116] (raylet) file.cc:116: `: Ray's C++ logger.

The process id is left alone: the driver's other lines have none, and `(raylet)` lines neither.
"""

from __future__ import annotations

from . import DIGITS, Format, Sample

FORMAT = Format(
    name="ray_cpp_log",
    starts="[",
    then=DIGITS,
    pattern=r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<level>[DIWEFC]) \d+ \d+\] "
    r"(?:\((?P<actor>[\w.-]+)\) )?[\w./-]+\.(?:cc|cpp|h|hpp):\d+:(?: |$)",
    samples=(
        Sample(
            "[2026-12-01 06:21:24,693 E 15678 15689] (raylet) file_system_monitor.cc:116: /tmp is"
            " over 95% full",
            "/tmp is over 95% full",
            {"actor": "raylet", "level": "ERROR", "time": "2026-12-01T06:21:24.693"},
        ),
        Sample(
            "[2026-12-01 06:39:38,338 W 30030 30257] rpc_client.h:204: Failed to connect",
            "Failed to connect",
            {"level": "WARNING", "time": "2026-12-01T06:39:38.338"},
        ),
    ),
)

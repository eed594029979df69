"""Who wrote a log file, as far as its name tells.

Ray's session folder (`/tmp/ray/session_*/logs`, named in Ray's docs on log files), torchrun's
`--log-dir` (`<run>/attempt_0/3/stderr.log`), and the names that people give: `rank3.log`,
`node-2.out`, `slurm-1234_3.out`.
"""

from __future__ import annotations

from .. import lazy
from ..model import NOBODY, Worker

_NAMES = (
    # worker-<worker id>-<job id>-<pid>.err; python-core-worker-<id>_<pid>.log
    lazy.compile(r"(?:^|/)worker-[0-9a-f]{16,}-[0-9a-fx]+-(?P<pid>\d+)\.(?:out|err)"),
    lazy.compile(r"(?:^|/)python-core-(?P<actor>worker|driver)-[0-9a-f]+_(?P<pid>\d+)\.log"),
    lazy.compile(
        r"(?:^|/)(?P<actor>raylet|gcs_server|monitor|dashboard|dashboard_agent"
        r"|runtime_env_agent|log_monitor|runtime_env_setup-\w+)\.(?:out|err|log)"
    ),
    lazy.compile(r"/attempt_\d+/(?P<rank>\d+)/(?:stdout|stderr)\.log"),
    lazy.compile(r"(?:^|[/_.-])rank[_-]?(?P<rank>\d+)(?=[_.-]|$)"),
    lazy.compile(r"(?:^|/)slurm-\d+[_-](?P<rank>\d+)\.(?:out|err)"),
    lazy.compile(r"(?:^|[/_.-])(?P<node>(?:node|host|worker)[_-]?\d+)(?=[/_.-]|$)"),
)


def worker_of(path: str) -> Worker:
    """The worker that a path names; the empty worker if it names none."""
    for pattern in _NAMES:
        found = pattern.search(path)
        if found:
            return Worker(**{key: value for key, value in found.groupdict().items() if value})
    return NOBODY

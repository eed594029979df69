"""The line by which a program says that it gives up, where no rule knows it: better than silence.

Some words say so wherever they stand near the end of a log. Others do only as its last line: after
them a script may go on.
"""

from __future__ import annotations

from .. import lazy
from ..model import Match
from .choose import NEAR_THE_END
from .collect import Collector

_GIVES_UP = lazy.compile(
    r"\b(?:FATAL|CRITICAL)\b|\bFatal\b|exit(?:ed)? with (?:code|status) [1-9]"
    r"|\bexit code:? [1-9]|\bCheck failed: "
    r"|任务失败|训练(?:终止|失败)|退出码 ?[1-9]"
)
_PROGRAM = r"-?[\w./+-]{1,200}(?: ?[(\[]\w{1,40}[)\]]){0,2}"
"""A program's name as it stands before its message: `tar (child)`, `make[2]`."""
_REASONS = (
    r"No such file or directory|Permission denied|Operation not permitted|Argument list too long"
    r"|Exec format error|Not a directory|command not found|Device or resource busy"
    r"|Invalid argument|Connection (?:refused|timed out|reset by peer)|No route to host"
    r"|Name or service not known|Temporary failure in name resolution"
)
"""Those of errno and of the resolver that end a message."""
_LAST = lazy.compile(
    rf"^{_PROGRAM}: (?:\S.{{0,300}}: )?(?:{_REASONS})\.?$"
    rf"|^{_PROGRAM}(?: [\w-]{{1,40}})?: (?:fatal )?error: \S"
    r"|^(?:error|Error|fatal|panic|E|FATAL): \S|^ERROR: \S"
    r"|^Error (?:response )?from (?:server|daemon)\b"
    r"|^docker: \S|^zsh: no matches found: |^curl: \(\d+\) |^wget: \S"
    r"|^[\w./+-]{0,200}(?:sh|_script): (?:line )?\d+: \S"
    rf"|^make(?:\[\d+\])?: \*\*\* \S"
    r"|^Host key verification failed\.|Permission denied \((?:publickey|password|keyboard)"
    r"|^(?:mpirun|mpiexec|prterun|prun) (?:noticed|detected) that "
    r"|^Job '[\w-]{1,80}' (?:failed|was stopped)"
    r"|^(?:malloc|free|realloc|munmap_chunk|malloc_consolidate)\(\): \S|^double free or corruption"
    r"|^corrupted size vs\. prev_size|^\*\*\* \S.{1,60} detected \*\*\*: terminated"
    r"|^\++ ?exit [1-9]|^exit(?:ed with)? (?:status|code) [1-9]"
)


def last_word(collector: Collector, last_text: str) -> Match | None:
    """The last line by which a program says that it gives up, if no rule knows it.

    Takes the collector and the log's last line that is not blank. Returns a match of no rule.
    """
    if _LAST.search(last_text):
        line = collector.total_lines
        phase = collector.progress.phase_at(line)[0]
        return Match("", collector.last_path, line, last_text, {}, phase=phase)
    for one, _ in reversed(collector.error_lines):
        near = collector.end_of(one.path) - one.line <= NEAR_THE_END
        if near and _GIVES_UP.search(one.text):
            phase = collector.progress.phase_at(one.line)[0]
            return Match("", one.path, one.line, one.text, {}, phase=phase)
    return None

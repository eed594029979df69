"""Command-line arguments to sources, and a sentence for everything that is not read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

from verl_doctor.sources.content import inspect
from verl_doctor.sources.missing import denied, missing
from verl_doctor.sources.types import STDIN_LABEL, Failure, Source, shown, typed

if TYPE_CHECKING:
    from verl_doctor.sources.folder import Verdict

_EMPTY = (
    "is empty: nothing was ever written to it, or it was emptied. If the run is alive, its output "
    "may still sit in a buffer (start it with PYTHONUNBUFFERED=1); else give verl-doctor the file "
    "that the scheduler wrote, or Ray's folder /tmp/ray/session_latest/logs."
)
_DENIED_SHOWN = 3


def expand(
    paths: Sequence[str], *, stdin: BinaryIO | None = None, limit: int = 2000
) -> tuple[list[Source], list[Failure]]:
    """Finds out what can be read.

    Takes the arguments as typed: files, folders, globs that no shell has expanded, `-`; `stdin`
    stands in for standard input; `limit` is the number of files taken from folders and globs, the
    newest first. Returns the sources in the order of the arguments, those of a folder sorted by
    path, each file once; and the failures. Regular files are looked into, pipes and FIFOs are not
    touched. Never raises: an argument that cannot be read is a failure.

    A file named by the user is read unless it is binary; in a folder, only what looks like a log.
    """
    work = _Expansion(stdin, limit)
    for path in paths:
        work.argument(path)
    return work.sources, work.failures


class _Expansion:
    def __init__(self, stdin: BinaryIO | None, limit: int) -> None:
        self.stdin = stdin
        self.limit = limit
        self.left = limit
        self.sources: list[Source] = []
        self.failures: list[Failure] = []
        self.refused: list[str] = []
        """Files and folders inside of the current argument that cannot be read."""
        self.seen: set[object] = set()

    def fail(self, path: str, message: str, *, fatal: bool = True) -> None:
        self.failures.append(Failure(path, message, fatal))

    def argument(self, path: str) -> None:
        if path == "-":
            self.standard_input()
            return
        try:
            info = os.stat(path)
        except (OSError, ValueError) as error:
            home = os.path.expanduser(path)
            if home != path and os.path.exists(home):  # --log=~/run.log: no shell expands this
                self.argument(home)
            elif not os.path.lexists(path) and any(sign in path for sign in "*?["):
                self.pattern(path)
            else:
                self.fail(path, missing(path, error))
            return
        self.named(path, info)

    def standard_input(self) -> None:
        stream = self.stdin if self.stdin is not None else getattr(sys.stdin, "buffer", None)
        if stream is None or stream.closed:
            self.fail(
                STDIN_LABEL,
                "standard input is closed. Type: verl-doctor run.log, or: COMMAND | verl-doctor -",
            )
            return
        if _is_device(stream):
            self.fail(
                STDIN_LABEL,
                "standard input is a device, not a log. Type: COMMAND | verl-doctor -",
            )
        elif self.first("-"):
            self.sources.append(Source(STDIN_LABEL, "stdin", _size_of(stream)))

    def first(self, key: object) -> bool:
        """Whether this is the first time that `key` comes up."""
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    def first_file(self, path: str, info: os.stat_result) -> bool:
        inode = (info.st_dev, info.st_ino)
        return self.first(inode if info.st_ino else os.path.realpath(path))

    def named(self, path: str, info: os.stat_result) -> None:
        """A path that exists and that the user typed."""
        name = shown(path)
        mode = info.st_mode
        if stat.S_ISDIR(mode):
            self.folder(path)
        elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            self.fail(path, f"{name}: is a device, not a log. Type: verl-doctor run.log")
        elif stat.S_ISSOCK(mode):
            self.fail(
                path,
                f"{name}: is a socket, not a log. Type: verl-doctor run.log, or pipe what it sends "
                "into: verl-doctor -",
            )
        elif not self.first_file(path, info):
            return
        elif stat.S_ISFIFO(mode):
            self.sources.append(Source(path, "file"))
        else:
            self.file(path, None)

    def file(self, path: str, verdict: Verdict | None) -> bool:
        """Adds a regular file. `verdict` is what its name says in a folder; None: a user named it,
        so that a refusal needs words. Returns whether it was added."""
        name = shown(path)
        try:
            content = inspect(path)
        except (OSError, ValueError) as error:
            if verdict is None:
                self.fail(path, missing(path, error))
            else:
                self.refused.append(path)
            return False
        if content.empty or content.foreign is not None:
            if verdict is None and content.foreign is None:
                self.fail(path, f"{name}: {_EMPTY}", fatal=False)
            elif verdict is None and content.foreign is not None:
                what, instead = content.foreign
                instead = instead.replace("FILE", typed(path))
                self.fail(path, f"{name}: is {what}. {instead}.")
            return False
        if verdict is not None and not _is_log(verdict, content.head):
            return False
        self.sources.append(Source(path, content.kind, content.size))
        return True

    def folder(self, path: str) -> None:
        """A folder: its logs, the newest where there are too many."""
        from verl_doctor.sources.folder import MAX_ENTRIES, walk

        name = shown(path)
        found = walk(path)
        if found.denied and found.denied[0][0] == path:
            self.fail(path, denied(path, PermissionError(0, found.denied[0][1])))
            return
        before = len(self.sources)
        self.refused += [denied_folder for denied_folder, _ in found.denied]
        known = self.newest(path, found.files)
        if found.cut:
            self.fail(
                path,
                f"{name}: holds more than {MAX_ENTRIES} files; the search ended there. "
                "Give verl-doctor the folder of the logs.",
                fatal=False,
            )
        if len(self.sources) == before and not known:
            self.fail(
                path,
                f"{name}: holds no log with anything in it ({found.looked_at} files and folders; "
                "looked for *.log, *.out, *.err, *.txt, stdout, stderr and their compressed forms)."
                " Type: verl-doctor FILE with the name of the console log.",
            )

    def newest(self, path: str, files: Iterable[tuple[int, str, Verdict]]) -> bool:
        """Adds the newest files of a folder or pattern while `limit` allows, sorted by path.

        Returns whether any of them was known already: then nothing new is no failure.
        """
        name = shown(path)
        before = len(self.sources)
        known = False
        candidates = sorted(files, key=lambda file: (-file[0], file[1]))
        for at, (_, file, verdict) in enumerate(candidates):
            if not self.left:
                self.fail(
                    path,
                    f"{name}: more than {self.limit} files look like logs; the newest "
                    f"{self.limit} are read, {len(candidates) - at} older ones are not. "
                    "Type: verl-doctor with the subfolder or the files of the run that failed.",
                    fatal=False,
                )
                break
            try:
                info = os.stat(file)
            except OSError:
                continue
            if not self.first_file(file, info):
                known = True
            elif self.file(file, verdict):
                self.left -= 1
        if self.refused:
            some = ", ".join(shown(file) for file in self.refused[:_DENIED_SHOWN])
            rest = len(self.refused) - _DENIED_SHOWN
            self.fail(
                path,
                f"{name}: not everything in it can be read: {some}"
                f"{f' and {rest} more' if rest > 0 else ''}. Run verl-doctor as a user who may, "
                "or have the logs copied to a folder of your own.",
                fatal=False,
            )
            self.refused.clear()
        self.sources[before:] = sorted(self.sources[before:], key=lambda source: source.path)
        return known

    def pattern(self, path: str) -> None:
        """A glob that the shell left as it was: what it matches counts as in a folder, except that
        any name will do."""
        name = shown(path)
        import glob

        matches = sorted(glob.glob(os.path.expanduser(path), recursive=True))
        if not matches:
            self.fail(
                path,
                f"{name}: matches nothing. Type: ls {typed(os.path.dirname(path) or '.')} "
                "to see which files there are.",
            )
            return
        before = len(self.sources), len(self.failures)
        files: list[tuple[int, str, Verdict]] = []
        for match in matches:
            try:
                info = os.stat(match)
            except OSError as error:
                if not isinstance(error, FileNotFoundError):  # a link to nowhere
                    self.refused.append(match)
                continue
            if stat.S_ISREG(info.st_mode):
                files.append((info.st_mtime_ns, match, "log"))
            elif "**" not in path:
                self.named(match, info)
        known = self.newest(path, files)
        if len(self.sources) == before[0] and not known:
            self.fail(
                path, f"{name}: none of its {len(matches)} matches is a log with anything in it."
            )
        else:
            self.failures[before[1] :] = [
                failure._replace(fatal=False) for failure in self.failures[before[1] :]
            ]


def _is_log(verdict: Verdict, head: bytes) -> bool:
    from verl_doctor.sources.folder import by_content

    return by_content(verdict, head)


def _is_device(stream: BinaryIO) -> bool:
    """Whether standard input is a device that may never end (/dev/zero); a terminal ends by
    Ctrl-D, and /dev/null at once."""
    try:
        info = os.fstat(stream.fileno())
        return stat.S_ISBLK(info.st_mode) or (
            stat.S_ISCHR(info.st_mode)
            and not stream.isatty()
            and info.st_rdev != os.stat(os.devnull).st_rdev
        )
    except (OSError, ValueError, AttributeError):
        return False


def _size_of(stream: BinaryIO) -> int | None:
    """Bytes left to read where standard input is a file, else None."""
    try:
        info = os.fstat(stream.fileno())
        if stat.S_ISREG(info.st_mode):
            return max(info.st_size - stream.tell(), 0)
    except (OSError, ValueError, AttributeError):
        pass
    return None

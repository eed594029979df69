"""The errors that verl-doctor raises on purpose, one class a domain.

A message says where, what, and what to type next; only the command line turns one into an exit
status. Problems inside a log are never errors: they are findings.
"""

from __future__ import annotations


class DoctorError(Exception):
    """Base of everything that the command line reports in one line without a traceback."""


class RuleError(DoctorError):
    """The rule base is broken; `problems` holds one printable line a fault."""

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class BundleError(DoctorError):
    """A file that should hold the results of checks holds none that can be read."""


class StoreError(DoctorError):
    """The incident store could not be opened, migrated or written."""

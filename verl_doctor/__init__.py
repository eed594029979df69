"""verl-doctor: names the cause and the fix in the log of a dead, hung or silently failing run."""

__version__ = "0.1.0"

"""Checks of the environment that a run is about to start in.

Facts are gathered by stand-alone scripts (sections/) in children of the interpreter that trains,
since importing torch may fail, crash or hang; pure functions, one file a concern, judge them here.
"""

from .ask import active_python
from .asking import Stopped
from .survey import LOOKS, TIMEOUT_S, environment

__all__ = ["LOOKS", "TIMEOUT_S", "Stopped", "active_python", "environment"]

"""Exit codes, for scripts."""

import os
from typing import Final

DONE: Final = 0
"""Done; with ``--wait``, the turn ended ``replied``, ``absorbed`` or ``silent``."""

REFUSED: Final = 1
"""The captain will not do it, or something is wrong; what is said names it."""

USAGE: Final = 2
"""The command line is wrong."""

NOT_REACHABLE: Final = 3
"""Nothing answers where the captain should be."""

FAILED: Final = 4
"""The turn ended ``failed``; its code is said."""

NOT_SETTLED: Final = 5
"""The turn had not settled within ``--within``; it goes on."""

CONFIG: Final = os.EX_CONFIG
"""A setting must change first (78)."""

INTERRUPTED: Final = 130
"""Ctrl-C ended the command; what was accepted goes on."""

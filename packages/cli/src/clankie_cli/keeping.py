"""What follows when a program ends that was not told to. Decides, and does nothing."""

import os
import signal
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

FIRST_WAIT: Final = timedelta(seconds=1)
LONGEST_WAIT: Final = timedelta(seconds=30)

STEADY_AFTER: Final = timedelta(minutes=1)
"""A program that ran so long has recovered: its next end counts as the first."""

FINAL: Final = {os.EX_CONFIG}
"""Exit codes after which starting again changes nothing (sysexits)."""


@dataclass(frozen=True, slots=True)
class Again:
    """Start it again after a while."""

    wait: timedelta
    failures: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Stop everything with this exit code."""

    code: int


def after_end(name: str, code: int, ran: timedelta, failures: int) -> Again | GiveUp:
    """What to do after a program ended by itself.

    Args:
        name: The stage is never started again, since its world ends with it.
        code: The exit code; negative is the signal that killed it.
        ran: For how long it ran.
        failures: How often it failed before without recovering.
    """
    if code in FINAL:
        return GiveUp(code)
    if name == "stage":
        return GiveUp(os.EX_CONFIG if code == 2 else 1)
    again = 0 if ran >= STEADY_AFTER else failures
    return Again(min(FIRST_WAIT * 2 ** min(again, 10), LONGEST_WAIT), again + 1)


def ending(code: int) -> str:
    """How a program ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"

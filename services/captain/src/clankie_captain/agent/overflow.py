"""Where a history that is too long is cut; pure. Source: CTX-8."""

from collections.abc import Sequence
from itertools import accumulate

from clankie_captain.agent.history import Kept
from clankie_captain.agent.validity import begins_turn
from clankie_settings.ids import RunId


def own_start(history: Sequence[Kept], run: RunId) -> int:
    """The index of the first message of this run; the history's length where it has none."""
    return next((index for index, each in enumerate(history) if each.run == run), len(history))


def boundary(history: Sequence[Kept], run: RunId) -> int | None:
    """The index at which a history begins anew so that about half of its text goes; None where it cannot be shorter.

    It is the first words of some turn, and never later than this run's own.
    """
    limit = own_start(history, run)
    turns = [index for index in range(1, min(limit + 1, len(history))) if begins_turn(history[index].message)]
    if not turns:
        return None
    sums = [0, *accumulate(each.weight for each in history)]
    return next((index for index in turns if sums[index] * 2 >= sums[-1]), turns[-1])

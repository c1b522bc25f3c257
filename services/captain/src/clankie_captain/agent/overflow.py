"""Where a history that is too long is cut; pure. Source: CTX-8."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from pydantic_ai.messages import ModelMessage

from clankie_captain.agent.history import Kept
from clankie_captain.agent.pictures import shown_in
from clankie_captain.agent.validity import begins_turn
from clankie_settings.ids import RunId

PICTURE_WEIGHT: Final = 6_000
"""What a picture counts for beside characters of text: providers count up to 1,600 tokens for one."""


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
    sums = [0, *accumulate(_weight(each.message) for each in history)]
    return min(turns, key=lambda index: (abs(2 * sums[index] - sums[-1]), -index))


def _weight(message: ModelMessage) -> int:
    said = ((getattr(part, "content", None), getattr(part, "args", None)) for part in message.parts)
    pictures = PICTURE_WEIGHT * len(shown_in(message))
    return pictures + sum(len(str(content or "")) + len(str(args or "")) for content, args in said)

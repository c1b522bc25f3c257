"""What may still be changed about a delivery that was accepted. Source: ING-7, OPS-1."""

from typing import Literal, assert_never

from clankie_captain.core.turns import TurnState

Change = Literal["open", "started", "settled"]
"""Nobody has heard the words yet; a run has them; it is over."""


def change(state: TurnState, *, taken: bool) -> Change:
    """Whether words may still be replaced or withdrawn: while they wait for their lane or for a boundary.

    ``taken`` words stand in a request of the lane's run that is being put together, and count as heard from then on.
    """
    match state:
        case "queued":
            return "open"
        case "steer":
            return "started" if taken else "open"
        case "live" | "heard":
            return "started"
        case "done":
            return "settled"
        case _:  # pragma: no cover
            assert_never(state)

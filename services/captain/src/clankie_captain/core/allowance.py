"""How much one person, one room and everybody together may ask of him. Source: ING-10, D."""

from dataclasses import dataclass
from datetime import timedelta

from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode


@dataclass(frozen=True, slots=True)
class Allowance:
    """The owner's limits; None where there is none.

    ``messages`` counts one actor's deliveries within ``span`` that he worked on; ``room_tokens`` and ``tokens`` count
    input and output of a UTC day, of one lane and of all. ``exempt`` actors are not limited.
    """

    messages: int | None = None
    span: timedelta = bounds.ACTOR_SPAN
    room_tokens: int | None = None
    tokens: int | None = None
    exempt: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Standing:
    """What was used up before the delivery at hand.

    ``warned`` says that the actor was told of too many messages within the span, ``told`` that the room knows of its
    spent day already.
    """

    messages: int = 0
    room_tokens: int = 0
    tokens: int = 0
    told: bool = False
    quiet: bool = False
    warned: bool = False


@dataclass(frozen=True, slots=True)
class Over:
    """The delivery is refused; ``notice`` is true where this is the first, so that the room is told once."""

    code: FailureCode
    notice: bool


def over(allowance: Allowance, standing: Standing, actor: str) -> Over | None:
    """Why a delivery is refused, or None where it may go on. Source: ING-10."""
    if standing.quiet:
        return Over(FailureCode.NOT_PERMITTED, notice=False)
    if actor in allowance.exempt:
        return None
    if allowance.messages is not None and standing.messages >= allowance.messages:
        return Over(FailureCode.BUDGET_REACHED, notice=not standing.warned)
    spent = _reached(standing.room_tokens, allowance.room_tokens) or _reached(standing.tokens, allowance.tokens)
    return Over(FailureCode.BUDGET_REACHED, notice=not standing.told) if spent else None


def _reached(used: int, limit: int | None) -> bool:
    return limit is not None and used >= limit

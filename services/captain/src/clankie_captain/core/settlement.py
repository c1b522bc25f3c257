"""How a run ends: one result for each of its turns, or it goes on. Source: LANE-3 to LANE-6."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from clankie_captain.core.reply import Missing, Reply, Said, Silence
from clankie_captain.core.run import Broken
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent

Hearing = Literal["owner", "heard", "unheard"]
"""A turn's part in its run: it started it, its words were in a request, or it was steered and never taken."""

Settled = Replied | Absorbed | Silent | Failed


@dataclass(frozen=True, slots=True)
class RunTurn:
    """One turn of a run, in the order of acceptance; ``awaited`` says that its presence waits for the result."""

    delivery: DeliveryId
    turn: TurnId
    addressed: bool
    hearing: Hearing
    awaited: bool = True


@dataclass(frozen=True, slots=True)
class RunOn:
    """Something was steered that no request carried: the run goes on, and its unposted answer is dropped."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The end of a run: a result for each turn that it heard; the others become turns of their own. Source: LANE-6."""

    results: tuple[Settled, ...]
    requeued: tuple[DeliveryId, ...]


def settlement(
    run: RunId, ending: Reply | Broken, turns: Sequence[RunTurn], after_action: int | None = None
) -> RunOn | Settlement:
    """What the end of a stretch means for the turns of its run.

    A failure is never answered by going on: what it heard is failed, what it did not hear runs on its own.
    Where he stayed silent nobody was answered, so turns that were steered in are silent as well.

    Source: LANE-4, LANE-5, LANE-6, ROOM-8.
    """
    unheard = tuple(each.delivery for each in turns if each.hearing == "unheard")
    heard = [each for each in turns if each.hearing != "unheard"]
    match ending:
        case Said() | Silence() if unheard:
            return RunOn()
        case Said():
            owner = next(each for each in heard if each.hearing == "owner")
            return Settlement(tuple(_answered(run, each, owner, ending, after_action) for each in heard), ())
        case Silence():
            return Settlement(tuple(_silent(run, each) for each in heard), ())
        case Missing():
            return Settlement(_failed(run, heard, FailureCode.CAPTAIN_RESPONSE_MISSING), unheard)
        case Broken(code=code):
            return Settlement(_failed(run, heard, code), unheard)
        case _:  # pragma: no cover
            assert_never(ending)


def _answered(run: RunId, turn: RunTurn, owner: RunTurn, said: Said, after_action: int | None) -> Settled:
    if turn is owner:
        return Replied(
            delivery_id=turn.delivery,
            turn_id=turn.turn,
            run_id=run,
            owed=turn.awaited,
            text=said.text,
            artifacts=said.artifacts,
            after_action=after_action,
        )
    return Absorbed(delivery_id=turn.delivery, turn_id=turn.turn, run_id=run, owed=False, answered_by=owner.delivery)


def _silent(run: RunId, turn: RunTurn) -> Settled:
    return Silent(delivery_id=turn.delivery, turn_id=turn.turn, run_id=run, owed=False)


def _failed(run: RunId, heard: Sequence[RunTurn], code: FailureCode) -> tuple[Settled, ...]:
    # One short word is enough for a room in which several people were waiting.
    noticed = next((each for each in heard if each.addressed and each.awaited), None)
    return tuple(failure(each.delivery, each.turn, code, run=run, notice=each is noticed) for each in heard)


def failure(
    delivery: DeliveryId, turn: TurnId, code: FailureCode, *, run: RunId | None = None, notice: bool = False
) -> Failed:
    """A failed turn; the room is owed a notice where ``notice`` is true."""
    return Failed(delivery_id=delivery, turn_id=turn, run_id=run, owed=notice, code=code, notice=notice)


def may_run(attempt: int) -> bool:
    """Whether a run may begin its attempt of this number, counted from 1. Source: DUR-2."""
    return attempt <= bounds.RUN_ATTEMPTS

"""The core as a state machine: any interleaving gives each delivery one result, and a lane one live run."""

from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from clankie_captain.core.admission import Floor, LaneState, Queue, Refuse, Start, Steer, SteerBy, Stop, admission
from clankie_captain.core.reply import Missing, Reply, Said, Silence
from clankie_captain.core.run import Broken
from clankie_captain.core.settlement import Hearing, RunOn, RunTurn, Settled, settlement
from clankie_captain.core.steering import Steered, takeable
from clankie_settings.ids import DeliveryId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Replied, Silent
from clankie_settings.wire.trigger import Delivery
from tests.captain.core.speech import NOON

ENDINGS: tuple[Reply | Broken, ...] = (
    Said("words"),
    Silence(),
    Missing(),
    Broken(FailureCode.CAPTAIN_TURN_STALLED),
    Broken(FailureCode.CAPTAIN_CANCELLED),
)


class Lane(RuleBasedStateMachine):
    """One lane as rows in memory; every decision is the core's."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0
        self.live: RunId | None = None
        self.compacting = False
        self.now = NOON
        self.queue: list[DeliveryId] = []
        self.in_run: dict[DeliveryId, Hearing] = {}
        self.ready: dict[DeliveryId, bool] = {}
        self.accepted: list[DeliveryId] = []
        self.results: dict[DeliveryId, Settled | Refuse | Stop] = {}
        self.heard_in: dict[RunId, list[DeliveryId]] = {}

    def _start(self, owner: DeliveryId) -> None:
        assert self.live is None, "two live runs"
        self.runs += 1
        self.live = RunId(f"run_{self.runs}")
        self.in_run = {owner: "owner"}
        self.heard_in[self.live] = [owner]

    @rule(
        delivery=st.sampled_from(("auto", "steer", "queue")),
        policy=st.sampled_from(("anyone", "sender", "asked")),
        floor=st.none() | st.builds(Floor, st.integers(0, 9), st.booleans()),
        autonomous=st.booleans(),
        stops=st.booleans(),
        ready=st.booleans(),
    )
    def arrive(
        self, delivery: Delivery, policy: SteerBy, floor: Floor | None, autonomous: bool, stops: bool, ready: bool
    ) -> None:
        name = DeliveryId(f"d{len(self.accepted):04d}")
        self.accepted.append(name)
        self.ready[name] = ready
        waiting = len(self.queue) + sum(each == "unheard" for each in self.in_run.values())
        state = LaneState(self.live, waiting, autonomous, stops, self.compacting, floor)
        decided = admission(state, delivery, policy)
        match decided:
            case Start():
                self._start(name)
            case Steer(run):
                assert run == self.live
                assert not self.compacting, "words into a run that hears none"
                self.in_run[name] = "unheard"
            case Queue():
                self.queue.append(name)
            case Refuse():
                self.results[name] = decided
            case Stop(run):
                assert run == self.live
                assert not self.compacting, "a message ended the compaction"
                self.results[name] = decided
                self._end(Broken(FailureCode.CAPTAIN_CANCELLED))

    @precondition(lambda self: self.live is None)
    @rule()
    def compact(self) -> None:
        """As soon as a run has ended and nothing waits: the lane is claimed like for a run."""
        self.live, self.compacting = RunId("run_compaction"), True

    @precondition(lambda self: self.compacting)
    @rule()
    def end_compaction(self) -> None:
        self._follow()

    def _follow(self) -> None:
        self.live, self.compacting, self.in_run = None, False, {}
        if self.queue:
            self._start(self.queue.pop(0))

    @precondition(lambda self: self.live is not None and not self.compacting)
    @rule(waited=st.integers(-20, 20))
    def reach_a_boundary(self, waited: int) -> None:
        assert self.live is not None
        waiting = [
            Steered(each, self.ready[each], self.now - timedelta(seconds=waited))
            for each, hearing in self.in_run.items()
            if hearing == "unheard"
        ]
        taken = takeable(waiting, self.now)
        assert list(taken) == [each.delivery for each in waiting][: len(taken)], "out of order"
        for each in taken:
            self.in_run[each] = "heard"
            self.heard_in[self.live].append(each)

    @precondition(lambda self: self.live is not None and not self.compacting)
    @rule(ending=st.sampled_from(ENDINGS))
    def end(self, ending: Reply | Broken) -> None:
        self._end(ending)

    def _end(self, ending: Reply | Broken) -> None:
        assert self.live is not None
        turns = [RunTurn(each, TurnId(f"t{each}"), True, hearing) for each, hearing in self.in_run.items()]
        decided = settlement(self.live, ending, turns)
        if isinstance(decided, RunOn):
            assert isinstance(ending, Said | Silence)
            assert "unheard" in self.in_run.values()
            return
        for result in decided.results:
            delivery = DeliveryId(result.delivery_id)
            assert delivery not in self.results, "a second result"
            assert delivery in self.heard_in[self.live], "a result for words that nobody heard"
            self.results[delivery] = result
        self._check_absorbed(decided.results)
        self.queue = [*decided.requeued, *self.queue]
        self.queue.sort()
        self._follow()

    def _check_absorbed(self, results: tuple[Settled, ...]) -> None:
        replied = [each.delivery_id for each in results if isinstance(each, Replied)]
        assert len(replied) <= 1
        for each in results:
            if isinstance(each, Absorbed):
                assert [each.answered_by] == replied
            if isinstance(each, Silent):
                assert not replied

    @invariant()
    def every_delivery_is_in_exactly_one_place(self) -> None:
        places = [*self.results, *self.queue, *self.in_run]
        assert sorted(places) == sorted(self.accepted), "lost, or in two places"
        assert (self.live is None or self.compacting) == (not self.in_run)
        assert self.live is not None or not self.queue, "somebody waits for a lane that is idle"

    def teardown(self) -> None:
        while self.live is not None:
            if self.compacting:
                self._follow()
                continue
            for each in self.in_run:
                self.ready[each] = True
            self.reach_a_boundary(0)
            self._end(Said("words"))
        assert sorted(self.results) == sorted(self.accepted)


@pytest.mark.requirement("LANE-2", "LANE-4", "LANE-5", "LANE-6", "LANE-16", "CTX-7")
class TestLane(Lane.TestCase):
    """Runs the machine."""

    settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

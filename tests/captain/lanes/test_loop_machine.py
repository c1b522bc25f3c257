"""Any interleaving of speakers, changing grants, boundaries, ends and deaths in rooms that think in loops.

The real desk, registry, runner and store run on a real database; only the loop does what the machine says.
"""

import asyncio
import re
import tempfile
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)
from sqlalchemy import Connection, text

from clankie_captain.core.grants import Grant, Powers, grant
from clankie_captain.core.lane import LaneKey, Trust
from clankie_captain.core.placement import Loops
from clankie_captain.lanes import grants as authority
from clankie_captain.store import arrivals, runs
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from tests.captain.lanes.fakes import Ask, Boundary, Command, CountedIds, Fail, Say, Thought
from tests.captain.lanes.house import DISCORD, House, house, trigger

T = TypeVar("T")
SPEAKERS = ("100001", "100002", "100003")
TOOLS = ("read_page", "read_file")
ENDS = (Say("words"), Say("[[stay-silent]]"), Fail(FailureCode.CAPTAIN_MODEL_FAILED))
REFUSED = (FailureCode.ROOM_LOOP_GRANT_CHANGED, FailureCode.NOT_PERMITTED)
POWERS = st.builds(
    Powers,
    st.builds(Trust, st.frozensets(st.sampled_from(SPEAKERS[1:]))),
    st.sampled_from([frozenset[str](), frozenset({"read_page"})]),
    actors=st.dictionaries(st.sampled_from(SPEAKERS), st.just(frozenset({"read_page"}))),
)


class LoopRoom(RuleBasedStateMachine):
    """One room, three speakers of whom the owner may come to trust two, and settings that change at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self._ids = CountedIds()
        self._powers = Powers()
        self._said: dict[str, str] = {}
        self._lanes: dict[str, str] = {}
        self._results: dict[str, Replied | Absorbed | Silent | Failed] = {}
        self._heard: dict[str, list[str]] = {}
        self._parked: dict[str, Thought] = {}
        self._open: AbstractAsyncContextManager[House]
        self._captain: House
        self._do(self._start())

    def _do(self, work: Awaitable[T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(30):
                return await work

        return self._runner.run(bounded())

    async def _start(self) -> None:
        path = Path(self._folder.name) / "captain.db"
        loops = Loops(everywhere=True)
        self._open = house(path, ids=self._ids, powers=lambda: self._powers, loops=loops, tools=TOOLS)
        self._captain = await self._open.__aenter__()
        await self._settle_down()

    async def _settle_down(self) -> None:
        """Wait until each live run waits for the machine's word."""
        while True:
            live = await self._live()
            while not self._captain.loop.thoughts.empty():
                thought = self._captain.loop.thoughts.get_nowait()
                self._parked[thought.order.lane] = thought
                self._note(thought)
            self._parked = {lane: thought for lane, thought in self._parked.items() if not thought.ended}
            if live == {lane: thought.order.run for lane, thought in self._parked.items()}:
                break
        assert sum(lane.startswith("turns/") for lane in live) <= 1, "two machine turns of a room at once"

    async def _live(self) -> dict[str, str]:
        def work(connection: Connection) -> dict[str, str]:
            found = connection.execute(text("SELECT id, live_run FROM lane WHERE live_run IS NOT NULL"))
            return {row.id: row.live_run for row in found}

        return await self._captain.database.transact(work)

    def _note(self, thought: Thought) -> None:
        run, lane = thought.order.run, thought.order.lane
        fresh = [
            each
            for words in thought.requests[-1]
            for each in re.findall(r"^<<<heard-\S+ from=.* id=(\S+)$", words, re.MULTILINE)
        ]
        if fresh and run not in self._heard and lane.startswith("rooms/"):
            owner = int(fresh[0][1:])
            passed = [each for each in self._waiting(lane) if int(each[1:]) < owner and each not in fresh]
            assert not passed, "somebody was passed over"
        heard = self._heard.setdefault(run, [])
        heard.extend(fresh)
        assert len({self._said[each] for each in heard}) <= 1, "a word of another speaker in the run"
        assert all(self._lanes.get(each, lane) == lane for each in fresh), "heard in another lane"

    def _waiting(self, lane: str) -> list[str]:
        heard = {each for found in self._heard.values() for each in found}
        return [
            each
            for each, where in self._lanes.items()
            if where == lane and each not in heard and each not in self._results
        ]

    async def _check(self) -> None:
        for message in self._said:
            turn = await self._captain.deliveries.find(DISCORD, DeliveryId(message))
            if message in self._results or turn.result is None:
                continue
            result = self._results[message] = turn.result
            heard = self._heard.get(result.run_id or "", [])
            if isinstance(result, Failed) and result.code in REFUSED:
                assert message not in heard, "refused after it was heard"
            else:
                assert message in heard, "answered, and never heard"

    @rule(actor=st.sampled_from(SPEAKERS))
    def arrive(self, actor: str) -> None:
        message = f"m{len(self._said)}"
        self._said[message] = actor

        async def work() -> None:
            turn = await self._captain.say(message, "words", actor=actor)
            self._lanes[message] = turn.lane
            await self._settle_down()
            await self._check()

        self._do(work())

    @rule(powers=POWERS)
    def change(self, powers: Powers) -> None:
        self._powers = powers

    @precondition(lambda self: bool(self._parked))
    @rule(pick=st.integers(0, 9))
    def reach_a_boundary(self, pick: int) -> None:
        thought = self._pick(pick)
        self._do(thought.do(Boundary()))
        self._note(thought)

    @precondition(lambda self: bool(self._parked))
    @rule(pick=st.integers(0, 9), tool=st.sampled_from(TOOLS))
    def call_a_tool(self, pick: int, tool: str) -> None:
        thought = self._pick(pick)
        done = self._do(thought.do(Ask(tool))) is None
        speakers = {self._said[each] for each in self._heard[thought.order.run]}
        grants: list[Grant] = [grant(trigger("x", "words", actor=each), self._powers) for each in speakers]
        system = thought.order.lane.startswith("turns/")
        may = all(each.allows(tool) for each in grants) and (system or tool != "read_file")
        assert done == may, "a call beyond what all of them may"

    @precondition(lambda self: bool(self._parked))
    @rule(pick=st.integers(0, 9), end=st.sampled_from(ENDS))
    def end(self, pick: int, end: Command) -> None:
        thought = self._pick(pick)

        async def work() -> None:
            await thought.do(end)
            await self._settle_down()
            await self._check()

        self._do(work())

    @rule()
    def die(self) -> None:
        async def work() -> None:
            await self._open.__aexit__(None, None, None)
            self._parked.clear()
            await self._start()
            await self._check()

        self._do(work())

    def _pick(self, pick: int) -> Thought:
        return self._parked[sorted(self._parked)[pick % len(self._parked)]]

    def teardown(self) -> None:
        async def work() -> None:
            while self._parked:
                for thought in [*self._parked.values()]:
                    await thought.do(Say("words"))
                await self._settle_down()
            await self._check()
            assert set(self._results) == set(self._said), "a delivery was lost"
            await self._open.__aexit__(None, None, None)

        try:
            self._do(work())
        finally:
            self._runner.close()
            self._folder.cleanup()


def _run(examples: int, *phases: Phase) -> None:
    # A database and an event loop each: slow to make, and the same for every example.
    run_state_machine_as_test(
        LoopRoom,
        settings=settings(
            max_examples=examples,
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            phases=phases,
        ),
    )


@pytest.mark.timeout(600)
@pytest.mark.requirement("LOOP-2", "LOOP-3", "LOOP-4", "LOOP-5", "GRANT-1", "GRANT-2", "GRANT-3", "GRANT-5")
def test_whoever_speaks_and_whatever_is_withdrawn_nobody_is_lost_and_nobody_borrows_powers() -> None:
    _run(20, Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


def _anyone(lane: LaneKey) -> str:
    del lane
    return "anyone"


def _nobody(tool: str, grants: object) -> None:
    del tool, grants


@pytest.mark.timeout(600)
def test_the_machine_notices_a_room_in_which_everybody_steers(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arrivals, runs):
        monkeypatch.setattr(module, "steer_by", _anyone)
    with pytest.raises(AssertionError, match="another speaker"):
        _run(100, Phase.generate)


@pytest.mark.timeout(600)
def test_the_machine_notices_calls_that_nobody_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authority, "refused_by", _nobody)
    with pytest.raises(AssertionError, match="beyond what all"):
        _run(100, Phase.generate)

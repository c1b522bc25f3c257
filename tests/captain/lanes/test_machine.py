"""Any interleaving of arrivals, changes, boundaries, ends, stops, deaths: each delivery one result, each lane one run.

The real desk, registry, runner and store run on a real database; only the loop does what the machine says.
"""

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
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

from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken
from clankie_captain.core.settlement import RunOn, RunTurn, Settlement, settlement
from clankie_captain.errors import StartedError
from clankie_captain.store import runs as run_rows
from clankie_settings.ids import DeliveryId, RunId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.operator import OperatorDelivery
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from tests.captain.lanes.fakes import Boundary, Command, CountedIds, Explode, Fail, Say, Thought
from tests.captain.lanes.house import DISCORD, House, house

T = TypeVar("T")
ROOMS = ("10", "11")
ENDS = (
    Say("words"),
    Say("[[stay-silent]]"),
    Say(None),
    Fail(FailureCode.CAPTAIN_MODEL_FAILED),
    Explode(),
)


class Rooms(RuleBasedStateMachine):
    """Two rooms, two speakers, and a captain that may die at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self._ids = CountedIds()
        self._said: dict[str, tuple[str, str]] = {}
        self._words: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._results: dict[str, Replied | Absorbed | Silent | Failed] = {}
        self._requests: dict[str, list[str]] = {}
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
        self._open = house(Path(self._folder.name) / "captain.db", ids=self._ids)
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
                return

    async def _live(self) -> dict[str, str]:
        def work(connection: Connection) -> dict[str, str]:
            found = connection.execute(text("SELECT id, live_run FROM lane WHERE live_run IS NOT NULL"))
            return {row.id: row.live_run for row in found}

        return await self._captain.database.transact(work)

    def _note(self, thought: Thought) -> None:
        for each in thought.requests[-1]:
            named: list[str] = re.findall(r"^<<<heard-\S+ from=.* id=(\S+)$", each, re.MULTILINE)
            (message,) = (self._asked.get(name, name) for name in named)
            assert self._words.get(message, "words") in each, "heard otherwise than it stands"
            self._requests.setdefault(thought.order.run, []).append(message)

    async def _check_results(self) -> None:
        asked = {message: receipt for receipt, message in self._asked.items()}
        for message in self._said:
            presence = OPERATOR if message in asked else DISCORD
            turn = await self._captain.deliveries.find(presence, DeliveryId(asked.get(message, message)))
            if message in self._results:
                assert turn.result == self._results[message], "a settled delivery changed its result"
            elif turn.result is not None:
                self._results[message] = turn.result
                self._check(message, turn.result)

    def _check(self, message: str, result: Replied | Absorbed | Silent | Failed) -> None:
        heard = self._requests.get(result.run_id or "", [])
        stop = self._words.get(message) == "stop" and isinstance(result, Silent)
        assert message in heard or isinstance(result, Failed) or stop, "answered, and never heard"
        if isinstance(result, Failed) and result.code in (FailureCode.WITHDRAWN, FailureCode.CAPTAIN_CANCELLED):
            assert message in heard or result.run_id is None, "withdrawn from a run that never heard it"
        assert heard == sorted(heard, key=lambda each: int(each[1:])), "heard out of order"
        assert len(set(heard)) == len(heard), "heard twice in one run"
        if isinstance(result, Absorbed):
            owner = self._results.get(self._asked.get(result.answered_by, result.answered_by))
            assert owner is None or (isinstance(owner, Replied) and owner.run_id == result.run_id)

    @rule(room=st.sampled_from(ROOMS), actor=st.sampled_from(("100001", "100002")))
    def arrive(self, room: str, actor: str) -> None:
        message = f"m{len(self._said)}"
        self._said[message] = (room, actor)
        self._do(self._say(message))

    @rule(delivery=st.sampled_from((None, "steer", "queue")))
    def ask(self, delivery: OperatorDelivery | None) -> None:
        message = f"m{len(self._said)}"

        async def work() -> None:
            receipt = await self._captain.ask(message, "words", delivery)
            self._said[message], self._asked[receipt] = ("desk", "operator"), message
            await self._settle_down()

        self._do(work())

    @rule(room=st.sampled_from(ROOMS), actor=st.sampled_from(("100001", "100002")))
    def stop(self, room: str, actor: str) -> None:
        message = f"m{len(self._said)}"
        self._said[message], self._words[message] = (room, actor), "stop"

        async def work() -> None:
            await self._say(message)
            await self._check_results()

        self._do(work())

    @precondition(lambda self: bool(self._said))
    @rule(pick=st.integers(0, 99))
    def come_again(self, pick: int) -> None:
        self._do(self._say(f"m{pick % len(self._said)}"))

    @precondition(lambda self: bool(self._said))
    @rule(pick=st.integers(0, 99), change=st.sampled_from(("edit", "withdraw", "cancel")))
    def change(self, pick: int, change: str) -> None:
        message = f"m{pick % len(self._said)}"

        async def work() -> None:
            with suppress(StartedError):
                await self._change(message, change)
            await self._settle_down()
            await self._check_results()

        self._do(work())

    async def _change(self, message: str, change: str) -> None:
        receipts = [receipt for receipt, asked in self._asked.items() if asked == message]
        if receipts:
            await self._captain.desk.cancel(OPERATOR, DeliveryId(receipts[0]))
        elif change == "edit":
            words = f"other words {len(self._words)}"
            await self._captain.desk.edit(DISCORD, DeliveryId(message), words)
            self._words[message] = words
        elif change == "withdraw":
            await self._captain.desk.withdraw(DISCORD, DeliveryId(message))
        else:
            await self._captain.desk.cancel(DISCORD, DeliveryId(message))

    async def _say(self, message: str) -> None:
        room, actor = self._said[message]
        if room != "desk":
            await self._captain.say(message, self._words.get(message, "words"), channel=room, actor=actor)
        await self._settle_down()

    @precondition(lambda self: bool(self._parked))
    @rule(pick=st.integers(0, 9))
    def reach_a_boundary(self, pick: int) -> None:
        thought = self._pick(pick)
        self._do(thought.do(Boundary()))
        self._note(thought)

    @precondition(lambda self: bool(self._parked))
    @rule(pick=st.integers(0, 9), end=st.sampled_from(ENDS), late=st.booleans())
    def end(self, pick: int, end: Command, late: bool) -> None:
        thought = self._pick(pick)

        async def work() -> None:
            ending = thought.begin(end)
            if late and not thought.order.lane.startswith("conversations/"):
                # Lands somewhere between the end of the answer and its settlement.
                message = f"m{len(self._said)}"
                self._said[message] = (thought.order.lane.rpartition(":")[2], "100002")
                await self._say(message)
            await ending
            await self._settle_down()
            await self._check_results()

        self._do(work())

    @rule()
    def die(self) -> None:
        async def work() -> None:
            await self._open.__aexit__(None, None, None)
            self._parked.clear()
            # What a dead run heard, its next attempt has in its history.
            await self._start()
            await self._check_results()

        self._do(work())

    def _pick(self, pick: int) -> Thought:
        return self._parked[sorted(self._parked)[pick % len(self._parked)]]

    def teardown(self) -> None:
        async def work() -> None:
            while self._parked:
                for thought in [*self._parked.values()]:
                    await thought.do(Say("words"))
                await self._settle_down()
            await self._check_results()
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
        Rooms,
        settings=settings(
            max_examples=examples,
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            phases=phases,
        ),
    )


@pytest.mark.timeout(600)
@pytest.mark.requirement("LANE-2", "LANE-4", "LANE-5", "LANE-6", "LANE-7", "LANE-16", "OPS-1", "OPS-5", "ING-7")
def test_any_interleaving_gives_each_delivery_one_result_and_a_lane_never_two_live_runs() -> None:
    _run(20, Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


def _deaf(
    run: RunId, ending: Reply | Broken, turns: Sequence[RunTurn], after_action: int | None = None
) -> RunOn | Settlement:
    """The settlement without its look at what was steered: such words are settled as if they had been heard."""
    heard = [replace(each, hearing="heard") if each.hearing == "unheard" else each for each in turns]
    return settlement(run, ending, heard, after_action)


@pytest.mark.timeout(600)
@pytest.mark.requirement("LANE-6")
def test_the_machine_notices_a_settlement_that_does_not_look_at_its_inbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_rows, "settlement", _deaf)
    with pytest.raises(AssertionError, match="answered, and never heard"):
        # Any failure will do; the smallest one would take minutes to find.
        _run(100, Phase.generate)

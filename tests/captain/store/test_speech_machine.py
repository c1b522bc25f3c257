"""Leases that come and go with messages, receipts and settlements in any order: each reply goes one way, once."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Awaitable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)
from sqlalchemy import Connection

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.reply import Missing, Reply, Said, Silence
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.core.voice import RoomAsking
from clankie_captain.errors import SupersededActionError
from clankie_captain.store import speech
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import ActionId, PresenceId
from clankie_settings.wire.receipt import ActionReceipt
from tests.captain.core.speech import ANN, BOB, NOON, trigger
from tests.captain.store.shelf import ROOM, Shelf
from tests.captain.store.test_speech import HERE, TTL, VOICE, utterance

T = TypeVar("T")
EARS = (PresenceId("ear"), PresenceId("other-ear"))
ENDS = ("said", "said", "silence", "missing")


class Talk(RuleBasedStateMachine):
    """One room, two speakers, two voices, and a captain that may start again at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self._now = NOON
        self._live: dict[str, LiveRun] = {}
        self._asked: list[tuple[str, PresenceId]] = []
        self._said: list[str] = []
        self._acknowledged: set[str] = set()
        self._superseded: set[str] = set()
        self._shelf = self._do(Shelf.open(Path(self._folder.name) / "captain.db"))

    def _do(self, work: Awaitable[T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(30):
                return await work

        return self._runner.run(bounded())

    @property
    def _rooms(self) -> RoomLeaseStore:
        return RoomLeaseStore(self._shelf.database)

    def _accept(self, said: Any, lane: LaneKey) -> None:
        accepted = self._do(self._shelf.accept(said, lane, at=self._now))
        self._asked.append((said.delivery_id, PresenceId(said.presence_id)))
        if accepted.started is not None:
            assert accepted.started.lane.id not in self._live, "a second live run"
            self._live[accepted.started.lane.id] = accepted.started

    @rule(actor=st.sampled_from((ANN, BOB)))
    def write(self, actor: Any) -> None:
        self._accept(trigger(f"m{len(self._asked)}", actor=actor), ROOM)

    @rule(voice=st.sampled_from(EARS))
    def utter(self, voice: PresenceId) -> None:
        self._accept(utterance(f"m{len(self._asked)}", voice), VOICE)

    @rule(voice=st.sampled_from(EARS), ttl=st.sampled_from((TTL, TTL, timedelta())))
    def ask(self, voice: PresenceId, ttl: timedelta) -> None:
        self._do(self._rooms.ask(HERE, RoomAsking(voice, ttl), self._now))

    @rule(change=st.sampled_from((5, 10, 20, -3, -3600)), look=st.booleans())
    def turn_the_clock(self, change: int, look: bool) -> None:
        self._now += timedelta(seconds=change)
        if look:
            self._do(self._rooms.lapse(self._now))

    @precondition(lambda self: bool(self._live))
    @rule(pick=st.integers(0, 9))
    def reach_a_boundary(self, pick: int) -> None:
        self._do(self._shelf.hears_all(self._pick(pick)))

    @precondition(lambda self: bool(self._live))
    @rule(pick=st.integers(0, 9), how=st.sampled_from(ENDS), hears=st.booleans())
    def end(self, pick: int, how: str, hears: bool) -> None:
        run = self._pick(pick)
        if hears:
            self._do(self._shelf.hears_all(run))
        ending: Reply = {"silence": Silence(), "missing": Missing()}.get(how, Said(f"answer {run.run}"))
        ended = self._do(self._shelf.settle(run, ending, self._now))
        if isinstance(ended, Ended):
            del self._live[run.lane.id]
            if isinstance(ending, Said):
                self._said.append(ending.text)
            if ended.follows is not None:
                self._live[ended.follows.lane.id] = ended.follows

    @rule(pick=st.integers(0, 99), ok=st.booleans())
    def acknowledge(self, pick: int, ok: bool) -> None:
        speaks = self._actions("speak")
        if speaks:
            row = speaks[pick % len(speaks)]
            self._do(self._receive(row, ok))

    async def _receive(self, row: AnyRow, ok: bool) -> None:
        receipt = ActionReceipt(ok=ok, code=None if ok else "no_sound")
        try:
            await self._shelf.actions.acknowledge(PresenceId(row.presence), ActionId(row.id), receipt)
        except SupersededActionError:
            self._superseded.add(row.id)
        else:
            if ok:
                self._acknowledged.add(row.id)

    @rule()
    def start_again(self) -> None:
        numbers = self._shelf.numbers
        self._shelf = self._do(self._shelf.reopened())
        self._shelf.numbers = numbers
        taken = self._do(self._shelf.runs.take_over(self._now))
        self._live = {run.lane.id: run for run in taken}

    def _pick(self, pick: int) -> LiveRun:
        return self._live[sorted(self._live)[pick % len(self._live)]]

    def _actions(self, name: str) -> list[AnyRow]:
        found = self._do(self._shelf.rows("SELECT * FROM action WHERE name = :name ORDER BY seq", name=name))
        return list(found)

    def _finish(self) -> None:
        while self._live:
            run = self._pick(0)
            self._do(self._shelf.hears_all(run))
            self.end(0, "said", hears=True)
        self._now += timedelta(hours=2)
        self._do(self._rooms.lapse(self._now))

    def _check(self) -> None:
        results = {each: self._do(self._shelf.deliveries.find(each[1], _id(each[0]))).result for each in self._asked}
        assert None not in results.values(), "a delivery was lost"
        speaks, posts = self._actions("speak"), self._actions("post")
        done = [row for row in speaks if row.state == "done"]
        assert all(row.state != "pending" for row in speaks), "words wait for a voice that has gone"
        ways = Counter([json.loads(row.payload)["text"] for row in [*done, *posts]])
        ways.update(result.text for result in results.values() if result is not None and result.state == "replied")
        assert ways == Counter(self._said), "a reply went no way, or two"
        assert {row.id for row in done} == self._acknowledged, "a receipt that was taken did not count"
        assert not self._superseded & self._acknowledged, "spoken, and posted as well"

    def teardown(self) -> None:
        try:
            self._finish()
            self._check()
        finally:
            self._do(self._shelf.database.close())
            self._runner.close()
            self._folder.cleanup()


def _id(delivery: str) -> Any:
    return delivery


def _run(examples: int, *phases: Phase) -> None:
    run_state_machine_as_test(
        Talk,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            phases=phases,
        ),
    )


@pytest.mark.timeout(600)
@pytest.mark.requirement("VOX-2", "VOX-1", "LANE-2")
def test_whatever_comes_between_each_reply_is_spoken_or_written_once() -> None:
    _run(30, Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


def _forgetful(connection: Connection, voice: PresenceId, room: str) -> frozenset[PresenceId]:
    """The end of a lease without a look at what was not spoken."""
    return frozenset()


@pytest.mark.timeout(600)
@pytest.mark.requirement("VOX-2")
def test_the_machine_notices_a_lease_that_ends_with_words_unspoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "give_all_back", _forgetful)
    with pytest.raises(AssertionError, match="words wait for a voice that has gone"):
        _run(100, Phase.generate)

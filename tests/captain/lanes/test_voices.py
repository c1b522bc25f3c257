"""A captain that looks out for voices that have gone, by a clock that may be set."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.turns import Numbered
from clankie_captain.lanes.signals import Nudge
from clankie_captain.lanes.voices import Voices
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_settings.ids import ActionId, PresenceId
from clankie_settings.wire.action import Speak
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.result import Absorbed, Replied
from tests.captain.lanes.fakes import Say
from tests.captain.lanes.house import DISCORD, SOON, House, house

EAR = PresenceId("ear")
HERE = "1:2"
TTL = timedelta(seconds=15)

pytestmark = pytest.mark.requirement("VOX-2")


@asynccontextmanager
async def watched(captain: House) -> AsyncGenerator[Voices]:
    voices = Voices(RoomLeaseStore(captain.database), captain.signals, captain.clock)
    watch = asyncio.create_task(voices.run())
    try:
        yield voices
    finally:
        watch.cancel()
        await asyncio.wait([watch])


async def answered(captain: House, delivery: str = "m1") -> Absorbed | Replied:
    await captain.say(delivery, "what time is it?")
    await (await captain.thought()).do(Say("Nine."))
    result = await captain.result(delivery)
    assert isinstance(result, Absorbed | Replied)
    return result


async def posted(captain: House) -> Sequence[Numbered]:
    """What the bridge is given to post, once it is told."""
    with captain.signals.inbox(DISCORD) as inbox:
        async with asyncio.timeout(SOON.total_seconds()):
            while not (found := await captain.actions.pending(DISCORD, 0)):
                assert isinstance(await inbox.get(), Nudge)
    return found


async def test_a_voice_is_told_at_once_what_it_is_to_speak_and_the_run_counts_as_replied(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain, watched(captain) as voices:
        await voices.ask(EAR, HERE, TTL)
        with captain.signals.inbox(EAR) as inbox:
            assert isinstance(await answered(captain), Absorbed)
            async with asyncio.timeout(SOON.total_seconds()):
                assert isinstance(await inbox.get(), Nudge)
        (action,) = await captain.actions.pending(EAR, 0)
        assert action.name == "speak"
        (settled,) = captain.turn_log.records
        assert (settled.outcome, settled.absorbed) == ("replied", 0)


@pytest.mark.parametrize("backwards", [False, True])
async def test_words_go_back_to_text_when_the_lease_runs_out_or_the_clock_is_set_back(
    tmp_path: Path, backwards: bool
) -> None:
    async with house(tmp_path / "captain.db") as captain, watched(captain) as voices:
        await voices.ask(EAR, HERE, TTL)
        await answered(captain)
        if backwards:
            captain.clock.turn_to(-timedelta(hours=1))
        captain.clock.advance(timedelta(seconds=1) if backwards else TTL)
        (post,) = await posted(captain)
        assert post.name == "post"
        assert isinstance(await answered(captain, "m2"), Replied)


async def test_a_renewed_lease_is_left_alone_and_words_that_were_spoken_too(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain, watched(captain) as voices:
        await voices.ask(EAR, HERE, TTL)
        await answered(captain)
        (action,) = await captain.actions.pending(EAR, 0)
        speak = Speak.model_validate_json(action.payload)
        assert await captain.actions.acknowledge(EAR, ActionId(speak.action_id), ActionReceipt(ok=True)) == frozenset()
        for _ in range(4):
            captain.clock.advance(timedelta(seconds=5))
            held = await voices.ask(EAR, HERE, TTL)
            assert held is not None
            assert held.renewed
        assert isinstance(await answered(captain, "m2"), Absorbed)
        assert await captain.actions.pending(DISCORD, 0) == ()


async def test_another_voice_is_told_that_the_room_is_held(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain, watched(captain) as voices:
        assert await voices.ask(EAR, HERE, TTL) is not None
        assert await voices.ask(PresenceId("other"), HERE, TTL) is None


async def test_a_captain_that_was_down_beyond_the_lease_gives_the_words_back_when_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    async with house(path) as captain:
        voices = Voices(RoomLeaseStore(captain.database), captain.signals, captain.clock)
        await voices.ask(EAR, HERE, TTL)
        await answered(captain)
        clock = captain.clock
    clock.advance(TTL)
    async with house(path, clock=clock) as captain, watched(captain):
        (post,) = await posted(captain)
        assert post.name == "post"

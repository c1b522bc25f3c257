"""A store in which voices hold rooms, and the steps that tests of it take."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clankie_captain.core.lane import voice_lane
from clankie_captain.core.reply import Said
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.core.voice import RoomAsking
from clankie_captain.ports.voice import RoomHeld, RoomRefused
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import Post, Speak
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.trigger import Trigger
from tests.captain.core.speech import GUILD_ROOM, NOON, trigger
from tests.captain.store.shelf import DISCORD, Shelf

EAR, OTHER = PresenceId("ear"), PresenceId("other-ear")
HERE = "200:300"
TTL = timedelta(seconds=15)
LATE = NOON + TTL
VOICE = voice_lane(GUILD_ROOM)
SPOKEN = ActionReceipt(ok=True)


@dataclass
class Stand:
    """A store, and the rooms that are held in it."""

    shelf: Shelf
    rooms: RoomLeaseStore

    async def hold(self, voice: PresenceId = EAR, at: datetime = NOON, ttl: timedelta = TTL) -> RoomHeld | RoomRefused:
        return await self.rooms.ask(HERE, RoomAsking(voice, ttl), at)

    async def answered(self, run: LiveRun, text: str = "Nine.", at: datetime = NOON) -> Ended:
        await self.shelf.hears_all(run)
        ended = await self.shelf.settle(run, Said(text), at)
        assert isinstance(ended, Ended)
        return ended

    async def speaks(self, voice: PresenceId = EAR) -> list[Speak]:
        found = await self.shelf.actions.pending(voice, 0)
        return [Speak.model_validate_json(each.payload) for each in found if each.name == "speak"]

    async def posts(self) -> list[Post]:
        found = await self.shelf.actions.pending(DISCORD, 0)
        return [Post.model_validate_json(each.payload) for each in found if each.name == "post"]

    async def asked_aloud(self, delivery: str = "400") -> Speak:
        """Typed words that were answered while the voice held the room."""
        await self.answered(await self.shelf.started(delivery))
        return (await self.speaks())[-1]


def utterance(delivery: str, voice: PresenceId = EAR, **changed: Any) -> Trigger:
    return trigger(delivery, presence_id=voice, kind="voice", **changed)

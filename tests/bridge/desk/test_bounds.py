"""What happens where something is full."""

import asyncio
from collections.abc import Mapping
from typing import Any

from clankie_bridge.core.addressing import Names
from clankie_bridge.core.admission import Policy
from clankie_bridge.core.message import Message
from clankie_bridge.desk.deliveries import UNDER_WAY, Deliveries
from clankie_bridge.desk.ingress import Ingress
from clankie_bridge.desk.myself import Myself
from clankie_bridge.desk.room import WAITING_A_ROOM, Room, Rooms, Talk
from clankie_bridge.desk.screening import Screening
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.gateway import Tap
from clankie_bridge.ports import Happened
from clankie_settings.clock import SystemClock
from tests.bridge.conftest import KeptLog

BOT, GUILD, ROOM = "1300000000000000001", "1310000000000000000", "1310000000000000100"


class NoHistory:
    """A Discord that has nothing to tell."""

    async def before(self, channel_id: str, guild_id: str | None, message_id: str) -> tuple[Message, ...] | None:
        del channel_id, guild_id, message_id
        return ()

    async def message(self, channel_id: str, guild_id: str | None, message_id: str) -> Message | None:
        del channel_id, guild_id, message_id
        return None

    async def parent(self, channel_id: str) -> str | None:
        del channel_id
        return None


class NeverAway:
    """Nothing was ever missed."""

    def begin(self, payload: Mapping[str, Any]) -> None:
        pass

    def note(self, name: str, payload: Mapping[str, Any]) -> None:
        pass

    def meet(self, room: Room) -> None:
        pass


class KeptEvidence:
    """Evidence as a list."""

    def __init__(self) -> None:
        self.facts: list[tuple[Happened, str, str | None]] = []

    def record(self, event: Happened, message_id: str, room_id: str, code: str | None = None) -> None:
        del room_id
        self.facts.append((event, message_id, code))


class Door:
    """An ingress whose rooms nobody works on."""

    def __init__(self, policy: Policy | None = None, tap: Tap | None = None) -> None:
        self.log, self.evidence, self.rooms = KeptLog(), KeptEvidence(), Rooms()
        self.worked: list[Room] = []
        bot = Myself(Directory(), Names(()))
        bot.id = BOT
        policy = policy or Policy(guilds=frozenset({GUILD}))
        self.ingress = Ingress(
            tap=tap or Tap(self.log),
            directory=Directory(),
            policy=policy,
            rooms=self.rooms,
            history=NoHistory(),
            evidence=self.evidence,
            clock=SystemClock(),
            log=self.log,
            work=self.worked.append,
            changed=lambda room, _: room.is_followed,
            bot=bot,
            screening=Screening(policy=policy, evidence=self.evidence, log=self.log, bot=bot),
            absence=NeverAway(),
        )

    async def say(self, number: int, content: str = "hi", **more: Any) -> None:
        await self.ingress.take("MESSAGE_CREATE", payload(number, content, **more))


def payload(number: int, content: str = "hi", **more: Any) -> dict[str, Any]:
    author = {"id": "1300000000000000011", "username": "ann"}
    return {"id": str(number), "channel_id": ROOM, "guild_id": GUILD, "author": author, "content": content, **more}


async def test_in_a_full_room_the_oldest_messages_stay_and_the_newest_are_evidence() -> None:
    door = Door()
    for number in range(1, WAITING_A_ROOM + 4):
        await door.say(number)
    room = door.rooms.at(ROOM, GUILD)
    assert len(room.waiting) == WAITING_A_ROOM
    assert [each for each in door.evidence.facts if each[2] == "overflow"] == [
        (Happened.DROPPED, str(WAITING_A_ROOM + number), "overflow") for number in (1, 2, 3)
    ]
    assert len(door.log.of("room_overflow")) == 1
    assert not room.warm


async def test_a_full_tap_marks_its_rooms_and_never_waits() -> None:
    log = KeptLog()
    tap = Tap(log, size=1)
    door = Door(tap=tap)
    room = door.rooms.at(ROOM, GUILD)
    room.warm = True
    for number in range(1, 4):
        tap.put("MESSAGE_CREATE", payload(number))
    tap.put("PRESENCE_UPDATE", {})
    assert len(log.of("gateway_overflow")) == 1
    await door.ingress.take(*await tap.next())
    assert not room.warm
    assert tap.is_empty
    tap.close()
    tap.put("MESSAGE_CREATE", payload(9))
    assert tap.is_empty


async def test_what_is_no_message_is_evidence_without_an_id() -> None:
    door = Door()
    await door.ingress.take("MESSAGE_CREATE", {"id": "1"})
    assert door.evidence.facts == [(Happened.DROPPED, "unknown", "malformed")]


async def test_a_message_with_nothing_in_it_is_warned_of_once() -> None:
    """C25."""
    door = Door()
    for number in (1, 2):
        await door.say(number, "")
    assert "Message Content intent" in door.log.of("empty_message")[0]["remedy"]
    assert len(door.log.of("empty_message")) == 1


async def test_talk_that_is_no_turn_is_kept_only_where_the_room_is_followed() -> None:
    door = Door()
    await door.say(1, author={"id": "5", "username": "a bot", "bot": True})
    assert door.rooms.known(ROOM) is None
    room = door.rooms.at(ROOM, GUILD)
    room.warm = True
    await door.say(2, author={"id": "5", "username": "a bot", "bot": True})
    assert [type(each) for each in room.waiting] == [Talk]


async def test_a_new_session_makes_every_room_read_up_again() -> None:
    door = Door()
    room = door.rooms.at(ROOM, GUILD)
    room.warm = True
    await door.ingress.take("READY", {"user": {"id": BOT}, "guilds": []})
    assert not room.warm


def test_idle_rooms_beyond_a_thousand_are_forgotten_and_busy_ones_kept() -> None:
    rooms = Rooms()
    rooms.at("0", None).busy = True
    for number in range(1, 1_002):
        rooms.at(str(number), None)
    assert rooms.known("0") is not None
    assert rooms.known("1") is None
    assert rooms.known("1001") is not None


async def test_no_more_deliveries_are_under_way_than_may_be() -> None:
    deliveries, room = Deliveries(), Room(ROOM, GUILD)
    opened = [deliveries.open(str(number), str(number), room, None) for number in range(UNDER_WAY)]
    place = asyncio.ensure_future(deliveries.place())
    await asyncio.sleep(0)
    assert not place.done()
    assert not room.is_idle
    deliveries.close(opened[0])
    await place
    for each in opened:
        deliveries.close(each)
    assert room.is_idle


def test_the_directory_follows_guilds_threads_and_roles() -> None:
    directory = Directory()
    directory.note(
        "GUILD_CREATE",
        {
            "id": GUILD,
            "name": "The\nStage",
            "roles": [{"id": "7", "tags": {"bot_id": BOT}}, {"id": "8", "tags": {"bot_id": "9"}}, {"id": "6"}],
            "channels": [{"id": ROOM, "name": "general", "type": 0, "parent_id": "44"}, {"name": "no id"}],
            "threads": [{"id": "55", "name": "a thread", "type": 11, "parent_id": ROOM}],
        },
    )
    assert directory.roles_of(GUILD, BOT) == {"7"}
    assert directory.roles_of("1", BOT) == frozenset()
    place = directory.place(GUILD, "55")
    assert (place.guild_name, place.channel_name, place.parent_id) == ("The Stage", "a thread", ROOM)
    assert directory.parent(GUILD, ROOM) is None
    directory.note("GUILD_ROLE_CREATE", {"guild_id": GUILD, "role": {"id": "70", "tags": {"bot_id": BOT}}})
    directory.note("GUILD_ROLE_DELETE", {"guild_id": GUILD, "role_id": "7"})
    assert directory.roles_of(GUILD, BOT) == {"70"}
    directory.note("THREAD_LIST_SYNC", {"guild_id": GUILD, "threads": [{"id": "56", "type": 12, "parent_id": ROOM}]})
    assert directory.parent(GUILD, "56") == ROOM
    directory.note("THREAD_DELETE", {"guild_id": GUILD, "id": "56"})
    assert directory.parent(GUILD, "56") is None
    directory.note("GUILD_UPDATE", {"id": GUILD, "name": 5})
    assert directory.place(GUILD, ROOM).guild_name == "The Stage"
    directory.note("GUILD_DELETE", {"id": GUILD, "unavailable": True})
    assert directory.place(GUILD, ROOM).guild_name == "The Stage"
    directory.note("GUILD_DELETE", {"id": GUILD})
    assert directory.place(GUILD, ROOM).guild_name is None
    directory.note("CHANNEL_CREATE", {"id": "1"})

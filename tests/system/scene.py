"""One room of the house for one test, and what can be done and seen there."""

import re
from dataclasses import dataclass

from clankie_stage.provider.beats import Step
from clankie_stage.provider.hearing import heard, text_of
from clankie_stage.provider.records import Record
from clankie_stage.provider.steps import when
from tests.system.house import House, Json
from tests.system.program import PATIENCE_S

ACCEPTED = "accepted"
ENDS = frozenset({"replied", "absorbed", "silent", "failed"})


@dataclass(frozen=True, slots=True)
class Scene:
    """A room. Its name stands in every text that is said here, so that requests and steps find their way.

    Attributes:
        house: Where it is.
        room: The Discord id of the room.
        name: Its name.
    """

    house: House
    room: str
    name: str

    @classmethod
    async def opened(cls, house: House, name: str) -> "Scene":
        """A fresh room."""
        room: Json = await house.stage.call("create_room", name=name)
        return cls(house, room["id"], name)

    async def say(self, text: str, user: str = "Ann", **how: object) -> str:
        """Write as somebody; the message's id."""
        said = await self.house.stage.say(user, f"{text} ({self.name})", room=self.room, **how)
        return said["id"]

    async def script(self, *steps: Step) -> None:
        """How the model's next requests from here are answered."""
        await self.house.provider.script(*(when(step, anywhere=f"({self.name})") for step in steps))

    async def open(self, barrier: str) -> None:
        """Let an answer pass."""
        await self.house.provider.open(barrier)

    async def requests(self, count: int) -> list[Record]:
        """The requests that carry this room's words, once there are so many."""
        total = count
        while True:
            records = await self.house.provider.wait_requests(total)
            own = [each for each in records if f"({self.name})".encode() in each.raw]
            if len(own) >= count:
                return own
            total = len(records) + 1

    async def accepted(self, *messages: str) -> None:
        """Wait until the captain has these messages on disk."""
        for each in messages:
            await self._happened(each, {ACCEPTED})

    async def concluded(self, *messages: str) -> list[list[str]]:
        """What became of each message, once the bridge has nothing more to do for it."""
        for each in messages:
            await self._happened(each, ENDS)
        return [self.events(each) for each in messages]

    def events(self, message: str) -> list[str]:
        """The evidence of a message so far."""
        return [line["event"] for line in self.house.evidence() if line.get("message_id") == message]

    def codes(self, message: str) -> list[str]:
        """The reasons and failure codes in the evidence of a message."""
        return [line["code"] for line in self.house.evidence() if line.get("message_id") == message and "code" in line]

    async def replies(self, count: int = 1) -> list[Json]:
        """His messages in the room, once there are so many."""
        return await self.house.stage.wait_messages(
            self.room, match={"author": {"bot": True}}, count=count, within_s=PATIENCE_S
        )

    async def posted(self) -> list[str]:
        """The texts of all his messages in the room."""
        return [each["content"] for each in await self.house.stage.messages(self.room) if each["author"].get("bot")]

    async def posts(self) -> list[Json]:
        """The bridge's requests to post into the room, oldest first."""
        match = {"kind": "rest", "method": "POST", "path": f"/channels/{self.room}/messages"}
        return await self.house.stage.recorded(match)

    async def typing(self, count: int = 1) -> list[Json]:
        """The typing indicator's lightings, once there are so many."""
        match = {"kind": "rest", "method": "POST", "path": f"/channels/{self.room}/typing"}
        return await self.house.stage.wait(match, count=count, within_s=PATIENCE_S)

    async def runs(self, count: int) -> list[Json]:
        """The turn-settled lines of the room, once there are so many."""

        def enough() -> list[Json] | None:
            own = [line for line in self.house.settled() if self.room in line["lane"]]
            return own if len(own) >= count else None

        return await self.house.until(enough, f"{count} runs settled")

    async def _happened(self, message: str, wanted: frozenset[str] | set[str]) -> None:
        await self.house.until(
            lambda: not wanted.isdisjoint(self.events(message)), f"{message} is {' or '.join(sorted(wanted))}"
        )


def heard_in(record: Record) -> list[tuple[str, str]]:
    """Who said what since the model's last answer, as a request carries it; the room's name is left out."""
    return [(one.author, one.text.rpartition(" (")[0]) for one in heard(record.messages)]


def prompt(record: Record) -> str:
    """All texts of a request, joined."""
    return "\n".join(text_of(message) for message in record.messages)


_TALK = re.compile(
    r"^<<<talk-(?P<key>\S+) from=(?P<author>[^\n]*) id=\S+\n(?P<text>.*?)^(?P=key)>>>$", re.MULTILINE | re.DOTALL
)


def talk_in(record: Record) -> list[tuple[str, str]]:
    """All room talk that a request carries, as author and text without the room's name; his own is ``yourself``."""
    return [(one["author"], one["text"].strip().rpartition(" (")[0]) for one in _TALK.finditer(prompt(record))]


def told_by_tools(record: Record) -> list[str]:
    """What tools have answered, as a request carries it."""
    return [text_of(message) for message in record.messages if message["role"] == "tool"]

"""What the bridge needs from the outside, as it is used; ``app.py`` joins these with what is real."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Any, Protocol

from clankie_bridge.core.artifacts import Cause, Picture
from clankie_bridge.core.commands import Invocation
from clankie_bridge.core.message import Message
from clankie_bridge.core.render import Part
from clankie_settings.wire.action import Action
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.command import Command, Edit
from clankie_settings.wire.lease import Lease, LeaseRequest
from clankie_settings.wire.receipt import ActionReceipt, KnownRooms, Owed, Receipt
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Silent
from clankie_settings.wire.trigger import Trigger

Settled = Replied | Absorbed | Silent | Failed
"""A turn's result."""


class Log(Protocol):
    """Structured, content-free log: an event name with ids, codes and counts."""

    def info(self, event: str, **fields: Any) -> Any:
        """Something happened."""

    def warning(self, event: str, **fields: Any) -> Any:
        """Something is not as it should be."""

    def error(self, event: str, **fields: Any) -> Any:
        """Something failed."""


class Happened(StrEnum):
    """What became of a message, in evidence. Source: ING-5."""

    DROPPED = "dropped"
    ACCEPTED = "accepted"
    BUFFERED = "buffered"
    DEDUPLICATED = "deduplicated"
    REPLIED = "replied"
    ABSORBED = "absorbed"
    SILENT = "silent"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


class Evidence(Protocol):
    """Content-free record of what was done with each message. Source: ING-5."""

    def record(self, event: Happened, message_id: str, room_id: str, code: str | None = None) -> None:
        """Note one fact; never blocks and never raises."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One part to post.

    Attributes:
        reply_to: The message that it answers, where it shows so.
        after: The message behind which it would stand if it were there already.
        until: When it is too late for it, on the clock of elapsed time.
        pictures: What goes with it, in the same message.
        left_out: Why others do not, which its words then say.
    """

    channel_id: str
    part: Part
    nonce: str
    reply_to: str | None = None
    after: str | None = None
    until: timedelta | None = None
    pictures: tuple[Picture, ...] = ()
    left_out: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Posted:
    """It is in the room.

    Attributes:
        unreferenced: Whether the message to answer was gone.
        left_out: Why pictures are not with it.
    """

    message_id: str
    at: datetime
    unreferenced: bool = False
    left_out: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """It will never be in the room."""

    code: str
    at: datetime


class Sender(Protocol):
    """Posts into rooms, again and again until a part is there or never will be."""

    async def send(self, outgoing: Outgoing) -> Posted | Refused:
        """Post one part, or say why it cannot be. Calls for one room must be awaited one by one."""
        ...


class Artifacts(Protocol):
    """The files that the captain's tools made."""

    async def read(self, artifact: Artifact) -> Picture | Cause:
        """A file as it may go out, or why it does not; never raises. Source: ART-3."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look for parts that may be in a room already: behind ``after``.

    ``reply_to`` is what the first part answers; ``settled_at`` is when there was something to post at the earliest.
    """

    channel_id: str
    parts: tuple[Part, ...]
    reply_to: str | None
    after: str
    settled_at: datetime | None = None


class Traces(Protocol):
    """What is in a room already. Source: OUT-1."""

    async def of(self, search: Search) -> tuple[str | None, ...]:
        """For each part the message that it is in the room as, if it is; waits until the room can be read."""
        ...


class Indicator(Protocol):
    """Discord's typing indicator."""

    async def show(self, channel_id: str) -> None:
        """Light it once, for ten seconds; an error is skipped."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """Something besides words is in the room, or, with a code, is not."""

    code: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of a card: its message, or none; ``doubtful`` where it may be in the room all the same."""

    message_id: str | None
    doubtful: bool = False


class Surface(Protocol):
    """What he puts into a room besides words. Nothing of it ever raises, or is waited for by a turn."""

    async def show(self, channel_id: str, text: str, nonce: str) -> Shown:
        """Post a card without a notification."""
        ...

    async def change(self, channel_id: str, message_id: str, text: str) -> bool:
        """Change a card; whether it is still there."""
        ...

    async def remove(self, channel_id: str, message_id: str) -> bool:
        """Take a card away; whether no more can be done about it."""
        ...

    async def react(self, channel_id: str, message_id: str, emoji: str) -> Done:
        """Put an emoji on a message."""
        ...


class Responses(Protocol):
    """Answers to commands, seen by their givers alone. Nothing of it ever raises."""

    async def promise(self, invocation: Invocation) -> bool:
        """Promise an answer in time; whether one is still wanted."""
        ...

    async def answer(self, invocation: Invocation, words: str) -> None:
        """Answer at once."""
        ...

    async def keep(self, invocation: Invocation, words: str) -> None:
        """Give the answer that was promised."""
        ...


class History(Protocol):
    """What was said in a room before."""

    async def before(self, channel_id: str, guild_id: str | None, message_id: str) -> tuple[Message, ...] | None:
        """The messages just before this one, oldest first; None where they cannot be had now."""
        ...

    async def message(self, channel_id: str, guild_id: str | None, message_id: str) -> Message | None:
        """One message, or None where it cannot be had."""
        ...

    async def parent(self, channel_id: str) -> str | None:
        """The channel that a thread hangs on, or None where it cannot be had."""
        ...


class Changed(Enum):
    """What became of an edit or a deletion at the captain. Source: ING-7."""

    DONE = auto()
    STARTED = auto()
    UNKNOWN = auto()


class Captain(Protocol):
    """The captain's door. Every call is one attempt.

    Raises:
        CaptainError: One of its leaves, see ``errors.py``.
    """

    async def hand_over(self, trigger: Trigger, wait_s: int = 0) -> Settled | Pending:
        """Hand a delivery over, and wait up to ``wait_s`` seconds for its result."""
        ...

    async def result(self, delivery_id: str, wait_s: int) -> Settled | Pending:
        """Wait up to ``wait_s`` seconds for the result of a delivery."""
        ...

    async def edit(self, delivery_id: str, edit: Edit) -> Changed:
        """Replace the words of a delivery that no run has heard."""
        ...

    async def withdraw(self, delivery_id: str) -> Changed:
        """Take a delivery back that no run has heard."""
        ...

    async def command(self, command: Command) -> str:
        """Give a command; the answer is for its giver alone."""
        ...

    async def owed(self) -> tuple[Owed, ...]:
        """What is queued, running or not yet receipted, oldest first."""
        ...

    async def receipt(self, delivery_id: str, receipt: Receipt) -> bool:
        """Record what became of one part; the answer is whether anything is still owed."""
        ...

    async def action_receipt(self, action_id: str, receipt: ActionReceipt) -> None:
        """Acknowledge a stored action."""
        ...


class Presence(Protocol):
    """What the captain keeps for this presence. Every call is one attempt.

    Raises:
        CaptainError: One of its leaves, see ``errors.py``.
    """

    async def lease(self, request: LeaseRequest) -> Lease:
        """Get or renew the lease, or give it back."""
        ...

    async def rooms(self) -> KnownRooms:
        """The rooms that this presence stood in, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Signal:
    """An action as it came; ``sequence`` is None where it is not stored, and ``action`` where it is unknown."""

    sequence: int | None
    action: Action | None


class Actions(Protocol):
    """The captain's stream of actions."""

    def follow(self, after: int | None) -> AsyncGenerator[Signal, None]:
        """The actions after this number until the connection ends.

        Raises:
            CaptainError: The stream cannot be had.
        """
        ...


GatewayEvent = tuple[str, Mapping[str, Any]]
"""An event's name and its raw payload."""

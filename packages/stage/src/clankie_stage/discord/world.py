"""Who and what exists on the stage: users, guilds, rooms, and the messages in them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

Json = dict[str, Any]
"""A JSON object as Discord sends it."""

BotAccess = Literal["full", "words", "read", "none"]
"""What the bot may do in a room: write and attach files, only write, only read, or not even see it."""


class RoomType(IntEnum):
    """Discord's channel types that the stage knows."""

    TEXT = 0
    DM = 1
    FORUM = 15
    NEWS_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12

    @property
    def is_thread(self) -> bool:
        """Whether rooms of this type hang under another room."""
        return self in {RoomType.NEWS_THREAD, RoomType.PUBLIC_THREAD, RoomType.PRIVATE_THREAD}


@dataclass(slots=True)
class User:
    """A person or a bot; ``dms_open`` is whether strangers may write to it."""

    id: str
    username: str
    display_name: str
    bot: bool = False
    dms_open: bool = True


@dataclass(slots=True)
class Role:
    """A guild role; ``bot_id`` is set on the managed role that Discord makes for a bot."""

    id: str
    name: str
    permissions: int = 0
    bot_id: str | None = None


@dataclass(slots=True)
class Guild:
    """A server; its ``@everyone`` role carries the guild's own id. ``members`` maps user id to role ids."""

    id: str
    name: str
    owner_id: str
    roles: dict[str, Role] = field(default_factory=dict[str, Role])
    members: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


@dataclass(slots=True)
class Attachment:
    """A posted file: its bytes, and what its sender claims about it."""

    id: str
    filename: str
    content: bytes
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    extra: Json = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class Message:
    """A posted message. ``body`` holds the payload keys that do not depend on who asks or when.

    Attributes:
        author: the author's user payload when it is no user of the world (webhooks).
        pings: ids of the users whom the message really notified.
        allowed_mentions: what its sender asked for, as sent; None when it said nothing.
        overrides: payload keys that a test forces; they win over everything.
        omitted: payload keys that a test removes.
    """

    id: str
    room_id: str
    author_id: str
    body: Json
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    author: Json | None = None
    nonce: str | int | None = None
    reply_to: str | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    pings: tuple[str, ...] = ()
    allowed_mentions: Json | None = None
    overrides: Json = field(default_factory=dict[str, Any])
    omitted: frozenset[str] = frozenset()


@dataclass(slots=True)
class Room:
    """A place people write in. A DM has a ``recipient_id`` and no guild; a thread has a parent."""

    id: str
    type: RoomType
    name: str
    guild_id: str | None = None
    parent_id: str | None = None
    recipient_id: str | None = None
    owner_id: str | None = None
    bot_access: BotAccess = "full"
    messages: dict[str, Message] = field(default_factory=dict[str, Message])


@dataclass(slots=True)
class World:
    """Everything that exists, by id."""

    bot_id: str
    owner_id: str
    users: dict[str, User] = field(default_factory=dict[str, User])
    guilds: dict[str, Guild] = field(default_factory=dict[str, Guild])
    rooms: dict[str, Room] = field(default_factory=dict[str, Room])

    def replace(self, other: "World") -> None:
        """Become ``other`` in place, so that whoever holds this world sees the new one."""
        self.bot_id, self.owner_id = other.bot_id, other.owner_id
        self.users, self.guilds, self.rooms = other.users, other.guilds, other.rooms

    def rooms_of(self, guild_id: str) -> list[Room]:
        """The rooms of one guild, threads included, in the order of their making."""
        return [room for room in self.rooms.values() if room.guild_id == guild_id]

    def dm_with(self, user_id: str) -> Room | None:
        """The DM room between the bot and a user, if it was ever opened."""
        return next((room for room in self.rooms.values() if room.recipient_id == user_id), None)

    def user_named(self, name_or_id: str) -> User:
        """The user with this id, user name or display name.

        Raises:
            LookupError: nobody goes by it; the text says who is there.
        """
        if name_or_id in self.users:
            return self.users[name_or_id]
        for user in self.users.values():
            if name_or_id.casefold() in {user.username.casefold(), user.display_name.casefold()}:
                return user
        raise _unknown("user", name_or_id, (user.display_name for user in self.users.values()))

    def room_named(self, name_or_id: str) -> Room:
        """The room with this id or name; ``@Ann`` is the DM with Ann, a leading ``#`` is ignored.

        Raises:
            LookupError: there is none; the text says which there are.
        """
        if name_or_id in self.rooms:
            return self.rooms[name_or_id]
        if name_or_id.startswith("@"):
            dm = self.dm_with(self.user_named(name_or_id[1:]).id)
            if dm is not None:
                return dm
        wanted = name_or_id.removeprefix("#").casefold()
        for room in self.rooms.values():
            if room.type is not RoomType.DM and room.name.casefold() == wanted:
                return room
        raise _unknown("room", name_or_id, (room.name for room in self.rooms.values()))

    def message(self, message_id: str) -> Message:
        """The message with this id, wherever it is.

        Raises:
            LookupError: it does not exist, or no longer.
        """
        for room in self.rooms.values():
            if message_id in room.messages:
                return room.messages[message_id]
        raise LookupError(f"no message has the id {message_id}")


def _unknown(kind: str, name: str, known: Iterable[str]) -> LookupError:
    return LookupError(f"the stage has no {kind} {name!r}; it has {', '.join(known)}")

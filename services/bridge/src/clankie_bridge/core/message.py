"""A Discord message as the bridge judges it: strict, frozen, whatever the platform sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

DEFAULT: Final = 0
"""Message type of plain speech."""

REPLY: Final = 19
"""Message type of a reply."""

THREAD_STARTER: Final = 21
"""Message type that stands at the top of a thread for the message it hangs on."""

COMMAND_REPLIES: Final = frozenset({20, 23})
"""Message types of answers to commands: talk of the room, but nobody's speech to him."""

THREAD_TYPES: Final = frozenset({10, 11, 12})
"""Channel types of threads."""

_EPOCH: Final = datetime(2015, 1, 1, tzinfo=UTC)


def written_at(message_id: str) -> datetime:
    """The aware UTC instant that a snowflake carries, to the millisecond."""
    return _EPOCH + timedelta(milliseconds=int(message_id) >> 22)


def first_id_at(moment: datetime) -> str:
    """The lowest snowflake that something made at this instant can have."""
    return str(max((moment - _EPOCH) // timedelta(milliseconds=1), 0) << 22)


def id_before(message_id: str) -> str:
    """The snowflake in front of one, so that reading from it begins with the message itself."""
    return str(max(int(message_id) - 1, 0)) if message_id.isdecimal() else "0"


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote, with a name that is safe to show and never to trust."""

    id: str
    name: str
    is_bot: bool = False
    is_webhook: bool = False
    role_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """A file as its sender claims it: media type in lower case without parameters, size in bytes."""

    id: str
    url: str
    media_type: str | None = None
    filename: str | None = None
    byte_size: int | None = None


@dataclass(frozen=True, slots=True)
class Gifv:
    """A moving picture of a GIF picker: the still preview and its moving form."""

    id: str
    url: str
    media_type: str | None = None
    motion_url: str | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """What somebody passed on; it has no author."""

    content: str = ""
    files: tuple[File, ...] = ()
    gifvs: tuple[Gifv, ...] = ()


@dataclass(frozen=True, slots=True)
class Poll:
    """A question and its answers."""

    question: str
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """The message that this one answers, or that a thread hangs on.

    ``message`` is None where Discord did not send it; ``gone`` says that it was deleted.
    """

    message_id: str
    message: "Message | None" = None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a room. ``type`` and ``channel_type`` are Discord's numbers.

    ``edited_at`` is Discord's own timestamp of the last edit; ``may_unfurl`` says that previews may still be added.
    """

    id: str
    channel_id: str
    author: Author
    sent_at: datetime
    guild_id: str | None = None
    channel_type: int | None = None
    type: int = DEFAULT
    content: str = ""
    mentions: Mapping[str, str] = field(default_factory=dict[str, str])
    mention_role_ids: frozenset[str] = frozenset()
    files: tuple[File, ...] = ()
    gifvs: tuple[Gifv, ...] = ()
    stickers: tuple[str, ...] = ()
    poll: Poll | None = None
    voice_seconds: int | None = None
    forward: Forward | None = None
    reference: Reference | None = None
    edited_at: str | None = None
    may_unfurl: bool = False

    @property
    def in_thread(self) -> bool:
        """Whether it was written in a thread."""
        return self.channel_type in THREAD_TYPES

    @property
    def carries_more(self) -> bool:
        """Whether there is anything in it besides words."""
        return bool(
            self.files
            or self.gifvs
            or self.stickers
            or self.poll is not None
            or self.voice_seconds is not None
            or self.forward is not None
        )

    @property
    def all_files(self) -> tuple[File, ...]:
        """Its own files, then those that it passes on."""
        return self.files if self.forward is None else (*self.files, *self.forward.files)

    @property
    def all_gifvs(self) -> tuple[Gifv, ...]:
        """Its own moving pictures, then those that it passes on."""
        return self.gifvs if self.forward is None else (*self.gifvs, *self.forward.gifvs)

"""What was written while nobody listened, and what of it is still answered. Source: ING-9, C12."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from clankie_bridge.core.message import THREAD_TYPES, first_id_at
from clankie_settings import bounds

WRITTEN_IN: Final = frozenset({0, 2, 5, 13}) | THREAD_TYPES
"""Channel types that messages stand in; a forum's own last id is that of a thread. Source: Discord's documentation."""

MARGIN: Final = timedelta(minutes=5)
"""How long a message may have waited inside a bridge that was listening and then died. Source: ING-9."""

TALK_BEFORE: Final = bounds.CONTEXT_MESSAGES
"""Messages in front of a missed one that are kept as talk; the backlog has no place for more."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A room as the gateway names it at the beginning of a session."""

    channel_id: str
    guild_id: str | None
    type: int | None = None
    parent_id: str | None = None
    last_message_id: str | None = None

    @property
    def last(self) -> int:
        """Its newest message, as a number."""
        return int(self.last_message_id or 0)


@dataclass(frozen=True, slots=True)
class Gap:
    """What to read of a room: messages behind ``after``, up to ``last`` or to the newest."""

    after: int
    last: int | None


def may_hold_something(channel: Channel, now: datetime) -> bool:
    """Whether a room has a message that is young enough to be answered."""
    return channel.type in WRITTEN_IN and channel.last >= int(first_id_at(now - bounds.MISSED_ADDRESSED))


def gap(channel: Channel, recorded: str | None, missed_since: datetime | None, now: datetime) -> Gap | None:
    """What of a room was missed, or None where nothing was.

    ``recorded`` is the last message that the captain has of the room. A room that it has none of is read from where
    somebody last listened; where nobody ever did, he was not there yet.

    Source: ING-9.
    """
    oldest = int(first_id_at(now - bounds.MISSED_ADDRESSED)) - 1
    if recorded is not None and recorded.isdecimal():
        after = max(int(recorded), oldest)
    elif missed_since is not None:
        after = max(int(first_id_at(missed_since - MARGIN)), oldest)
    else:
        return None
    if channel.last_message_id is None:
        return Gap(after, None)
    return Gap(after, channel.last) if channel.last > after else None


def with_talk(becomes_turn: Sequence[bool]) -> tuple[bool, ...]:
    """For each message in order whether it is kept: what may become a turn, and the talk just in front of it.

    Talk behind the last of them, or far in front of it, is read as backlog when somebody next calls him.
    """
    kept = [False] * len(becomes_turn)
    left = 0
    for place in range(len(becomes_turn) - 1, -1, -1):
        kept[place] = becomes_turn[place] or left > 0
        left = TALK_BEFORE if becomes_turn[place] else left - 1
    return tuple(kept)

"""When he reads on unaddressed: while his last word in the room is near. Source: ING-2, ING-3."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from clankie_settings import bounds

ReplyPolicy = Literal["addressed", "all"]
"""Whether only what is addressed to him becomes a turn."""


@dataclass(frozen=True, slots=True)
class ReplyPolicies:
    """The owner's choice for every room, with exceptions by ``guildId:channelId``. Source: ING-2."""

    default: ReplyPolicy = "addressed"
    rooms: Mapping[str, ReplyPolicy] = field(default_factory=dict[str, ReplyPolicy])

    def of(self, guild_id: str | None, channel_id: str, parent_id: str | None) -> ReplyPolicy:
        """The policy of a room; a thread without its own has its parent's."""
        own = self.rooms.get(f"{guild_id}:{channel_id}")
        return own or self.rooms.get(f"{guild_id}:{parent_id}") or self.default


@dataclass(frozen=True, slots=True)
class Exchange:
    """How many messages of others stand since his last word in a room; None where he has not spoken."""

    since: int | None = None

    def heard(self) -> "Exchange":
        """After one more message of somebody else."""
        return self if self.since is None else Exchange(self.since + 1)

    @property
    def reads_on(self) -> bool:
        """Whether the message that was just heard still belongs to the conversation. Source: ING-3."""
        return self.since is not None and self.since <= bounds.EXCHANGE_MESSAGES


SPOKEN = Exchange(0)
"""He has just replied, or joined what was said to his reply."""


def recalled(own: Sequence[bool]) -> Exchange:
    """The exchange that the last messages of a room show, oldest first: for each, whether it is his."""
    for since, is_own in enumerate(reversed(own)):
        if is_own:
            return Exchange(since)
    return Exchange()


def becomes_turn(policy: ReplyPolicy, exchange: Exchange, *, addressed: bool) -> bool:
    """Whether an admitted message is handed over now, or stays talk of the room. Source: ING-2, ING-3."""
    return addressed or policy == "all" or exchange.reads_on

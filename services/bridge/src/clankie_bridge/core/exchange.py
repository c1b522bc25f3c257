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
    """How many messages of others stand since his last word in a room, and since he was last called there.

    None where he has not spoken, or was not called.
    """

    since: int | None = None
    called: int | None = None

    def heard(self) -> "Exchange":
        """After one more message of somebody else."""
        return Exchange(_more(self.since), _more(self.called))

    def addressed(self) -> "Exchange":
        """After the captain has taken a message that called him."""
        return Exchange(self.since, 0)

    def spoken(self) -> "Exchange":
        """After he has replied, or joined what was said to his reply."""
        return Exchange(0, self.called)

    def reads_on(self, *, at_work: bool) -> bool:
        """Whether the message that was just heard still belongs to the conversation.

        While he is at work on what somebody called him for, the rest of that thought belongs to it, though he has not
        spoken yet.

        Source: ING-3, LANE-8.
        """
        return _near(self.since) or (at_work and _near(self.called))


def _more(count: int | None) -> int | None:
    return None if count is None else count + 1


def _near(count: int | None) -> bool:
    return count is not None and count <= bounds.EXCHANGE_MESSAGES


def recalled(own: Sequence[bool]) -> Exchange:
    """The exchange that the last messages of a room show, oldest first: for each, whether it is his."""
    for since, is_own in enumerate(reversed(own)):
        if is_own:
            return Exchange(since)
    return Exchange()


def becomes_turn(policy: ReplyPolicy, exchange: Exchange, *, addressed: bool, at_work: bool = False) -> bool:
    """Whether an admitted message is handed over now, or stays talk of the room. Source: ING-2, ING-3."""
    return addressed or policy == "all" or exchange.reads_on(at_work=at_work)

"""What the owner switches on and off in single rooms. Source: ROOM-4, ROOM-8."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Switch:
    """Something that is on everywhere but in the rooms where the owner says otherwise, by ``guildId:channelId``."""

    rooms: Mapping[str, bool] = field(default_factory=dict[str, bool])
    default: bool = True

    def is_on(self, guild_id: str | None, channel_id: str, parent_id: str | None) -> bool:
        """Whether it is on in a room; a thread without a word of its own has its parent's."""
        own = self.rooms.get(f"{guild_id}:{channel_id}")
        return own if own is not None else self.rooms.get(f"{guild_id}:{parent_id}", self.default)

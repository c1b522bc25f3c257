"""Reading up on a room: what was said before, what a message answers, what a thread hangs on. Source: CTX-1, C62."""

from dataclasses import replace

from clankie_bridge.core import exchange, handover
from clankie_bridge.core.message import Message
from clankie_bridge.desk.room import Room
from clankie_bridge.discord.directory import Directory
from clankie_bridge.ports import History


class Reading:
    """Asks Discord's history for what the gateway did not tell; what cannot be had costs itself alone."""

    def __init__(self, directory: Directory, history: History) -> None:
        self._directory = directory
        self._history = history

    async def warm(self, room: Room, message: Message, bot_id: str) -> None:
        """Read up on a room that the bridge does not know well enough, once."""
        if room.warm:
            return
        found = await self._history.before(room.channel_id, room.guild_id, message.id)
        if found is None:
            return
        room.warm = True
        room.window.clear()
        room.window.extend(found)
        if room.exchange.since is None:
            recalled = exchange.recalled([each.author.id == bot_id for each in found])
            room.exchange = replace(room.exchange, since=recalled.since)
        if message.in_thread and room.opener is None and message.id != room.channel_id:
            room.opener = await self._opener(room)

    async def with_target(self, room: Room, message: Message) -> Message:
        """The message with what it answers, where Discord sent only its id."""
        reference = message.reference
        if reference is None or reference.message is not None or reference.gone:
            return message
        target = next((each for each in room.window if each.id == reference.message_id), None)
        if target is None:
            target = await self._history.message(room.channel_id, room.guild_id, reference.message_id)
        return replace(message, reference=replace(reference, message=target))

    async def _opener(self, room: Room) -> Message | None:
        """The message that a thread hangs on: it has the thread's id, in the parent or (a forum's) in the thread."""
        for each in room.window:
            spoken = handover.opened(each)
            if spoken is not None and spoken.id == room.channel_id:
                return spoken
        parent_id = self._directory.parent(room.guild_id, room.channel_id)
        for place in (parent_id, room.channel_id):
            if place is not None and (found := await self._history.message(place, room.guild_id, room.channel_id)):
                return replace(found, channel_id=room.channel_id, reference=None)
        return None

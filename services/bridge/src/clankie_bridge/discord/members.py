"""Who somebody is in a guild, where a message from the history does not say. Source: ING-1, ING-9."""

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from clankie_bridge.core.message import Author, Message
from clankie_bridge.discord.normalize import author
from clankie_bridge.discord.payloads import json_object
from clankie_bridge.discord.rest import Rest
from clankie_bridge.discord.send import Gate
from clankie_bridge.errors import DiscordAway

_KNOWN: Final = 1_000
_ATTEMPTS: Final = 2


class DiscordMembers:
    """Asks once for each member; whoever cannot be had stays as the history says."""

    def __init__(self, rest: Rest, gate: Gate) -> None:
        self._rest = rest
        self._gate = gate
        self._known: OrderedDict[tuple[str, str], Author | None] = OrderedDict()

    async def completed(self, message: Message) -> Message:
        """The message with the name and the roles that its author has in the guild."""
        if message.guild_id is None or message.author.is_webhook:
            return message
        key = (message.guild_id, message.author.id)
        if key not in self._known:
            self._known[key] = await self._asked(*key)
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        known = self._known[key]
        return message if known is None else replace(message, author=known)

    async def _asked(self, guild_id: str, user_id: str) -> Author | None:
        for _ in range(_ATTEMPTS):
            await self._gate.read()
            try:
                answer = await self._rest.get(f"/guilds/{guild_id}/members/{user_id}")
            except DiscordAway:
                continue
            if answer.ok:
                return author(json_object(answer.fields.get("user")), answer.fields)
        return None

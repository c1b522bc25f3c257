"""Looks whether a room holds already what is about to be posted. Source: OUT-1, C54."""

from datetime import timedelta
from typing import Final

from clankie_bridge.core import traces
from clankie_bridge.core.message import Message, first_id_at
from clankie_bridge.discord.pages import DiscordPages
from clankie_bridge.ports import Search

_PAGES: Final = 5
_PAGES_AROUND_SETTLING: Final = 3
_CLOCKS_DIFFER: Final = timedelta(minutes=2)
_NEWEST: Final = str((1 << 63) - 1)


class DiscordTraces:
    """Reads from where the first part may stand, around the time at which it settled, and back from the newest."""

    def __init__(self, pages: DiscordPages, bot_id: str) -> None:
        self._pages = pages
        self._bot_id = bot_id

    async def of(self, search: Search) -> tuple[str | None, ...]:
        """For each part the message that it is in the room as; all None where the room may not be read back.

        Source: OUT-1.
        """
        start, whole = await self._from(search.channel_id, search.after, _PAGES)
        seen = {each.id: each for each in start}
        if not whole:
            if search.settled_at is not None:
                settled = first_id_at(search.settled_at - _CLOCKS_DIFFER)
                around, _ = await self._from(search.channel_id, settled, _PAGES_AROUND_SETTLING)
                seen |= {each.id: each for each in around}
            seen |= {each.id: each for each in await self._newest(search.channel_id, int(search.after))}
        own = [each for each in sorted(seen.values(), key=lambda each: int(each.id)) if each.author.id == self._bot_id]
        return traces.found(own, search.parts, search.reply_to, target_gone=_is_gone(search, start))

    async def _from(self, channel_id: str, after: str, pages: int) -> tuple[list[Message], bool]:
        """Messages behind one, and whether these are all."""
        found: list[Message] = []
        for _ in range(pages):
            page = await self._pages.read(channel_id, None, "after", after)
            if page is None:
                return found, True
            found += page.messages
            if not page.full or not page.messages:
                return found, True
            after = page.messages[-1].id
        return found, False

    async def _newest(self, channel_id: str, after: int) -> list[Message]:
        found: list[Message] = []
        before = _NEWEST
        for _ in range(_PAGES):
            page = await self._pages.read(channel_id, None, "before", before)
            if page is None or not page.messages:
                break
            found += page.messages
            before = page.messages[0].id
            if not page.full or int(before) <= after:
                break
        return found


def _is_gone(search: Search, start: list[Message]) -> bool:
    """Whether the message to answer was deleted: reading begins in front of it."""
    if search.reply_to is None or int(search.after) >= int(search.reply_to):
        return False
    return all(each.id != search.reply_to for each in start)

"""What one room lacks: its history from the last message that the captain has. Source: ING-9."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from clankie_bridge.core import addressing, missed, unfurling
from clankie_bridge.core.lateness import is_answered_still
from clankie_bridge.core.message import DEFAULT, REPLY, Message
from clankie_bridge.core.missed import Channel, Gap
from clankie_bridge.desk.myself import Myself
from clankie_bridge.desk.room import Item, Room, Said, Talk
from clankie_bridge.desk.screening import Screening, Verdict
from clankie_bridge.desk.sweeping import Sweeping
from clankie_bridge.discord.members import DiscordMembers
from clankie_bridge.discord.pages import DiscordPages
from clankie_bridge.ports import Evidence, Happened, Log
from clankie_settings import bounds
from clankie_settings.clock import Clock

MISSED: Final = "missed"
"""Evidence code of a message that was missed and is too old to be answered. Source: ING-9."""

_ATTEMPTS: Final = 8
_NEWEST: Final = (1 << 63) - 1


class Missing:
    """Reads a room back, and judges what it finds as if it came just now."""

    def __init__(
        self,
        *,
        pages: DiscordPages,
        members: DiscordMembers,
        screening: Screening,
        bot: Myself,
        sweeping: Sweeping,
        evidence: Evidence,
        clock: Clock,
        log: Log,
    ) -> None:
        self._pages = pages
        self._members = members
        self._screening = screening
        self._bot = bot
        self._sweeping = sweeping
        self._evidence = evidence
        self._clock = clock
        self._log = log

    async def of(self, room: Room, channel: Channel, gap: Gap) -> list[Item]:
        """What was missed in a room, oldest first: what may become a turn, and the talk just in front of that."""
        items: list[Item] = []
        found = await self._messages(channel, gap)
        self._sweeping.found(room, found)
        for each in found:
            message = replace(each, channel_type=channel.type)
            if self._screening.is_new(message) and (item := await self._item(message, channel)) is not None:
                items.append(item)
        kept = missed.with_talk([isinstance(each, Said) for each in items])
        return [each for each, is_kept in zip(items, kept, strict=True) if is_kept]

    async def _messages(self, channel: Channel, gap: Gap) -> list[Message]:
        """The newest of them, where they are more than a few pages."""
        found: list[Message] = []
        before = _NEWEST if gap.last is None else gap.last + 1
        for _ in range(bounds.MISSED_PAGES):
            page = await self._pages.read(channel.channel_id, channel.guild_id, "before", str(before), _ATTEMPTS)
            if page is None:
                self._log.error("missed_unreadable", room=channel.channel_id)
                break
            found = [*(each for each in page.messages if int(each.id) > gap.after), *found]
            if not page.full or not page.messages or int(page.messages[0].id) <= gap.after:
                return found
            before = int(page.messages[0].id)
        else:
            self._log.warning("missed_left_out", room=channel.channel_id, pages=bounds.MISSED_PAGES)
        return found

    async def _item(self, message: Message, channel: Channel) -> Item | None:
        now = self._clock.now()
        if self._is_speech(message, now):
            message = await self._members.completed(message)
        verdict = self._screening.judged(message, channel.parent_id)
        if verdict is Verdict.NOTHING:
            return None
        if verdict is Verdict.TALK:
            return Talk(message)
        address = addressing.judge(message, self._bot.identity(message.guild_id))
        if is_answered_still(message.sent_at, now, addressed=address.addressed):
            # Whatever preview it could get, it has.
            return Said(message, self._clock.elapsed() - unfurling.LONGEST)
        self._evidence.record(Happened.BUFFERED, message.id, message.channel_id, MISSED)
        return Talk(message)

    def _is_speech(self, message: Message, now: datetime) -> bool:
        """Whether it matters who its author is in the guild."""
        if message.author.id == self._bot.id or message.type not in (DEFAULT, REPLY):
            return False
        return is_answered_still(message.sent_at, now, addressed=True)

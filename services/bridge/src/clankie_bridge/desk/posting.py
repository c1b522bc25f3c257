"""Words go into a room one after the other, each part with its receipt. Source: OUT-2, OUT-4, C30."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import notices, render
from clankie_bridge.core.nonce import Purpose, nonce
from clankie_bridge.core.render import Part, Words
from clankie_bridge.desk.room import Delivery, Room
from clankie_bridge.errors import CaptainError
from clankie_bridge.ports import Captain, Log, Outgoing, Posted, Refused, Sender
from clankie_settings.clock import Clock
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.result import Replied

INCOMPLETE: Final = "incomplete"
"""Evidence code of a reply of which some parts are in the room and others never will be. Source: C30."""


class Posting:
    """The only way into a room: its door is held from the first part until the last receipt."""

    def __init__(
        self,
        *,
        sender: Sender,
        captain: Captain,
        patience: Patience,
        clock: Clock,
        log: Log,
        updates_before: Callable[[Delivery, int], Awaitable[None]],
    ) -> None:
        self._sender = sender
        self._captain = captain
        self._patience = patience
        self._clock = clock
        self._log = log
        self._updates_before = updates_before

    async def reply(self, delivery: Delivery, result: Replied, parts_posted: int) -> str | None:
        """Post a reply, but for the parts that are there already; a code where not all of it is in the room.

        Source: OUT-4, C30.
        """
        if result.after_action is not None:
            await self._updates_before(delivery, result.after_action)
        parts = render.parts(result.text)
        if result.artifacts:
            self._log.warning("artifacts_left_out", delivery=delivery.id, count=len(result.artifacts))
        async with delivery.room.door:
            delivery.sending = True
            delivery.stop_typing()
            # Before the words are there: whoever answers them may be faster than Discord's answer to us.
            delivery.room.exchange = delivery.room.exchange.spoken()
            if not parts:
                await self._receipt(delivery, Receipt(part=1, of=1, code="empty_reply", posted_at=self._clock.now()))
                return "empty_reply"
            return await self._parts(delivery, parts, parts_posted)

    async def notice(self, delivery: Delivery, failure: FailureCode) -> None:
        """Say in one short message that no answer comes.

        Its nonce is of its own kind, so that an answer which comes after all is never taken for the notice.

        Source: ROOM-8, C45.
        """
        async with delivery.room.door:
            delivery.sending = True
            words = Words(notices.notice(failure))
            outcome = await self._send("notice", delivery.room, delivery.id, 1, words, delivery.answers)
            await self._receipt(delivery, _receipt(1, 1, outcome))

    async def nothing(self, delivery: Delivery, code: str) -> None:
        """Say that nothing will be posted for a delivery, so that nothing is owed."""
        async with delivery.room.door:
            await self._receipt(delivery, Receipt(part=1, of=1, code=code, posted_at=self._clock.now()))

    async def words(
        self, purpose: Purpose, room: Room, action_id: str, parts: Sequence[Part], reply_to: str | None
    ) -> ActionReceipt:
        """Post words that are no reply; the caller holds the room's door."""
        first: str | None = None
        for number, part in enumerate(parts, start=1):
            outcome = await self._send(purpose, room, action_id, number, part, reply_to if number == 1 else None)
            if isinstance(outcome, Refused):
                return ActionReceipt(ok=False, message_id=first, code=outcome.code)
            first = first or outcome.message_id
        if first is None:
            return ActionReceipt(ok=False, code="empty_text")
        return ActionReceipt(ok=True, message_id=first)

    async def _parts(self, delivery: Delivery, parts: Sequence[Part], parts_posted: int) -> str | None:
        refused: Refused | None = None
        there = parts_posted
        for number, part in enumerate(parts, start=1):
            if number <= parts_posted:
                continue
            if refused is None:
                reply_to = delivery.answers if number == 1 else None
                outcome = await self._send("reply", delivery.room, delivery.id, number, part, reply_to)
                refused = outcome if isinstance(outcome, Refused) else None
                there += isinstance(outcome, Posted)
            else:
                outcome = Refused(refused.code, self._clock.now())
            await self._receipt(delivery, _receipt(number, len(parts), outcome))
        if refused is None:
            return None
        self._log.error("reply_incomplete", delivery=delivery.id, room=delivery.room.channel_id, code=refused.code)
        return INCOMPLETE if there else refused.code

    async def _send(
        self, purpose: Purpose, room: Room, subject: str, number: int, part: Part, reply_to: str | None
    ) -> Posted | Refused:
        named = nonce(purpose, room.channel_id, subject, number)
        return await self._sender.send(Outgoing(room.channel_id, part, named, reply_to))

    async def _receipt(self, delivery: Delivery, receipt: Receipt) -> None:
        async def attempt() -> bool:
            return await self._captain.receipt(delivery.id, receipt)

        try:
            await self._patience.until_done(attempt)
        except CaptainError as error:
            self._log.error("receipt_refused", delivery=delivery.id, part=receipt.part, kind=type(error).__name__)


def _receipt(part: int, of: int, outcome: Posted | Refused) -> Receipt:
    if isinstance(outcome, Posted):
        return Receipt(part=part, of=of, message_id=outcome.message_id, posted_at=outcome.at)
    return Receipt(part=part, of=of, code=outcome.code, posted_at=outcome.at)

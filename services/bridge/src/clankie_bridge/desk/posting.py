"""Words go into a room one after the other, each part with its receipt. Source: OUT-2, OUT-4, C30."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import notices, render
from clankie_bridge.core.artifacts import NOTE_UNITS
from clankie_bridge.core.crash_points import PART_POSTED, PART_RECEIPTED
from clankie_bridge.core.lateness import left_to_post
from clankie_bridge.core.message import id_before, written_at
from clankie_bridge.core.nonce import Purpose, nonce
from clankie_bridge.core.render import Part, Words
from clankie_bridge.desk.enclosing import Enclosing
from clankie_bridge.desk.room import Delivery, Room
from clankie_bridge.errors import CaptainError
from clankie_bridge.ports import Captain, Log, Outgoing, Posted, Refused, Search, Traces
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.result import Replied

INCOMPLETE: Final = "incomplete"
"""Evidence code of a reply of which some parts are in the room and others never will be. Source: C30."""

PICTURES_LEFT_OUT: Final = "pictures_left_out"
"""Evidence and receipt code of words that are in the room without all of their pictures. Source: ART-3."""

SAID: Final = frozenset({None, INCOMPLETE, PICTURES_LEFT_OUT})
"""Codes of replies of which something is in the room."""


@dataclass(frozen=True, slots=True)
class Extra:
    """Words that are no reply.

    Attributes:
        after: The message behind which they stand.
        inherited: Whether an earlier life of the bridge may have posted them.
        artifacts: The files that go with them.
    """

    purpose: Purpose
    room: Room
    action_id: str
    parts: tuple[Part, ...]
    reply_to: str | None
    after: str
    inherited: bool
    artifacts: tuple[Artifact, ...] = ()


@dataclass(slots=True)
class _Place:
    """Where the next part of a reply goes, and until when."""

    purpose: Purpose
    delivery: Delivery
    until: timedelta
    artifacts: tuple[Artifact, ...] = ()
    after: str = field(init=False)

    def __post_init__(self) -> None:
        self.after = id_before(self.delivery.message_id)


class Posting:
    """The only way into a room: its door is held from the first part until the last receipt."""

    def __init__(
        self,
        *,
        enclosing: Enclosing,
        traces: Traces,
        captain: Captain,
        patience: Patience,
        crash: Crash,
        clock: Clock,
        log: Log,
        updates_before: Callable[[Delivery, int], Awaitable[None]],
    ) -> None:
        self._enclosing = enclosing
        self._traces = traces
        self._captain = captain
        self._patience = patience
        self._crash = crash
        self._clock = clock
        self._log = log
        self._updates_before = updates_before

    async def reply(self, delivery: Delivery, result: Replied, parts_posted: int) -> str | None:
        """Post a reply, but for the parts that are there already; a code where not all of it is in the room.

        Source: OUT-1, OUT-4, OUT-5, C30.
        """
        if result.after_action is not None:
            await self._updates_before(delivery, result.after_action)
        parts = said(result.text, result.artifacts)
        async with delivery.room.door:
            delivery.sending = True
            delivery.stop_typing()
            # Before the words are there: whoever answers them may be faster than Discord's answer to us.
            delivery.room.exchange = delivery.room.exchange.spoken()
            if not parts:
                await self._receipt(delivery, Receipt(part=1, of=1, code="empty_reply", posted_at=self._clock.now()))
                return "empty_reply"
            return await self._parts(delivery, parts, parts_posted, result.artifacts)

    async def notice(self, delivery: Delivery, failure: FailureCode) -> None:
        """Say in one short message that no answer comes.

        Its nonce is of its own kind, so that an answer which comes after all is never taken for the notice.

        Source: ROOM-8, C45.
        """
        async with delivery.room.door:
            delivery.sending = True
            parts = (Words(notices.notice(failure)),)
            (earlier,) = await self._earlier(delivery, parts)
            outcome = await self._part(_Place("notice", delivery, self._until(delivery)), 1, parts[0], earlier)
            await self._receipt(delivery, _receipt(1, 1, outcome))

    async def nothing(self, delivery: Delivery, code: str) -> None:
        """Say that nothing will be posted for a delivery, so that nothing is owed."""
        async with delivery.room.door:
            await self._receipt(delivery, Receipt(part=1, of=1, code=code, posted_at=self._clock.now()))

    async def words(self, extra: Extra) -> ActionReceipt:
        """Post words that are no reply; the caller holds the room's door.

        Source: OUT-1.
        """
        first: str | None = None
        code: str | None = None
        after, parts, channel_id = extra.after, extra.parts, extra.room.channel_id
        found: tuple[str | None, ...] = (None,) * len(parts)
        if extra.inherited:
            found = await self._traces.of(Search(channel_id, parts, extra.reply_to, after))
        for number, (part, earlier) in enumerate(zip(parts, found, strict=True), start=1):
            named = nonce(extra.purpose, channel_id, extra.action_id, number)
            reply_to = extra.reply_to if number == 1 else None
            enclosed = extra.artifacts if number == render.last_message(parts) else ()
            outcome = _posted(earlier) or await self._enclosing.send(
                Outgoing(channel_id, part, named, reply_to, after), enclosed
            )
            if isinstance(outcome, Refused):
                return ActionReceipt(ok=False, message_id=first, code=outcome.code)
            code = PICTURES_LEFT_OUT if outcome.left_out else code
            first, after = first or outcome.message_id, outcome.message_id
        if first is None:
            return ActionReceipt(ok=False, code="empty_text")
        return ActionReceipt(ok=True, message_id=first, code=code)

    async def _parts(
        self, delivery: Delivery, parts: Sequence[Part], parts_posted: int, artifacts: tuple[Artifact, ...]
    ) -> str | None:
        refused: Refused | None = None
        code: str | None = None
        there, place = parts_posted, _Place("reply", delivery, self._until(delivery))
        for number, (part, earlier) in enumerate(
            zip(parts, await self._earlier(delivery, parts), strict=True), start=1
        ):
            if number <= parts_posted:
                place.after = earlier or place.after
                continue
            if refused is None:
                place.artifacts = artifacts if number == render.last_message(parts) else ()
                outcome = await self._part(place, number, part, earlier)
                if isinstance(outcome, Refused):
                    refused = outcome
                else:
                    there, code = there + 1, PICTURES_LEFT_OUT if outcome.left_out else code
                self._crash.reach(PART_POSTED)
            else:
                outcome = Refused(refused.code, self._clock.now())
            await self._receipt(delivery, _receipt(number, len(parts), outcome))
            self._crash.reach(PART_RECEIPTED)
        if refused is None:
            return code
        self._log.error("reply_incomplete", delivery=delivery.id, room=delivery.room.channel_id, code=refused.code)
        return INCOMPLETE if there else refused.code

    async def _earlier(self, delivery: Delivery, parts: Sequence[Part]) -> tuple[str | None, ...]:
        """For each part the message that an earlier life of the bridge has posted it as. Source: OUT-1."""
        if not delivery.inherited:
            return (None,) * len(parts)
        after = id_before(delivery.message_id)
        search = Search(delivery.room.channel_id, tuple(parts), delivery.message_id, after, delivery.settled_at)
        return await self._traces.of(search)

    async def _part(self, place: "_Place", number: int, part: Part, earlier: str | None) -> Posted | Refused:
        delivery = place.delivery
        outcome: Posted | Refused | None = _posted(earlier)
        if outcome is None:
            channel_id = delivery.room.channel_id
            named = nonce(place.purpose, channel_id, delivery.id, number)
            reply_to = delivery.answers if number == 1 else None
            outgoing = Outgoing(channel_id, part, named, reply_to, place.after, place.until)
            outcome = await self._enclosing.send(outgoing, place.artifacts)
        if isinstance(outcome, Posted):
            place.after = outcome.message_id
        return outcome

    def _until(self, delivery: Delivery) -> timedelta:
        """When it is too late for words, on the clock of elapsed time. Source: OUT-5."""
        left = left_to_post(delivery.settled_at, self._clock.now(), addressed=delivery.addressed)
        return self._clock.elapsed() + left

    async def _receipt(self, delivery: Delivery, receipt: Receipt) -> None:
        async def attempt() -> bool:
            return await self._captain.receipt(delivery.id, receipt)

        try:
            await self._patience.until_done(attempt)
        except CaptainError as error:
            self._log.error("receipt_refused", delivery=delivery.id, part=receipt.part, kind=type(error).__name__)


def said(text: str, artifacts: Sequence[Artifact] = ()) -> tuple[Part, ...]:
    """The parts of words; the last that is a message carries the files, and may say why one is missing.

    Files without words are a message as well. Source: ART-3, C60.
    """
    if not artifacts:
        return render.parts(text)
    return render.parts(text, bounds.MESSAGE_CHARS - NOTE_UNITS) or (Words(""),)


def _posted(earlier: str | None) -> Posted | None:
    return None if earlier is None else Posted(earlier, written_at(earlier))


def _receipt(part: int, of: int, outcome: Posted | Refused) -> Receipt:
    if isinstance(outcome, Posted):
        return Receipt(part=part, of=of, message_id=outcome.message_id, posted_at=outcome.at)
    return Receipt(part=part, of=of, code=outcome.code, posted_at=outcome.at)

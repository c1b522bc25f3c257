"""A room's messages go to the captain one by one, in the order in which they were written. Source: wire.md."""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, Final

from pydantic import ValidationError

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import addressing, exchange, handover, unfurling
from clankie_bridge.core.addressing import Address, Identity
from clankie_bridge.core.crash_points import HANDED_OVER, HANDING_OVER
from clankie_bridge.core.exchange import Exchange, ReplyPolicies
from clankie_bridge.core.handover import Heard
from clankie_bridge.core.message import Message
from clankie_bridge.desk.catching_up import CatchingUp
from clankie_bridge.desk.changes import Changes
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.pauses import pause
from clankie_bridge.desk.reading import Reading
from clankie_bridge.desk.room import CatchUp, Delivery, Item, Room, Rooms, Said, Talk
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.normalize import Change
from clankie_bridge.errors import CaptainAway, CaptainError, DeliveryConflict, TriggerRefused
from clankie_bridge.log import place_of
from clankie_bridge.ports import Captain, Changed, Evidence, Happened, Log, Settled
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash
from clankie_settings.ids import PresenceId
from clankie_settings.wire.problem import refused_field
from clankie_settings.wire.result import Pending

INVALID: Final = "invalid_trigger"
"""Evidence code of a message that the wire has no form for."""

CATCH_UP: Final = "catch_up"
"""Evidence code of a message that waits for a catch-up turn, or that carries one. Source: ING-4."""

NOT_REACHED: Final = frozenset({"no_connection", "draining", "store_full"})
"""Causes of a failed hand-over that surely left nothing with the captain."""


class Handing:
    """Works on rooms: one task for a room that has something waiting, none for the others."""

    def __init__(
        self,
        *,
        presence_id: PresenceId,
        identity: Callable[[str | None], Identity],
        policies: ReplyPolicies,
        directory: Directory,
        reading: Reading,
        changes: Changes,
        catching_up: CatchingUp,
        captain: Captain,
        patience: Patience,
        rooms: Rooms,
        deliveries: Deliveries,
        evidence: Evidence,
        tasks: Tasks,
        crash: Crash,
        clock: Clock,
        log: Log,
        finish: Callable[[Delivery, Settled | Pending], None],
        resumed: Callable[[], Awaitable[object]],
    ) -> None:
        self._presence_id = presence_id
        self._identity = identity
        self._policies = policies
        self._directory = directory
        self._reading = reading
        self._changes = changes
        self._catching_up = catching_up
        self._captain = captain
        self._patience = patience
        self._rooms = rooms
        self._deliveries = deliveries
        self._evidence = evidence
        self._tasks = tasks
        self._crash = crash
        self._clock = clock
        self._log = log
        self._finish = finish
        self._resumed = resumed

    def work(self, room: Room) -> None:
        """See to it that somebody works on what waits in a room."""
        if not room.busy and not room.held:
            room.busy = True
            self._tasks.spawn(self._work(room), "room")

    async def _work(self, room: Room) -> None:
        try:
            while room.waiting and not room.held:
                await self._guarded(self._await_preview(room))
                if room.waiting and not room.held:
                    item = room.waiting.popleft()
                    self._rooms.waiting -= 1
                    await self._guarded(self._take(room, item))
        finally:
            room.busy = False

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 -- one message's fault must not hold up those behind it
            self._log.error("message_failed", kind=type(error).__name__, where=place_of(error))

    async def _take(self, room: Room, item: Item) -> None:
        match item:
            case Change():
                await self._changes.carried_out(room, item)
            case Talk():
                self._hear(room, item.message)
            case Said():
                await self._admitted(room, item.message)
            case CatchUp():
                await self._catch_up(room)

    async def _await_preview(self, room: Room) -> None:
        """Wait for the preview of the message that is next, where it means nothing without; not for long."""
        while room.waiting and isinstance(first := room.waiting[0], Said):
            left = first.at + unfurling.LONGEST - self._clock.elapsed()
            identity = self._identity(room.guild_id)
            if left <= timedelta() or not unfurling.waits(first.message, identity):
                return
            await self._reading.warm(room, first.message, identity.bot_id)
            if not self._becomes_turn(room, first.message, room.exchange.heard(), identity):
                return
            room.stirred.clear()
            # Whatever came while the room was read up on has already taken the message's place.
            if room.waiting and room.waiting[0] is first:
                await pause(self._clock, left, room.stirred)

    def _becomes_turn(self, room: Room, message: Message, near: Exchange, identity: Identity) -> bool:
        place = self._directory.place(message.guild_id, message.channel_id)
        policy = self._policies.of(message.guild_id, message.channel_id, place.parent_id)
        address = addressing.judge(message, identity)
        return exchange.becomes_turn(policy, near, addressed=address.addressed, at_work=room.open > 0)

    def _hear(self, room: Room, message: Message) -> None:
        if message.author.id != self._identity(room.guild_id).bot_id:
            room.exchange = room.exchange.heard()
        room.remember(message)

    async def _admitted(self, room: Room, message: Message) -> None:
        identity = self._identity(message.guild_id)
        await self._reading.warm(room, message, identity.bot_id)
        message = await self._reading.with_target(room, message)
        window = room.recent()
        self._hear(room, message)
        if not self._becomes_turn(room, message, room.exchange, identity):
            waits = self._catching_up.wait(room, message)
            self._evidence.record(Happened.BUFFERED, message.id, room.channel_id, CATCH_UP if waits else None)
            return
        # What waited comes along with this one.
        self._catching_up.caught_up(room)
        await self._deliver(room, handover.Heard(message, addressing.judge(message, identity), window), identity)

    async def _catch_up(self, room: Room) -> None:
        waited = self._catching_up.caught_up(room)
        if not waited:
            return
        newest, covers = waited[-1], tuple(each.id for each in waited[:-1])
        identity = self._identity(room.guild_id)
        await self._reading.warm(room, newest, identity.bot_id)
        address = Address("catch_up", addressed=False)
        await self._deliver(room, handover.Heard(newest, address, room.recent(), covers), identity, CATCH_UP)

    async def _deliver(self, room: Room, heard: Heard, identity: Identity, code: str | None = None) -> None:
        message = heard.message
        place = self._directory.place(message.guild_id, message.channel_id)
        try:
            trigger = handover.trigger(heard, identity, place, self._presence_id)
        except ValidationError as error:
            self._log.error(INVALID, message_id=message.id, field=refused_field(error)[0])
            self._evidence.record(Happened.FAILED, message.id, message.channel_id, INVALID)
            return
        await self._resumed()
        if trigger.delivery_id in self._deliveries:
            self._evidence.record(Happened.DEDUPLICATED, message.id, message.channel_id)
            return
        await self._deliveries.place()
        delivery = self._deliveries.open(trigger.delivery_id, message.id, room, trigger)
        delivery.edited_at = message.edited_at
        try:
            answer = await self._hand_over(delivery)
        except BaseException:
            self._deliveries.close(delivery)
            raise
        if answer is None:
            self._deliveries.close(delivery)
            return
        delivery.accepted = True
        if trigger.addressed:
            room.exchange = room.exchange.addressed()
        self._evidence.record(Happened.ACCEPTED, message.id, message.channel_id, code)
        self._finish(delivery, answer)

    async def _hand_over(self, delivery: Delivery) -> Settled | Pending | None:
        room = delivery.room

        async def attempt() -> Settled | Pending | None:
            # The door opens between attempts: words that are ready must not wait for a captain that is down.
            async with room.door:
                return await self._attempt(delivery)

        async def stored() -> Settled | Pending:
            return await self._captain.result(delivery.id, 0)

        try:
            try:
                answer = await self._patience.until_done(attempt)
            except DeliveryConflict:
                self._log.info("delivery_conflict", delivery=delivery.id)
                delivery.held_body = None
                return await self._patience.until_done(stored)
            if answer is None:
                self._evidence.record(Happened.WITHDRAWN, delivery.message_id, room.channel_id)
        except TriggerRefused as refused:
            self._log.error("trigger_refused", delivery=delivery.id, code=refused.code, field=refused.field)
            self._evidence.record(Happened.FAILED, delivery.message_id, room.channel_id, refused.code)
        except CaptainError as error:
            self._log.error("hand_over_failed", delivery=delivery.id, kind=type(error).__name__)
            self._evidence.record(Happened.FAILED, delivery.message_id, room.channel_id, "hand_over_failed")
        else:
            return answer
        return None

    async def _attempt(self, delivery: Delivery) -> Settled | Pending | None:
        """One attempt with the words as they are now; None where they were taken back and the captain has none."""
        trigger, before = delivery.trigger, delivery.attempted
        if trigger is None:
            return None
        if delivery.gone and (not before or await self._captain.withdraw(delivery.id) is not Changed.STARTED):
            return None
        delivery.attempted = True
        delivery.doubted = delivery.doubted or before
        try:
            self._crash.reach(HANDING_OVER)
            answer = await self._captain.hand_over(trigger)
            self._crash.reach(HANDED_OVER)
        except CaptainAway as away:
            if away.cause in NOT_REACHED:
                delivery.attempted = before
            raise
        delivery.held_body = trigger.body
        return answer

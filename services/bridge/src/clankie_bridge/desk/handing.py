"""A room's messages go to the captain one by one, in the order in which they were written. Source: wire.md."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import addressing, exchange, handover
from clankie_bridge.core.addressing import Address, Identity, Names
from clankie_bridge.core.exchange import ReplyPolicies
from clankie_bridge.core.message import Message
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.room import Delivery, Item, Room, Rooms, Talk
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.normalize import Change
from clankie_bridge.errors import CaptainError, DeliveryConflict, TriggerRefused
from clankie_bridge.log import place_of
from clankie_bridge.ports import Captain, Evidence, Happened, History, Log, Settled
from clankie_settings.ids import PresenceId
from clankie_settings.wire.problem import refused_field
from clankie_settings.wire.result import Pending
from clankie_settings.wire.trigger import Trigger

INVALID: Final = "invalid_trigger"
"""Evidence code of a message that the wire has no form for."""


class Handing:
    """Works on rooms: one task for a room that has something waiting, none for the others."""

    def __init__(
        self,
        *,
        presence_id: PresenceId,
        names: Names,
        policies: ReplyPolicies,
        directory: Directory,
        history: History,
        captain: Captain,
        patience: Patience,
        rooms: Rooms,
        deliveries: Deliveries,
        evidence: Evidence,
        tasks: Tasks,
        log: Log,
        bot_id: Callable[[], str | None],
        finish: Callable[[Delivery, Settled | Pending], None],
        resumed: Callable[[], Awaitable[object]],
    ) -> None:
        self._presence_id = presence_id
        self._names = names
        self._policies = policies
        self._directory = directory
        self._history = history
        self._captain = captain
        self._patience = patience
        self._rooms = rooms
        self._deliveries = deliveries
        self._evidence = evidence
        self._tasks = tasks
        self._log = log
        self._bot_id = bot_id
        self._finish = finish
        self._resumed = resumed

    def work(self, room: Room) -> None:
        """See to it that somebody works on what waits in a room."""
        if not room.busy:
            room.busy = True
            self._tasks.spawn(self._work(room), "room")

    async def _work(self, room: Room) -> None:
        try:
            while room.waiting:
                item = room.waiting.popleft()
                self._rooms.waiting -= 1
                try:
                    await self._take(room, item)
                except Exception as error:  # noqa: BLE001 -- one message's fault must not hold up those behind it
                    self._log.error("message_failed", kind=type(error).__name__, where=place_of(error))
        finally:
            room.busy = False

    async def _take(self, room: Room, item: Item) -> None:
        match item:
            case Change():
                room.apply(item)
            case Talk():
                self._hear(room, item.message)
            case Message():
                await self._admitted(room, item)

    def _hear(self, room: Room, message: Message) -> None:
        if message.author.id != self._bot_id():
            room.exchange = room.exchange.heard()
        room.remember(message)

    async def _admitted(self, room: Room, message: Message) -> None:
        identity = self._identity(message)
        await self._warm(room, message, identity)
        message = await self._with_target(room, message)
        address = addressing.judge(message, identity)
        place = self._directory.place(message.guild_id, message.channel_id)
        policy = self._policies.of(message.guild_id, message.channel_id, place.parent_id)
        window = room.recent()
        self._hear(room, message)
        if not exchange.becomes_turn(policy, room.exchange, addressed=address.addressed, at_work=room.open > 0):
            self._evidence.record(Happened.BUFFERED, message.id, message.channel_id)
            return
        await self._deliver(room, message, address, window, identity)

    async def _deliver(
        self, room: Room, message: Message, address: Address, window: tuple[Message, ...], identity: Identity
    ) -> None:
        place = self._directory.place(message.guild_id, message.channel_id)
        try:
            trigger = handover.trigger(handover.Heard(message, address, window), identity, place, self._presence_id)
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
        try:
            answer = await self._hand_over(delivery, trigger)
        except BaseException:
            self._deliveries.close(delivery)
            raise
        if answer is None:
            self._deliveries.close(delivery)
            return
        if trigger.addressed:
            room.exchange = room.exchange.addressed()
        self._evidence.record(Happened.ACCEPTED, message.id, message.channel_id)
        self._finish(delivery, answer)

    async def _hand_over(self, delivery: Delivery, trigger: Trigger) -> Settled | Pending | None:
        room = delivery.room

        async def attempt() -> Settled | Pending:
            # The door opens between attempts: words that are ready must not wait for a captain that is down.
            async with room.door:
                return await self._captain.hand_over(trigger)

        async def stored() -> Settled | Pending:
            return await self._captain.result(delivery.id, 0)

        try:
            try:
                return await self._patience.until_done(attempt)
            except DeliveryConflict:
                self._log.info("delivery_conflict", delivery=delivery.id)
                return await self._patience.until_done(stored)
        except TriggerRefused as refused:
            self._log.error("trigger_refused", delivery=delivery.id, code=refused.code, field=refused.field)
            self._evidence.record(Happened.FAILED, delivery.message_id, room.channel_id, refused.code)
        except CaptainError as error:
            self._log.error("hand_over_failed", delivery=delivery.id, kind=type(error).__name__)
            self._evidence.record(Happened.FAILED, delivery.message_id, room.channel_id, "hand_over_failed")
        return None

    def _identity(self, message: Message) -> Identity:
        bot_id = self._bot_id() or ""
        return Identity(bot_id, self._directory.roles_of(message.guild_id, bot_id), self._names)

    async def _warm(self, room: Room, message: Message, identity: Identity) -> None:
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
            recalled = exchange.recalled([each.author.id == identity.bot_id for each in found])
            room.exchange = replace(room.exchange, since=recalled.since)
        if message.in_thread and room.opener is None and message.id != room.channel_id:
            room.opener = await self._opener(room)

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

    async def _with_target(self, room: Room, message: Message) -> Message:
        """The message with what it answers, where Discord sent only its id."""
        reference = message.reference
        if reference is None or reference.message is not None or reference.gone:
            return message
        target = next((each for each in room.window if each.id == reference.message_id), None)
        if target is None:
            target = await self._history.message(room.channel_id, room.guild_id, reference.message_id)
        return replace(message, reference=replace(reference, message=target))

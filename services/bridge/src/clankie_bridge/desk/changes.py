"""Edits, deletions and late previews of messages, wherever the message is just then. Source: ING-7, IMG-9."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core import speech
from clankie_bridge.core.addressing import Identity
from clankie_bridge.core.message import Message
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.room import Delivery, Room, Rooms, Said
from clankie_bridge.discord.normalize import Change
from clankie_bridge.errors import CaptainError
from clankie_bridge.ports import Captain, Changed, Evidence, Happened, Log
from clankie_settings.wire.command import Edit

EDITED: Final = "edited"
"""Evidence code of words that were replaced before a run heard them."""


class Changes:
    """Takes each change twice: at once, for what still waits here; and in its order, for what the captain has."""

    def __init__(
        self,
        *,
        captain: Captain,
        patience: Patience,
        rooms: Rooms,
        deliveries: Deliveries,
        evidence: Evidence,
        log: Log,
        identity: Callable[[str | None], Identity],
    ) -> None:
        self._captain = captain
        self._patience = patience
        self._rooms = rooms
        self._deliveries = deliveries
        self._evidence = evidence
        self._log = log
        self._identity = identity

    def taken(self, room: Room, change: Change) -> bool:
        """Change what waits here to be handed over; whether the change has to be carried out in its turn as well."""
        delivery = self._deliveries.get(change.message_id)
        if delivery is not None:
            self._note(delivery, change)
            return True
        for index, item in enumerate(room.waiting):
            if isinstance(item, Said) and item.message.id == change.message_id:
                self._change_waiting(room, index, item, change)
                return False
        room.change_drifted(change)
        return room.is_followed

    async def carried_out(self, room: Room, change: Change) -> None:
        """Change the window, and what the captain has of the message while no run has heard it."""
        room.apply(change)
        delivery = self._deliveries.get(change.message_id)
        if delivery is None or delivery.settled is not None:
            return
        try:
            if change.kind == "deleted":
                await self._patience.until_done(lambda: self._captain.withdraw(delivery.id))
            elif change.kind == "edited" and change.message is not None:
                await self._edit(delivery, change.message)
        except CaptainError as error:
            self._log.warning("change_refused", delivery=delivery.id, kind=type(error).__name__)

    def _change_waiting(self, room: Room, index: int, item: Said, change: Change) -> None:
        if change.kind == "deleted":
            del room.waiting[index]
            self._rooms.waiting -= 1
            self._evidence.record(Happened.WITHDRAWN, change.message_id, room.channel_id)
        elif change.message is not None:
            room.waiting[index] = Said(change.message, item.at)
        room.stirred.set()

    def _note(self, delivery: Delivery, change: Change) -> None:
        if change.kind == "deleted":
            delivery.gone = True
        elif change.kind == "edited" and change.message is not None and not delivery.accepted:
            body = self._body(change.message)
            if delivery.trigger is not None and body is not None:
                delivery.trigger = delivery.trigger.model_copy(update={"body": body})

    async def _edit(self, delivery: Delivery, message: Message) -> None:
        # A preview that comes after an edit carries the edit's time once more.
        if message.edited_at is None or message.edited_at == delivery.edited_at:
            return
        delivery.edited_at = message.edited_at
        body, edited_at = self._body(message), _moment(message.edited_at)
        if body is None or body == delivery.held_body or edited_at is None:
            return
        edit = Edit(body=body, edited_at=edited_at)
        if await self._patience.until_done(lambda: self._captain.edit(delivery.id, edit)) is Changed.DONE:
            delivery.held_body = body
            if delivery.trigger is not None:
                delivery.trigger = delivery.trigger.model_copy(update={"body": body})
            self._evidence.record(Happened.ACCEPTED, delivery.message_id, delivery.room.channel_id, EDITED)

    def _body(self, message: Message) -> str | None:
        return speech.body(message, self._identity(message.guild_id))


def _moment(timestamp: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None

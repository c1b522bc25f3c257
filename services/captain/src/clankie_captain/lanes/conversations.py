"""The operator's conversations: lanes that steer only where they are asked to. Source: OPS-1, OPS-2."""

import hashlib
from dataclasses import dataclass
from typing import Final

from clankie_captain.core.lane import OPERATOR
from clankie_captain.core.turns import Turn
from clankie_captain.lanes.desk import Desk
from clankie_settings.clock import Clock, Ids
from clankie_settings.wire.operator import OperatorMessage
from clankie_settings.wire.trigger import Actor, Room, Trigger
from clankie_settings.wire.version import WIRE_VERSION

OPERATOR_ACTOR: Final = "operator"
"""The actor id as which the operator speaks; no platform's id is like it."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """The operator's desk."""

    desk: Desk
    clock: Clock
    ids: Ids

    def begin(self) -> str:
        """A name for a new conversation; it is a lane as soon as something is said in it."""
        return self.ids.new("c")

    async def say(self, conversation: str, message: OperatorMessage) -> Turn:
        """Accept a message of the operator's, once for each of its client's ids.

        Raises:
            DeliveryConflictError: The client's id came with another text before.
            DrainingError: The captain is stopping.
        """
        delivery = _delivery(conversation, message.client_id)
        trigger = Trigger(
            wire_version=WIRE_VERSION,
            delivery_id=delivery,
            presence_id=OPERATOR,
            kind="message",
            room=Room(platform="console", channel_id=conversation),
            actor=Actor(actor_id=OPERATOR_ACTOR, display_name="operator"),
            message_id=delivery,
            sent_at=self.clock.now(),
            body=message.text,
            addressed=True,
            delivery=message.delivery or "auto",
        )
        return await self.desk.accept(trigger)


def _delivery(conversation: str, client_id: str) -> str:
    return "c-" + hashlib.sha256(f"{conversation} {client_id}".encode()).hexdigest()[:40]

"""Deliveries, results and receipts at the captain's door, one attempt a call. Source: wire.md."""

from collections.abc import Callable
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from clankie_bridge.captain.connection import Connection
from clankie_bridge.errors import CaptainAway, DeliveryConflict, DeliveryUnknown
from clankie_bridge.ports import Changed, Settled
from clankie_settings.ids import PresenceId
from clankie_settings.wire.command import Command, CommandAnswer, Edit
from clankie_settings.wire.receipt import ActionReceipt, Owed, OwedList, Receipt, ReceiptAnswer
from clankie_settings.wire.result import ANSWER, Pending
from clankie_settings.wire.trigger import Trigger

Read = TypeVar("Read")

DISCORD: Final = PresenceId("discord")
"""The presence that speaks unless another is named."""


class CaptainTurns:
    """The captain as the bridge uses it."""

    def __init__(self, connection: Connection, presence_id: PresenceId = DISCORD) -> None:
        self._connection = connection
        self._commands = f"/v1/presences/{presence_id}/commands"

    async def hand_over(self, trigger: Trigger, wait_s: int = 0) -> Settled | Pending:
        """Hand a delivery over; an answer means that it is on the captain's disk.

        Raises:
            CaptainError: See ``errors.py``.

        Source: WIRE-5, WIRE-6.
        """
        response = await self._connection.call("POST", "/v1/turns", wait_s=wait_s, json=written(trigger))
        return read(ANSWER.validate_json, response.content)

    async def result(self, delivery_id: str, wait_s: int) -> Settled | Pending:
        """Wait up to ``wait_s`` seconds for a result.

        Raises:
            CaptainError: See ``errors.py``.
        """
        response = await self._connection.call("GET", f"/v1/turns/{delivery_id}", wait_s=wait_s)
        return read(ANSWER.validate_json, response.content)

    async def edit(self, delivery_id: str, edit: Edit) -> Changed:
        """Replace the words of a delivery while no run has heard it.

        Raises:
            CaptainError: See ``errors.py``.

        Source: ING-7.
        """
        return await self._while_queued("PATCH", delivery_id, written(edit))

    async def withdraw(self, delivery_id: str) -> Changed:
        """Take a delivery back while no run has heard it.

        Raises:
            CaptainError: See ``errors.py``.

        Source: ING-7.
        """
        return await self._while_queued("DELETE", delivery_id)

    async def _while_queued(self, method: str, delivery_id: str, json: str | None = None) -> Changed:
        try:
            await self._connection.call(method, f"/v1/turns/{delivery_id}", json=json)
        except DeliveryConflict:
            return Changed.STARTED
        except DeliveryUnknown:
            return Changed.UNKNOWN
        return Changed.DONE

    async def command(self, command: Command) -> str:
        """Give a command; the answer is for its giver alone.

        Raises:
            CaptainError: See ``errors.py``.

        Source: OPS-5.
        """
        response = await self._connection.call("POST", self._commands, json=written(command))
        return read(CommandAnswer.model_validate_json, response.content).text

    async def owed(self) -> tuple[Owed, ...]:
        """What this presence's rooms still lack, oldest first.

        Raises:
            CaptainError: See ``errors.py``.
        """
        response = await self._connection.call("GET", "/v1/turns", params={"owed": "true"})
        return read(OwedList.model_validate_json, response.content).turns

    async def receipt(self, delivery_id: str, receipt: Receipt) -> bool:
        """Record what became of one part of a reply; the answer is whether anything is still owed.

        Raises:
            CaptainError: See ``errors.py``.

        Source: OPS-7, OUT-4.
        """
        path = f"/v1/turns/{delivery_id}/receipts"
        response = await self._connection.call("POST", path, json=written(receipt))
        return read(ReceiptAnswer.model_validate_json, response.content).owed

    async def action_receipt(self, action_id: str, receipt: ActionReceipt) -> None:
        """Acknowledge a stored action.

        Raises:
            CaptainError: See ``errors.py``.
        """
        await self._connection.call("POST", f"/v1/actions/{action_id}/receipt", json=written(receipt))


def written(shape: BaseModel) -> str:
    """A shape as it is sent."""
    return shape.model_dump_json(exclude_none=True)


def read(reader: Callable[[bytes], Read], content: bytes) -> Read:
    """An answer as ``reader`` understands it.

    Raises:
        CaptainAway: It does not.
    """
    try:
        return reader(content)
    except ValidationError:
        # From None: the error holds the answer's content.
        raise CaptainAway("unreadable_answer") from None

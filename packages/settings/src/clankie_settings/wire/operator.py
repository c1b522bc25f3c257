"""The operator's conversations. Source: OPS-1, OPS-2."""

from typing import Literal

from clankie_settings.wire.scalars import Body, Id, WireModel

OperatorDelivery = Literal["steer", "queue"]
"""Join the live run, or wait for a turn of its own; both start one where nothing runs. Source: OPS-1."""


ReceiptState = Literal["queued", "running", "steered", "replied", "absorbed", "silent", "failed"]
"""How a message of the operator's stands: it waits, it runs, it joins a run, or what it got."""


class Conversation(WireModel):
    """A conversation of the operator's."""

    conversation_id: Id


class OperatorMessage(WireModel):
    """``POST /v1/conversations/{id}/messages``; the same ``client_id`` again is the same message."""

    text: Body
    delivery: OperatorDelivery | None = None
    client_id: Id


class RunReceipt(WireModel):
    """What an accepted message is waited for, and cancelled, by."""

    run_receipt: Id
    state: ReceiptState

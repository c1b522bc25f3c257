"""``clankie send``: say something to him as the operator. Source: OPS-3."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from clankie_cli import exits, outcome
from clankie_cli.door import Door
from clankie_cli.errors import NotReachable, RefusedError
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_settings.environment import launch_settings
from clankie_settings.wire.operator import OperatorDelivery

AGAIN_AFTER: Final = timedelta(seconds=1)
"""How long to wait before the captain is asked again after it broke off."""

GIVE_UP_AFTER: Final = timedelta(minutes=2)
"""For how long a captain that has gone is waited for; a restart takes seconds."""

NOT_UTF_8: Final = "the message is no UTF-8 text; convert it first"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """What to say, where, and how.

    Attributes:
        conversation: The conversation's name; None begins one.
        text: The words.
        delivery: Join the live run, or wait for a turn of its own; None lets the captain decide.
        client_id: The same id again is the same message; None is a fresh one.
    """

    conversation: str | None
    text: str
    delivery: OperatorDelivery | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """Whether to wait for the turn, for how long at most, and whether a program reads the answer."""

    wait: bool = False
    within: timedelta | None = None
    as_json: bool = False


def fault(text: str) -> str | None:
    """Why these words cannot be sent, if they cannot."""
    if not text.strip():
        return "the message is empty"
    if len(text) > bounds.BODY_CHARS:
        return f"the message has more than {bounds.BODY_CHARS} characters"
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        return NOT_UTF_8
    return "the message holds a NUL character" if "\0" in text else None


async def run(env: Mapping[str, str], message: Message, manner: Manner) -> int:
    """Send, and with ``wait`` wait until the turn settles; the exit code of ``exits.py``.

    Raises:
        SettingsError: A setting is unusable.
        NotReachable: Nothing answers there.
        RefusedError: The captain will not take it.
    """
    async with Door.opened(launch_settings(env)) as door:
        return await Sending(door, SystemClock(), RandomIds()).send(message, manner)


class Sending:
    """One message on its way."""

    def __init__(self, door: Door, clock: Clock, ids: Ids) -> None:
        self._door = door
        self._clock = clock
        self._ids = ids

    async def send(self, message: Message, manner: Manner) -> int:
        """Hand the message over, and wait where that is wanted.

        Raises:
            NotReachable: The captain is gone.
            RefusedError: The captain will not take it.
        """
        conversation = message.conversation
        if conversation is None:
            conversation = str((await self._door.post("/v1/conversations"))["conversation_id"])
            _aside(f"conversation {conversation}")
        document = {"text": message.text, "client_id": message.client_id or self._ids.new("cli")}
        if message.delivery is not None:
            document["delivery"] = message.delivery
        accepted = await self._door.post(f"/v1/conversations/{conversation}/messages", document)
        receipt = str(accepted["run_receipt"])
        if not manner.wait:
            shown = {"conversation_id": conversation, **accepted}
            print(json.dumps(shown) if manner.as_json else f"{receipt} {accepted['state']}", flush=True)
            return exits.DONE
        _aside(f"accepted as {receipt}")
        result = await self._settled(receipt, manner.within)
        if result is None:
            _aside(f"not settled yet; it goes on, and ends with: clankie cancel {receipt}")
            return exits.NOT_SETTLED
        _show({"conversation_id": conversation, **result} if manner.as_json else result, as_json=manner.as_json)
        return outcome.code_of(result)

    async def _settled(self, receipt: str, within: timedelta | None) -> Json | None:
        began, heard = self._clock.elapsed(), self._clock.elapsed()
        longest = timedelta(seconds=bounds.WAIT_SECONDS)
        while True:
            now = self._clock.elapsed()
            left = longest if within is None else within - (now - began)
            if left <= timedelta():
                return None
            try:
                result = await self._door.turn(receipt, min(left, longest))
            except (NotReachable, RefusedError) as error:
                gone = isinstance(error, NotReachable) or error.passes
                if not gone or now - heard > GIVE_UP_AFTER:
                    raise
            else:
                if result is not None:
                    return result
                heard = self._clock.elapsed()
            # Not at once: a captain that stops lets whoever waits go at once.
            await self._clock.sleep(min(AGAIN_AFTER, max(left, timedelta())))


def _show(result: Json, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, ensure_ascii=False), flush=True)
        return
    said, besides = outcome.words(result)
    if said is not None:
        print(said, flush=True)
    if besides is not None:
        _aside(besides)


def _aside(text: str) -> None:
    """Say something that is no part of the answer."""
    print(f"clankie: {text}", file=sys.stderr, flush=True)

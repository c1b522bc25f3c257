"""The captain's stream of actions, resumed where it broke. Source: wire.md."""

from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Final

import httpx
from httpx_sse import SSEError, aconnect_sse
from pydantic import ValidationError

from clankie_bridge.captain.connection import Connection, cause_of, check, check_version
from clankie_bridge.errors import CaptainAway
from clankie_bridge.ports import Log, Signal
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import UnknownActionError, read_action

ALIVE: Final = Signal(sequence=None, action=None)
"""Nothing to do: the stream is still there."""

_SILENCE_S: Final = 3 * bounds.SSE_COMMENT_EVERY.total_seconds()


class CaptainActions:
    """Follows the actions of one presence."""

    def __init__(self, connection: Connection, presence_id: PresenceId, log: Log) -> None:
        self._connection = connection
        self._path = f"/v1/presences/{presence_id}/actions"
        self._log = log

    async def follow(self, after: int | None) -> AsyncGenerator[Signal, None]:
        """The actions after the one with this number, or all that are unacknowledged, until the connection ends.

        An action that this side cannot read is given as one without content, so that its number is not lost; that the
        stream is alive is told by one without a number too.

        Raises:
            CaptainError: See ``errors.py``.
        """
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        limits = httpx.Timeout(_SILENCE_S, connect=2.0)
        try:
            async with aconnect_sse(
                self._connection.client, "GET", self._path, headers=headers, timeout=limits
            ) as source:
                if source.response.status_code != HTTPStatus.OK:
                    await source.response.aread()
                    check(source.response)
                check_version(source.response.headers)
                self._connection.reachable = True
                async for event in source.aiter_sse():
                    # A comment that keeps the stream alive ends as an empty event that repeats the last id.
                    yield self._signal(event.event, event.data, event.id) if event.data else ALIVE
        except SSEError:
            raise CaptainAway("unreadable_answer") from None
        except httpx.HTTPError as error:
            self._connection.reachable = False
            raise CaptainAway(cause_of(error)) from None

    def _signal(self, name: str, data: str, number: str) -> Signal:
        sequence = int(number) if number.isascii() and number.isdecimal() else None
        try:
            return Signal(sequence, read_action(name, data))
        except UnknownActionError:
            self._log.warning("action_unknown", sequence=sequence)
        except ValidationError:
            self._log.warning("action_unreadable", sequence=sequence)
        return Signal(sequence, None)

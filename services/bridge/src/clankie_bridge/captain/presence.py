"""The presence at the captain's door: its lease, and the rooms that it stood in. Source: wire.md."""

from typing import Final

from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.turns import read, written
from clankie_bridge.errors import CaptainAway, CaptainError
from clankie_settings.ids import PresenceId
from clankie_settings.wire.lease import Lease, LeaseRequest
from clankie_settings.wire.receipt import KnownRooms

DRAINING: Final = "draining"
"""The problem code of a captain that stops. Source: DUR-5."""


class CaptainPresence:
    """What the captain keeps for this presence."""

    def __init__(self, connection: Connection, presence_id: PresenceId) -> None:
        self._connection = connection
        self._path = f"/v1/presences/{presence_id}"

    async def lease(self, request: LeaseRequest) -> Lease:
        """Get or renew the lease, or give it back.

        Raises:
            PresenceTaken: Another process holds it.
            CaptainError: See ``errors.py``.

        Source: C74.
        """
        response = await self._connection.call("PUT", f"{self._path}/lease", json=written(request))
        return read(Lease.model_validate_json, response.content)

    async def rooms(self) -> KnownRooms:
        """The rooms that this presence stood in, newest first.

        Raises:
            CaptainError: See ``errors.py``.

        Source: ING-9.
        """
        response = await self._connection.call("GET", f"{self._path}/rooms")
        return read(KnownRooms.model_validate_json, response.content)

    async def drains(self) -> bool:
        """Whether the captain stops, and is still there for the runs that it lets end; False where it does not answer.

        Source: DUR-5.
        """
        try:
            await self._connection.call("GET", "/readyz")
        except CaptainAway as away:
            return away.cause == DRAINING
        except CaptainError:
            return False
        return False

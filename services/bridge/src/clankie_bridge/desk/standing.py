"""The lease by which this process is the only bridge on its token. Source: C74, OUT-1."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from clankie_bridge.captain.patience import Patience
from clankie_bridge.desk.pauses import pause
from clankie_bridge.errors import CannotStart, CaptainAway, CaptainError, CaptainRefuses, PresenceTaken, StartAgain
from clankie_bridge.instance import Instance
from clankie_bridge.ports import Log, Presence
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.wire.lease import Lease, LeaseRequest

ANOTHER: Final = (
    "another bridge already runs with this token: stop it, or give this one a bot and a captain of its own, "
    "then start again"
)
TAKEN_OVER: Final = "another bridge runs with this token and has taken over from this one: stop one of the two"

CHANGED_HANDS: Final = (
    "the lease was another bridge's meanwhile, so what this one still has in hand may be done already"
)

_TTL: Final = timedelta(seconds=bounds.LEASE_SECONDS)
_REFUSED_EVERY: Final = timedelta(seconds=1)
_PATIENCE: Final = 2 * _TTL


class Standing:
    """Gets the lease, keeps it, and lets nobody act in its name without it.

    Attributes:
        listening_at: When it was last true that nothing escapes this bridge; None before the first time.
    """

    def __init__(
        self,
        *,
        presence: Presence,
        instance: Instance,
        patience: Patience,
        clock: Clock,
        log: Log,
    ) -> None:
        self._presence = presence
        self._instance = instance
        self._patience = patience
        self._clock = clock
        self._log = log
        self._terms: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self._judged = asyncio.Event()
        self._renewed = asyncio.Condition()
        self._wanted = asyncio.Event()
        self._until: timedelta | None = None
        self._refused_since: timedelta | None = None
        self.listening_at: datetime | None = None

    async def run(self, listens: Callable[[], bool]) -> None:
        """Ask for the lease, and renew it for as long as the bridge lives.

        ``listens`` tells whether nothing that is written can escape just now.

        Raises:
            CannotStart: Another bridge has it.
            StartAgain: Another one had it meanwhile, or the captain's store is another one now.
        """
        misses = 0
        while True:
            self._wanted.clear()
            try:
                await self._renew(listens())
            except PresenceTaken:
                await self._refused()
            except (CaptainAway, CaptainRefuses) as error:
                self._judged.set()
                await self._patience.pause(error, misses)
                misses += 1
            except CaptainError as error:
                self._log.error("lease_refused", kind=type(error).__name__)
                await self._clock.sleep(bounds.LEASE_RENEWED_EVERY)
            else:
                misses = 0
                await pause(self._clock, bounds.LEASE_RENEWED_EVERY, self._wanted)

    def renew(self) -> None:
        """Renew now, since something has changed."""
        self._wanted.set()

    async def held(self) -> Lease:
        """Wait until the lease is this process's; what was agreed then."""
        return await asyncio.shield(self._terms)

    async def judged(self) -> None:
        """Wait until the lease is this process's, or nobody can say whose it is."""
        await self._judged.wait()

    async def proven(self) -> None:
        """Wait until nobody else may act in this bridge's name, for a moment at least.

        A process that was stopped and wakes asks again before it does anything: another one may have taken over.
        """
        if self._stands:
            return
        async with self._renewed:
            self._wanted.set()
            await self._renewed.wait_for(lambda: self._stands)

    async def give_back(self) -> None:
        """Let the next process begin at once."""
        if self._until is None:
            return
        try:
            async with asyncio.timeout(2):
                await self._presence.lease(LeaseRequest(instance_id=self._instance.id, ttl_s=0))
        except (CaptainError, TimeoutError):
            self._log.info("lease_kept", seconds=bounds.LEASE_SECONDS)

    @property
    def _stands(self) -> bool:
        return self._until is not None and self._clock.elapsed() < self._until

    async def _renew(self, listening: bool) -> None:
        asked_at, now = self._clock.elapsed(), self._clock.now()
        request = LeaseRequest(
            instance_id=self._instance.id,
            ttl_s=bounds.LEASE_SECONDS,
            listening=listening,
            replaces=self._instance.replaces if not self._terms.done() else None,
        )
        lease = await self._presence.lease(request)
        self._patience.heard()
        if not self._terms.done():
            self._instance.claim()
            self._terms.set_result(lease)
            self._judged.set()
            self.listening_at = lease.missed_since
        elif lease.fence != self._terms.result().fence:
            # Another one held it in between, and may have posted what this one still has in hand.
            raise StartAgain(CHANGED_HANDS)
        if listening:
            self.listening_at = now
        self._until = asked_at + _TTL
        async with self._renewed:
            self._renewed.notify_all()

    async def _refused(self) -> None:
        if self._terms.done():
            raise CannotStart(TAKEN_OVER)
        if self._refused_since is None:
            self._refused_since = self._clock.elapsed()
        elif self._clock.elapsed() - self._refused_since >= _PATIENCE:
            raise CannotStart(ANOTHER)
        self._patience.told("presence_leased", "another bridge holds the lease; waiting for it to end")
        await self._clock.sleep(_REFUSED_EVERY)

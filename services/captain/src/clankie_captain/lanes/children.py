"""Work in the background, as its operator looks at it and ends it. Source: LOOP-6."""

from dataclasses import dataclass
from typing import Final

from clankie_captain.core.children import Child
from clankie_captain.core.settlement import Settled
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.signals import Nudge, Signals
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.ports import Children as Rows
from clankie_settings.clock import Clock
from clankie_settings.ids import ChildId, DeliveryId

SHOWN: Final = 100
"""Children that are listed at most, the newest first."""


@dataclass(frozen=True, slots=True)
class Children:
    """The desk for children; what begins and ends them otherwise are the runs themselves."""

    rows: Rows
    registry: Registry
    settlements: Waiters[Settled]
    signals: Signals
    clock: Clock

    async def newest(self) -> tuple[Child, ...]:
        """The children that were forked last."""
        return await self.rows.newest(SHOWN)

    async def cancel(self, child: ChildId) -> Child | None:
        """End a child; its lane is told so. None where there is no such. One that has ended stays as it is."""
        ending = await self.rows.cancel(child, self.clock.now())
        if ending is None:
            return None
        if ending.run is not None:
            self.registry.cancel(ending.run)
        if ending.result is not None:
            self.settlements.give((ending.child.presence, DeliveryId(child)), ending.result)
            self.signals.send(ending.child.forked_from, Nudge())
        if ending.told is not None:
            self.registry.start(ending.told)
        return ending.child

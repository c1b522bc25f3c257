"""Where deliveries are accepted, once each, and waited for. Source: WIRE-5, WIRE-6."""

from dataclasses import replace
from datetime import timedelta

from clankie_captain.core import crash_points
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import Turn
from clankie_captain.errors import DrainingError
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.signals import Nudge, Signals
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.ports import Changes, Deliveries, Lanes
from clankie_settings.clock import Clock, Ids
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger


class Desk:
    """Accepts deliveries and lets callers wait; a caller that hangs up never ends a run."""

    def __init__(
        self,
        lanes: Lanes,
        deliveries: Deliveries,
        changes: Changes,
        registry: Registry,
        settlements: Waiters[Settled],
        signals: Signals,
        grants: Grants,
        clock: Clock,
        ids: Ids,
        gallery: Gallery,
        crash: Crash | None = None,
    ) -> None:
        self._lanes = lanes
        self._deliveries = deliveries
        self._changes = changes
        self._registry = registry
        self._settlements = settlements
        self._signals = signals
        self._grants = grants
        self._clock = clock
        self._ids = ids
        self._gallery = gallery
        self._crash = crash or NoCrash()
        self._draining = False

    @property
    def draining(self) -> bool:
        """Whether the captain takes nothing new."""
        return self._draining

    async def accept(self, trigger: Trigger) -> Turn:
        """Put the delivery on disk and on its way; the same one again is found as it is, while draining too.

        Raises:
            DeliveryConflictError: The id was accepted with other content.
            DrainingError: It is new, and the captain is stopping.
        """
        return await self._accept(trigger, awaited=True)

    async def report(self, trigger: Trigger) -> Turn:
        """Accept a delivery of the captain's own, for whose result no presence waits; its words go out as a ``post``.

        They answer ``reply_to`` of the trigger, where there is one. The same delivery again is not done again.

        Raises:
            DeliveryConflictError: The id was accepted with other content.
            DrainingError: It is new, and the captain is stopping.

        Source: wire.md.
        """
        return await self._accept(trigger, awaited=False)

    async def _accept(self, trigger: Trigger, *, awaited: bool) -> Turn:
        if self._draining:
            known = await self._lanes.known(trigger)
            if known is None:
                raise DrainingError
            return known
        turn = TurnId(self._ids.new("turn"))
        run = RunId(self._ids.new("run"))
        lane = await self._grants.place(trigger, turn)
        accepted = await self._lanes.accept(trigger, lane, turn, run, self._clock.now(), awaited=awaited)
        if accepted.new:
            self._crash.reach(crash_points.ADMITTED)
        if accepted.new and accepted.turn.result is None:
            self._gallery.begin(accepted.turn.presence, accepted.turn.delivery, trigger)
        self._signals.send(accepted.turn.lane, Nudge())
        if accepted.started is not None:
            self._registry.start(accepted.started)
        if accepted.stops is not None:
            self._registry.cancel(accepted.stops)
        return accepted.turn

    async def edit(self, presence: PresenceId, delivery: DeliveryId, body: str) -> Turn:
        """Replace the words of a delivery that no run has heard.

        Raises:
            UnknownDeliveryError: The presence has no such delivery.
            StartedError: It is too late.
        """
        return await self._changes.edit(presence, delivery, body)

    async def withdraw(self, presence: PresenceId, delivery: DeliveryId) -> Turn:
        """Settle a delivery that no run has heard as withdrawn.

        Raises:
            UnknownDeliveryError: The presence has no such delivery.
            StartedError: It is too late.
        """
        turn = await self._changes.withdraw(presence, delivery, self._clock.now())
        self._give(turn)
        return turn

    async def cancel(self, presence: PresenceId, delivery: DeliveryId) -> Turn:
        """End a turn: one that nobody heard is settled at once, one that owns a run ends with its run.

        Raises:
            UnknownDeliveryError: The presence has no such delivery.

        Source: OPS-1.
        """
        cancelled = await self._changes.cancel(presence, delivery, self._clock.now())
        if cancelled.run is not None:
            self._registry.cancel(cancelled.run)
        self._give(cancelled.turn)
        return cancelled.turn

    def _give(self, turn: Turn) -> None:
        if turn.result is not None:
            self._settlements.give((turn.presence, turn.delivery), turn.result)
            self._signals.send(turn.lane, Nudge())

    async def outcome(self, presence: PresenceId, delivery: DeliveryId, within: timedelta | None) -> Turn:
        """The delivery once it has settled, or as it is after ``within`` (None: however long it takes).

        Raises:
            UnknownDeliveryError: The presence has no such delivery.
        """
        with self._settlements.ticket((presence, delivery)) as ticket:
            turn = await self._deliveries.find(presence, delivery)
            if turn.result is not None or (within is not None and not within):
                return turn
            settled = await ticket.value(within)
        if settled is not None:
            return replace(turn, state="done", result=settled)
        return await self._deliveries.find(presence, delivery)

    def close(self) -> None:
        """Take nothing new; what was accepted is still answered. Source: DUR-5."""
        self._draining = True

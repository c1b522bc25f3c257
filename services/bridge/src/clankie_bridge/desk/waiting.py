"""Waiting for results, however long a turn takes; and what each result means here. Source: WIRE-6, C07."""

import functools
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, assert_never

from clankie_bridge.captain.patience import AWAY, Patience
from clankie_bridge.desk.cards import Cards
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.posting import SAID, Posting
from clankie_bridge.desk.room import Delivery, Room
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.errors import CaptainAway, CaptainError, CaptainRefuses, DeliveryConflict, DeliveryUnknown
from clankie_bridge.ports import Captain, Evidence, Happened, Log, Settled
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Silent

NOTICES_OFF: Final = "notices_off"
"""Receipt code of a failure in a room whose owner wants no notices. Source: ROOM-8."""

_TOO_SOON: Final = timedelta(seconds=1)

_ANSWERED_WITHIN: Final = timedelta(seconds=bounds.WAIT_SECONDS) + bounds.READ_MARGIN

Ask = Callable[[], Awaitable[Settled | Pending]]


class Waiting:
    """Follows each delivery to its end, all at once."""

    def __init__(
        self,
        *,
        captain: Captain,
        patience: Patience,
        posting: Posting,
        earlier_said: Callable[[Delivery], Awaitable[None]],
        notices: Callable[[Room], bool],
        cards: Cards,
        deliveries: Deliveries,
        evidence: Evidence,
        tasks: Tasks,
        clock: Clock,
        jitter: Callable[[], float],
        log: Log,
    ) -> None:
        self._captain = captain
        self._patience = patience
        self._posting = posting
        self._earlier_said = earlier_said
        self._notices = notices
        self._cards = cards
        self._deliveries = deliveries
        self._evidence = evidence
        self._tasks = tasks
        self._clock = clock
        self._jitter = jitter
        self._log = log

    def finish(self, delivery: Delivery, answer: Settled | Pending, parts_posted: int = 0) -> None:
        """Follow a delivery that the captain has; ``parts_posted`` of its reply are in the room already."""
        self._tasks.spawn(self._finish(delivery, answer, parts_posted), "delivery")

    async def _finish(self, delivery: Delivery, answer: Settled | Pending, parts_posted: int) -> None:
        try:
            result = await self._settled(delivery) if isinstance(answer, Pending) else answer
            if result.owed and delivery.doubted and delivery.settled_at is None:
                delivery.settled_at = await self._settled_at(delivery)
            delivery.settled = result
            self._cards.end(delivery)
            if not isinstance(result, Replied):
                delivery.stop_typing()
            if result.owed:
                await self._earlier_said(delivery)
            await self._conclude(delivery, result, parts_posted)
        except CaptainError as error:
            self._log.error("result_lost", delivery=delivery.id, kind=type(error).__name__)
            self._record(delivery, Happened.FAILED, "result_lost")
        finally:
            self._cards.end(delivery)
            if delivery.inherited:
                self._cards.left(delivery)
            self._deliveries.close(delivery)

    async def _settled(self, delivery: Delivery) -> Settled:
        look: Ask = functools.partial(self._captain.result, delivery.id, bounds.WAIT_SECONDS)
        again: Ask = look if delivery.trigger is None else functools.partial(self._once_more, delivery)
        ask, misses, early, unsettled_at = look, 0, 0, self._clock.elapsed()
        while True:
            asked_at = self._clock.elapsed()
            try:
                answer = await ask()
            except (CaptainAway, CaptainRefuses) as error:
                ask, delivery.doubted = again, True
                await self._patience.pause(error, misses)
                misses += 1
                continue
            except DeliveryConflict:
                ask = again = look
                continue
            except DeliveryUnknown:
                if ask is again:
                    raise
                ask = again
                continue
            self._patience.heard()
            if not isinstance(answer, Pending):
                # A process that was stopped, or whose machine slept, cannot say either how old its result is.
                delivery.doubted = delivery.doubted or self._clock.elapsed() - unsettled_at > _ANSWERED_WITHIN
                return answer
            ask, misses, unsettled_at = look, 0, self._clock.elapsed()
            # A draining captain answers at once.
            early = early + 1 if self._clock.elapsed() - asked_at < _TOO_SOON else 0
            if early:
                await self._clock.sleep(AWAY.wait(early, self._jitter()))

    async def _once_more(self, delivery: Delivery) -> Settled | Pending:
        """Hand it over again after a lost connection, as it reads now: the captain may never have had it."""
        if delivery.gone:
            # A run that was about to hear it may have died with the captain, and another would hear it now.
            await self._captain.withdraw(delivery.id)
        if delivery.trigger is None or delivery.gone:
            return await self._captain.result(delivery.id, bounds.WAIT_SECONDS)
        return await self._captain.hand_over(delivery.trigger, bounds.WAIT_SECONDS)

    async def _settled_at(self, delivery: Delivery) -> datetime | None:
        """When it settled: after an outage nobody here can say how long ago that was. Source: OUT-5."""
        owed = await self._patience.until_done(self._captain.owed)
        return next((each.settled_at for each in owed if each.delivery_id == delivery.id), None)

    async def _conclude(self, delivery: Delivery, result: Settled, parts_posted: int) -> None:
        room = delivery.room
        match result:
            case Replied():
                await self._replied(delivery, result, parts_posted)
            case Absorbed():
                room.exchange = room.exchange.spoken()
                self._record(delivery, Happened.ABSORBED)
            case Silent():
                self._record(delivery, Happened.SILENT)
            case Failed():
                happened = Happened.WITHDRAWN if result.code is FailureCode.WITHDRAWN else Happened.FAILED
                self._record(delivery, happened, result.code)
                if result.owed:
                    await self._failed(delivery, result)
            case _:
                assert_never(result)

    async def _replied(self, delivery: Delivery, result: Replied, parts_posted: int) -> None:
        if not result.owed:
            self._record(delivery, Happened.REPLIED, "posted_before")
            return
        code = await self._posting.reply(delivery, result, parts_posted)
        if code in SAID:
            self._record(delivery, Happened.REPLIED, code)
        else:
            self._record(delivery, Happened.FAILED, code)

    async def _failed(self, delivery: Delivery, result: Failed) -> None:
        if not result.notice:
            await self._posting.nothing(delivery, "not_posted")
        elif not self._notices(delivery.room):
            await self._posting.nothing(delivery, NOTICES_OFF)
        else:
            await self._posting.notice(delivery, result.code)

    def _record(self, delivery: Delivery, happened: Happened, code: str | None = None) -> None:
        self._evidence.record(happened, delivery.message_id, delivery.room.channel_id, code)

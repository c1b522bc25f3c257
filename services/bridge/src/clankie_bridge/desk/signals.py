"""What the captain wants besides the reply: typing, cards, updates, reactions, words nobody waits for.

Source: ROOM-2, ROOM-3, ROOM-4.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final, assert_never

from clankie_bridge.captain.patience import Patience
from clankie_bridge.core.crash_points import UPDATE_POSTED
from clankie_bridge.core.message import id_before
from clankie_bridge.core.render import Words
from clankie_bridge.desk.cards import Cards
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.posting import Extra, Posting, said
from clankie_bridge.desk.room import Delivery, Room, Rooms
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.desk.waiting import NOTICES_OFF
from clankie_bridge.errors import CaptainAway, CaptainError, CaptainRefuses
from clankie_bridge.ports import Actions, Captain, Indicator, Log, Signal, Surface
from clankie_settings import bounds
from clankie_settings.crashing import Crash
from clankie_settings.wire.action import Clear, Post, React, Speak, StoredAction, TextUpdate, ToolActivity, Typing
from clankie_settings.wire.lease import Lease
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.result import Replied

_REMEMBERED: Final = 1_000


class Progress:
    """How far the stream of actions has been read, and which of a delivery's are not done."""

    def __init__(self) -> None:
        self._moved = asyncio.Condition()
        self._position = -1

    @property
    def position(self) -> int | None:
        """The number of the last action that was read, if there was one."""
        return self._position if self._position >= 0 else None

    async def read(self, sequence: int) -> None:
        """An action with this number was read."""
        async with self._moved:
            self._position = max(self._position, sequence)
            self._moved.notify_all()

    async def done(self, delivery: Delivery, sequence: int) -> None:
        """An action of a delivery is done."""
        async with self._moved:
            delivery.actions.discard(sequence)
            self._moved.notify_all()

    async def before_reply(self, delivery: Delivery, sequence: int) -> None:
        """Wait until the delivery's actions up to this number are done, ten seconds at most."""

        def reached() -> bool:
            return self._position >= sequence and not any(each <= sequence for each in delivery.actions)

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(bounds.ACTION_RECEIPT_WAIT.total_seconds()), self._moved:
                await self._moved.wait_for(reached)


class Signals:
    """Follows the stream for as long as the bridge lives."""

    def __init__(
        self,
        *,
        actions: Actions,
        progress: Progress,
        captain: Captain,
        patience: Patience,
        posting: Posting,
        earlier_said: Callable[[Delivery], Awaitable[None]],
        indicator: Indicator,
        cards: Cards,
        surface: Surface,
        deliveries: Deliveries,
        rooms: Rooms,
        tasks: Tasks,
        crash: Crash,
        log: Log,
        notices: Callable[[Room], bool],
        stands: Callable[[], Awaitable[Lease]],
    ) -> None:
        self._actions = actions
        self._progress = progress
        self._captain = captain
        self._patience = patience
        self._posting = posting
        self._earlier_said = earlier_said
        self._indicator = indicator
        self._cards = cards
        self._surface = surface
        self._deliveries = deliveries
        self._rooms = rooms
        self._tasks = tasks
        self._crash = crash
        self._log = log
        self._notices = notices
        self._stands = stands
        self._inherited = 0
        self._done: OrderedDict[str, ActionReceipt | None] = OrderedDict()

    async def run(self) -> None:
        """Read the stream, and read on where it broke."""
        self._inherited = (await self._stands()).last_action
        misses = 0
        while True:
            try:
                async with aclosing(self._actions.follow(self._progress.position)) as signals:
                    async for signal in signals:
                        misses = 0
                        self._patience.heard()
                        await self._take(signal)
                ended: CaptainAway | CaptainRefuses = CaptainAway("actions_ended")
            except (CaptainAway, CaptainRefuses) as error:
                ended = error
            except CaptainError as error:
                ended = CaptainRefuses(f"the captain has no actions for this presence ({type(error).__name__})")
            await self._patience.pause(ended, misses)
            misses += 1

    async def _take(self, signal: Signal) -> None:
        action, sequence = signal.action, signal.sequence
        if isinstance(action, StoredAction):
            self._begin(action, sequence)
        match action:
            case Typing():
                self._light(action.delivery_id)
            case Clear():
                delivery = self._deliveries.get(action.delivery_id)
                if delivery is not None:
                    delivery.stop_typing()
                    self._cards.end(delivery)
            case ToolActivity():
                delivery = self._deliveries.get(action.delivery_id)
                if delivery is not None:
                    self._cards.heard(delivery, action)
            case TextUpdate() | Post() | React() | Speak() | None:
                pass
            case _:
                assert_never(action)
        if sequence is not None:
            await self._progress.read(sequence)

    def _light(self, delivery_id: str) -> None:
        delivery = self._deliveries.get(delivery_id)
        if delivery is None or delivery.settled is not None or delivery.sending:
            return
        # One that hangs is not joined by a second.
        if delivery.typing is None or delivery.typing.done():
            delivery.typing = self._tasks.spawn(self._indicator.show(delivery.room.channel_id), "typing")

    def _begin(self, action: StoredAction, sequence: int | None) -> None:
        if action.action_id in self._done:
            receipt = self._done[action.action_id]
            if receipt is not None:
                self._tasks.spawn(self._acknowledge(action.action_id, receipt), "action")
            return
        self._done[action.action_id] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        delivery = self._deliveries.get(action.delivery_id)
        if delivery is not None and sequence is not None:
            delivery.actions.add(sequence)
        self._tasks.spawn(self._carry_out(action, sequence, delivery), "action")

    async def _carry_out(self, action: StoredAction, sequence: int | None, delivery: Delivery | None) -> None:
        try:
            match action:
                case TextUpdate():
                    receipt = await self._update(action, sequence, delivery)
                    self._crash.reach(UPDATE_POSTED)
                case Post():
                    receipt = await self._post(action, sequence)
                case React():
                    receipt = await self._react(action, delivery)
                case Speak():
                    receipt = ActionReceipt(ok=False, code="not_supported")
                case _:
                    assert_never(action)
            self._done[action.action_id] = receipt
        finally:
            if delivery is not None and sequence is not None:
                await self._progress.done(delivery, sequence)
        await self._acknowledge(action.action_id, receipt)

    async def _update(self, action: TextUpdate, sequence: int | None, delivery: Delivery | None) -> ActionReceipt:
        if delivery is None:
            return ActionReceipt(ok=False, code="unknown_delivery")
        async with delivery.interim:
            await self._earlier_said(delivery)
            async with delivery.room.door:
                if _is_superseded(delivery, sequence):
                    return ActionReceipt(ok=False, code="superseded")
                return await self._posting.words(
                    Extra(
                        purpose="update",
                        room=delivery.room,
                        action_id=action.action_id,
                        parts=(Words(action.text),),
                        reply_to=delivery.answers,
                        after=id_before(delivery.message_id),
                        inherited=self._is_inherited(sequence),
                    )
                )

    async def _react(self, action: React, delivery: Delivery | None) -> ActionReceipt:
        if delivery is None:
            return ActionReceipt(ok=False, code="unknown_delivery")
        done = await self._surface.react(delivery.room.channel_id, delivery.message_id, action.emoji)
        return ActionReceipt(ok=done.code is None, code=done.code)

    async def _post(self, action: Post, sequence: int | None) -> ActionReceipt:
        room = self._rooms.at(action.room.channel_id, action.room.guild_id)
        if action.notice and not self._notices(room):
            return ActionReceipt(ok=False, code=NOTICES_OFF)
        async with room.door:
            return await self._posting.words(
                Extra(
                    purpose="post",
                    room=room,
                    action_id=action.action_id,
                    parts=said(action.text, action.artifacts),
                    artifacts=action.artifacts,
                    reply_to=action.reply_to,
                    after=id_before(action.reply_to or action.delivery_id),
                    inherited=self._is_inherited(sequence),
                )
            )

    def _is_inherited(self, sequence: int | None) -> bool:
        """Whether an earlier life of the bridge may have carried an action out. Source: OUT-1."""
        return sequence is not None and sequence <= self._inherited

    async def _acknowledge(self, action_id: str, receipt: ActionReceipt) -> None:
        async def attempt() -> None:
            await self._captain.action_receipt(action_id, receipt)

        try:
            await self._patience.until_done(attempt)
        except CaptainError as error:
            self._log.error("action_receipt_refused", action=action_id, kind=type(error).__name__)


def _is_superseded(delivery: Delivery, sequence: int | None) -> bool:
    result = delivery.settled
    if delivery.sending or (result is not None and not isinstance(result, Replied)):
        return True
    if result is None:
        return False
    return result.after_action is None or sequence is None or sequence > result.after_action

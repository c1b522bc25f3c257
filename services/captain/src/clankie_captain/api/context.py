"""What every resource works with; ``app.py`` fills it."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from fastapi import Request

from clankie_captain.api.auth import Keys
from clankie_captain.core.settlement import Settled
from clankie_captain.lanes.children import Children
from clankie_captain.lanes.commands import Commands
from clankie_captain.lanes.conversations import Conversations
from clankie_captain.lanes.desk import Desk
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.signals import Signals
from clankie_captain.lanes.voices import Voices
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.metrics import Metrics
from clankie_captain.ports import Actions, Deliveries, Events, Leases, Presences, Transcripts
from clankie_captain.store.keeping import Keeping
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash
from clankie_settings.wire.receipt import ActionReceipt


@dataclass(frozen=True, slots=True)
class Captain:
    """The captain's parts as its door sees them."""

    keys: Keys
    desk: Desk
    commands: Commands
    conversations: Conversations
    children: Children
    events: Events
    metrics: Metrics
    transcripts: Transcripts
    deliveries: Deliveries
    presences: Presences
    leases: Leases
    voices: Voices
    actions: Actions
    registry: Registry
    signals: Signals
    settlements: Waiters[Settled]
    receipts: Waiters[ActionReceipt]
    keeping: Keeping
    clock: Clock
    crash: Crash
    started_at: datetime
    version: str


async def captain(request: Request) -> Captain:
    """The captain that answers this request. A coroutine, since the framework sends plain functions to a thread."""
    return cast("Captain", request.app.state.captain)

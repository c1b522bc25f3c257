"""Faults that a test orders: wrong answers, late ones, lost ones, cut connections."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from clankie_settings.clock import Ids
from clankie_stage.discord.changes import Changes

LONGEST_HOLD_S = 120.0
"""Seconds after which a held request goes on although nobody released it."""


@dataclass(slots=True)
class Fault:
    """One order.

    Attributes:
        method: shell pattern of the method.
        route: shell pattern of the path behind ``/api/v10``; CDN requests match as ``/cdn/...``.
        status: answer with this status; None leaves the real answer.
        body: body of that answer: an object is sent as JSON, text as it is.
        headers: headers of that answer.
        times: how many requests it strikes.
        delay_s: seconds to wait before anything else.
        hold: wait until this name is released.
        after: do what was asked first, then lose the answer.
        kill: cut the connection instead of answering.
    """

    id: str
    method: str = "*"
    route: str = "*"
    status: int | None = None
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    times: int = 1
    delay_s: float = 0.0
    hold: str | None = None
    after: bool = False
    kill: bool = False

    @property
    def cuts(self) -> bool:
        """Whether the connection is cut; a lost answer without a status is lost that way."""
        return self.kill or (self.after and self.status is None)

    @property
    def replaces(self) -> bool:
        """Whether the real answer does not arrive."""
        return self.cuts or self.status is not None


@dataclass(slots=True)
class Faults:
    """The orders that still stand, oldest first."""

    ids: Ids
    changes: Changes
    orders: list[Fault] = field(default_factory=list[Fault])
    held: list[str] = field(default_factory=list[str])
    _gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def order(self, fault: Fault) -> Fault:
        """Add an order."""
        self.orders.append(fault)
        return fault

    def clear(self) -> None:
        """Drop all orders, let go of what they hold, and forget what was released."""
        self.orders.clear()
        for gate in self._gates.values():
            gate.set()
        self._gates.clear()

    def strike(self, method: str, path: str) -> Fault | None:
        """The order that this request falls under, one of its times used up."""
        for fault in self.orders:
            if fnmatchcase(method, fault.method) and fnmatchcase(path, fault.route):
                fault.times -= 1
                if fault.times <= 0:
                    self.orders.remove(fault)
                return fault
        return None

    async def wait(self, fault: Fault) -> None:
        """Let the delay of an order pass, and what holds it be released."""
        await asyncio.sleep(fault.delay_s)
        name = fault.hold
        if name is None:
            return
        self.held.append(name)
        self.changes.announce()
        gate = self._gates.setdefault(name, asyncio.Event())
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_HOLD_S):
                    await gate.wait()
        finally:
            self.held.remove(name)

    def release(self, name: str) -> None:
        """Let requests held under a name go on, and later ones pass at once."""
        self._gates.setdefault(name, asyncio.Event()).set()

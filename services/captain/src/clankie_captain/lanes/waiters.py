"""Who waits for a turn to settle, or for an action's receipt."""

import asyncio
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from datetime import timedelta
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Waiters(Generic[Value]):
    """Waiting for values that come once each. One event loop; nothing here awaits but ``Ticket.value``."""

    def __init__(self) -> None:
        self._tickets: dict[Hashable, set[Ticket[Value]]] = {}
        self._draining = False

    @contextmanager
    def ticket(self, key: Hashable) -> "Generator[Ticket[Value]]":
        """Hold a ticket for the value of ``key``; take it before asking the store, so that nothing slips between."""
        ticket: Ticket[Value] = Ticket()
        if self._draining:
            ticket.drop()
        self._tickets.setdefault(key, set()).add(ticket)
        try:
            yield ticket
        finally:
            holders = self._tickets.get(key, set())
            holders.discard(ticket)
            if not holders:
                self._tickets.pop(key, None)

    def give(self, key: Hashable, value: Value) -> None:
        """Hand the value to everyone who holds a ticket for it."""
        for ticket in self._tickets.get(key, ()):
            ticket.fill(value)

    def drain(self) -> None:
        """Let everybody go without a value, now and from now on: the captain is stopping."""
        self._draining = True
        for holders in self._tickets.values():
            for ticket in holders:
                ticket.drop()


class Ticket(Generic[Value]):
    """The right to a value that may come."""

    def __init__(self) -> None:
        self._came = asyncio.Event()
        self._value: Value | None = None

    def fill(self, value: Value) -> None:
        """The value is here."""
        self._value = value
        self._came.set()

    def drop(self) -> None:
        """No value will come."""
        self._came.set()

    async def value(self, within: timedelta | None) -> Value | None:
        """The value, or None where it did not come in time or will not come; ``within`` None waits for ever."""
        try:
            async with asyncio.timeout(None if within is None else within.total_seconds()):
                await self._came.wait()
        except TimeoutError:
            return None
        return self._value

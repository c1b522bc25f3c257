"""What goes wrong: at Discord, at the model, on the way between the services, and with the services themselves."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from clankie_settings.clock import Clock
from clankie_stage.client import StageClient
from clankie_stage.provider.beats import Step
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import (
    broken_stream,
    cut,
    ended,
    failed,
    hold,
    key_error,
    overloaded_error,
    rate_limit_error,
    server_error,
)
from tests.soak.crossing import Crossing
from tests.soak.household import Household, Service
from tests.soak.ledger import Ledger

Json = dict[str, Any]
Trouble = Callable[[], Awaitable[object]]

POSTS: Final[Json] = {"method": "POST", "route": "/channels/*/messages"}
HISTORY: Final[Json] = {"method": "GET", "route": "/channels/*/messages"}

# Discord's own errors are JSON; those of the shield before it are a page.
SERVER_ERROR: Final[Json] = {"message": "500: Internal Server Error", "code": 0}
SHIELD: Final[Json] = {
    "body": "<html><head><title>Bad Gateway</title></head></html>",
    "headers": {"Content-Type": "text/html"},
}

FROZEN_S: Final = (1.0, 5.0)
"""How long a service stands still, in seconds."""

PATIENCE: Final = 0.8
"""How often a service is let do some work before something else happens to it."""

BACK_WITHIN: Final = timedelta(seconds=60)
"""How long that is waited for: a busy machine is slow, and a lost message comes never."""

STUCK_AFTER: Final = timedelta(seconds=15)
"""After this long without a move troubles are dealt all the same."""

UNTROUBLED_S: Final = (0.2, 2.0)
"""Seconds in which nothing happens to a service in any case."""

_LOOK = timedelta(milliseconds=100)


class Deck:
    """Troubles that are dealt in random order, each once before any comes again."""

    def __init__(self, troubles: dict[str, Trouble], chance: random.Random, ledger: Ledger) -> None:
        self._troubles = troubles
        self._chance = chance
        self._ledger = ledger
        self._left: list[str] = []
        self.rounds = 0

    async def deal(self) -> None:
        """Make the next trouble."""
        if not self._left:
            self._left = self._chance.sample([*self._troubles], len(self._troubles))
        name = self._left.pop()
        self._ledger.faults[name] += 1
        await self._troubles[name]()
        self.rounds += not self._left


def limited(wait: float, *, everywhere: bool = False) -> Json:
    """A 429 as Discord sends it: the wait in the body to the millisecond, and in whole seconds in the header."""
    headers = {"Retry-After": str(int(wait) + 1), "Via": "1.1 stage"}
    headers["X-RateLimit-Scope"] = "global" if everywhere else "user"
    if everywhere:
        headers["X-RateLimit-Global"] = "true"
    body = {"message": "You are being rate limited.", "retry_after": wait, "global": everywhere}
    return {"status": 429, "body": body, "headers": headers}


def at_discord(stage: StageClient, chance: random.Random) -> dict[str, Trouble]:
    """Requests that fail before or after they were done."""

    def fault(**order: Any) -> Trouble:
        return lambda: stage.fault(**order)

    return {
        "post stored, answer lost": fault(**POSTS, after=True),
        "post stored, answered 502": fault(**POSTS, after=True, status=502, **SHIELD),
        "post lost": fault(**POSTS, kill=True),
        "post refused 500": fault(**POSTS, status=500, body=SERVER_ERROR, times=2),
        "post refused 503": fault(**POSTS, status=503, **SHIELD),
        "post limited": lambda: stage.fault(**POSTS, **limited(round(chance.uniform(0.3, 1.2), 3))),
        "post limited everywhere": lambda: stage.fault(**POSTS, **limited(0.4, everywhere=True)),
        "post slow": lambda: stage.fault(**POSTS, delay_s=chance.uniform(0.5, 2.0)),
        "history refused 500": fault(**HISTORY, status=500, body=SERVER_ERROR),
        "history lost": fault(**HISTORY, kill=True),
    }


def at_gateway(stage: StageClient) -> dict[str, Trouble]:
    """A gateway whose connections break, which forgets, or repeats itself."""

    def call(verb: str, **arguments: Any) -> Trouble:
        return lambda: stage.call(verb, **arguments)

    return {
        "socket dropped": call("drop"),
        "socket closed": call("close", code=4000, reason="Unknown error."),
        "reconnect asked": call("reconnect"),
        "events repeated": call("duplicate", count=4),
        "gateway invalid, resumable": call("invalidate", resumable=True),
        "gateway forgotten": call("forget_sessions"),
    }


def at_model(provider: ProviderClient) -> dict[str, Trouble]:
    """Answers that fail, break off or never come."""

    def next_answer(*steps: Step) -> Trouble:
        return lambda: provider.script(*steps)

    return {
        "model error, once": next_answer(failed(server_error())),
        "model overloaded, twice": next_answer(failed(overloaded_error()), failed(overloaded_error())),
        "model limited": next_answer(failed(rate_limit_error("1"))),
        "model cut before words": next_answer(cut(0)),
        "model cut amid words": next_answer(cut(400)),
        "model error amid words": next_answer(broken_stream("Half an ")),
        "model ended without an end": next_answer(ended("Half an ")),
        "model refuses the key": next_answer(failed(key_error())),
        "model hangs": next_answer(hold("Half an ")),
    }


def on_the_way(crossing: Crossing) -> dict[str, Trouble]:
    """Connections between bridge and captain that break, before or after the captain did what was asked."""

    async def cut_all() -> None:
        crossing.cut()

    async def lose_answers() -> None:
        crossing.deaf = 2

    return {"captain's connections cut": cut_all, "captain's answers lost": lose_answers}


def with_service(household: Household, service: Service, chance: random.Random) -> dict[str, Trouble]:
    """A process that dies or stands still."""

    async def kill() -> None:
        await household.kill(service, timedelta(seconds=chance.uniform(0.0, 1.5)))

    async def freeze() -> None:
        await household.freeze(service, timedelta(seconds=chance.uniform(*FROZEN_S)))

    return {f"{service} killed": kill, f"{service} frozen": freeze}


async def go_wrong(
    deck: Deck, span: tuple[float, float], moved: Callable[[], int], chance: random.Random, clock: Clock
) -> None:
    """Deal for ever: after a pause of so many seconds, once something has moved since the last time, or seems stuck.

    On a busy machine troubles would pile up otherwise, until nothing gets through them any more.
    """
    while True:
        seen = moved()
        await clock.sleep(timedelta(seconds=chance.uniform(*span)))
        deadline = clock.elapsed() + STUCK_AFTER
        while moved() == seen and clock.elapsed() < deadline:
            await clock.sleep(_LOOK)
        await deck.deal()


@dataclass(frozen=True, slots=True)
class Patient:
    """A service that things happen to; ``work`` is how many deliveries it gets to do between two of them."""

    household: Household
    service: Service
    ledger: Ledger
    work: tuple[int, int]

    async def works(self, chance: random.Random, clock: Clock) -> None:
        """Wait until it is back, and has done some work; not for ever."""
        await self.household.ready(self.service, BACK_WITHIN)
        wanted, deadline = len(self.ledger.known) + chance.randint(*self.work), clock.elapsed() + BACK_WITHIN
        while len(self.ledger.known) < wanted and clock.elapsed() < deadline:
            await clock.sleep(_LOOK)


async def go_down(patient: Patient, deck: Deck, chance: random.Random, clock: Clock) -> None:
    """Deal a service's troubles for ever; mostly it gets to do some work in between."""
    while True:
        await clock.sleep(timedelta(seconds=chance.uniform(*UNTROUBLED_S)))
        if chance.random() < PATIENCE:
            await patient.works(chance, clock)
        await deck.deal()

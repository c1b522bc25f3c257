"""What the provider will answer, and what it remembers."""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from clankie_settings.clock import Clock, Ids
from clankie_stage.provider.beats import Fail, Match, Step
from clankie_stage.provider.hearing import last_user_text, text_of
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.records import Record, Recorder
from clankie_stage.provider.rehearsal import rehearse
from clankie_stage.provider.rules import Request
from clankie_stage.provider.tokens import PrefixCache, cacheable
from clankie_stage.provider.usage import Prompt
from clankie_stage.provider.waiting import Barriers, Bell

Default: TypeAlias = Literal["rehearsal", "unscripted"]
WITHIN_S = 60.0
"""How long a test waits for something that should happen at once, in seconds."""
_QUEUE = 1_000


@dataclass(frozen=True, slots=True)
class Habits:
    """How the provider behaves apart from any script.

    Attributes:
        limits: What it accepts.
        default: Who answers when no step fits: the rehearsal model, or a 400 ``unscripted``.
        bad_keys: API keys that are refused with 401; any other is let in.
        pace: Factor on every pause of an answer; 0 leaves none.
    """

    limits: Limits = field(default_factory=Limits)
    default: Default = "rehearsal"
    bad_keys: frozenset[str] = frozenset()
    pace: float = 1.0


class Brain:
    """The provider's script, barriers, records and prompt cache.

    A test steers it directly in its own process, or through ``ProviderClient`` from another one.
    """

    def __init__(self, clock: Clock, ids: Ids, habits: Habits) -> None:
        self.clock = clock
        self.ids = ids
        self.habits = habits
        self._bell = Bell()
        self.barriers = Barriers(self._bell)
        self.recorder = Recorder(self._bell.ring)
        self._first_habits = habits
        self._cache = PrefixCache()
        self._script: deque[Step] = deque()
        self._dropped = asyncio.Event()

    def script(self, *steps: Step) -> None:
        """Append steps; a request takes the first one that fits it.

        Raises:
            ValueError: More than 1,000 steps would wait.
        """
        if len(self._script) + len(steps) > _QUEUE:
            raise ValueError(f"at most {_QUEUE} steps wait")
        self._script.extend(steps)

    def unused(self) -> int:
        """How many steps still wait for a request."""
        return len(self._script)

    def open(self, barrier: str) -> None:
        """Let every answer pass that waits at the barrier, now and later."""
        self.barriers.open(barrier)

    async def arrived(self, barrier: str, count: int = 1, within_s: float = WITHIN_S) -> None:
        """Return when so many answers have come to the barrier.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds.
        """
        await self._bell.until(lambda: self.barriers.arrivals(barrier) >= count, within_s)

    async def wait_requests(self, count: int, within_s: float = WITHIN_S) -> list[Record]:
        """All records, once so many requests have arrived, whether answered or not.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds.
        """
        await self._bell.until(lambda: self.recorder.count() >= count, within_s)
        return self.recorder.all()

    async def wait_ended(self, count: int, within_s: float = WITHIN_S) -> list[Record]:
        """All records, once so many requests have ended: answered, refused, cut or left by the client.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds.
        """

        def ended() -> int:
            return sum(record.state != "open" for record in self.recorder.all())

        await self._bell.until(lambda: ended() >= count, within_s)
        return self.recorder.all()

    def records(self) -> list[Record]:
        """All records so far, oldest first."""
        return self.recorder.all()

    def take(self, request: Request) -> Step:
        """The step that answers a request, removed from the script."""
        for step in self._script:
            if _fits(step.when, request):
                self._script.remove(step)
                return step
        if self.habits.default == "rehearsal":
            return rehearse(request.messages, request.tools)
        unscripted = Fail(400, "invalid_request_error", "unscripted", "No step of the script fits this request.")
        return Step((unscripted,), label="unscripted")

    def prompt(self, request: Request) -> Prompt:
        """What a prompt costs: how much of it an earlier one began with, and how much the cache takes in now."""
        if not request.caches:
            return Prompt(request.prompt_tokens)
        limits = self.habits.limits
        cached = self._cache.lookup(request.rendered, limits)
        return Prompt(request.prompt_tokens, cached, max(0, cacheable(request.prompt_tokens, limits) - cached))

    def now(self) -> timedelta:
        """The clock that records are stamped with."""
        return self.clock.elapsed()

    async def dropped(self) -> None:
        """Return when answers in flight are to be abandoned."""
        await self._dropped.wait()

    def drop(self) -> None:
        """Abandon all answers in flight."""
        self._dropped.set()
        self._dropped = asyncio.Event()

    def reset(self) -> None:
        """Back to the beginning: nothing scripted, recorded, cached, held back or in flight."""
        self.drop()
        self.habits = replace(self._first_habits)
        self._script.clear()
        self.barriers.reset()
        self.recorder.reset()
        self._cache.clear()


def _fits(when: Match, request: Request) -> bool:
    if when.model is not None and when.model != request.model:
        return False
    if when.last_user is not None and when.last_user not in last_user_text(request.messages):
        return False
    return when.anywhere is None or any(when.anywhere in text_of(message) for message in request.messages)

"""What can be done about a failure: wait and try again, ask another model, or go on with less."""

from typing import Final

import structlog

from clankie_captain.agent import pictures, retries
from clankie_captain.agent.failures import blames_history, failure_code
from clankie_captain.agent.standby import Standby
from clankie_captain.agent.stretch import Stretch
from clankie_captain.agent.tether import Tether
from clankie_captain.agent.transcript import Transcript
from clankie_captain.core.run import Order
from clankie_settings.clock import Clock
from clankie_settings.wire.failure import FailureCode

TRIES_BEFORE_SWITCH: Final = 2
"""How often a model that has a fallback is asked before that one is: a hiccup is not worth a cold cache. FAIL-5."""

PICTURE_TRIES: Final = 2
"""How often a run lets pictures go: first those that are new to the provider, then all. LANE-14."""

_log = structlog.get_logger()


class Rescue:
    """What one run still may try; ``model`` is the place of the model that is asked, counted from 0.

    A request can be made again, and by another model, only until the first token; whoever answered goes on with the
    run. What no model would do better (an overflow, a refusal, a history that is refused as such) goes on with less of
    the past, once. Source: FAIL-5, FAIL-6, CTX-8.
    """

    def __init__(self, order: Order, transcript: Transcript, line: Tether, clock: Clock, standby: Standby) -> None:
        self._standby = standby
        self.model, *self._others = standby.order
        self._order = order
        self._transcript = transcript
        self._line = line
        self._clock = clock
        self._size = -1
        self._attempt = 0
        self._tries = 0
        self._relieved = False
        self._unseen = 0

    async def helped(self, error: Exception, stretch: Stretch) -> bool:
        """Whether it is worth another try now."""
        code = failure_code(error)
        if stretch.silent and await self._without_pictures(error, stretch):
            return True
        if code in (FailureCode.CAPTAIN_CONTEXT_OVERFLOW, FailureCode.CAPTAIN_MODEL_REFUSED):
            return await self._relieve(code)
        if not stretch.silent or code is FailureCode.CAPTAIN_INTERNAL_ERROR:
            return False
        if self._transcript.size != self._size:
            self._size, self._attempt, self._tries = self._transcript.size, 0, 0
        self._attempt += 1
        self._tries += 1
        wait = retries.pause(error, self._attempt, self._order.run)
        if self._others and (wait is None or self._tries >= TRIES_BEFORE_SWITCH):
            self._standby.failed(self.model, error)
            self._switch(code)
            return True
        if blames_history(error):
            return await self._relieve(code)
        if wait is None:
            return False
        self._line.event()
        await self._clock.sleep(wait)
        return True

    async def _without_pictures(self, error: Exception, stretch: Stretch) -> bool:
        """Let the pictures go that a provider refused; no other model is asked to look at them. Source: LANE-14."""
        refused = pictures.refused(self._transcript.messages, error)
        if not refused or self._unseen >= PICTURE_TRIES:
            return False
        self._unseen += 1
        await stretch.unsee(refused)
        self._line.event()
        _log.warning("pictures.rejected", count=len(refused))
        return True

    def _switch(self, code: FailureCode) -> None:
        self.model = self._others.pop(0)
        self._tries = 0
        self._line.event()
        _log.warning("model.switched", code=code, place=self.model + 1)

    async def _relieve(self, code: FailureCode) -> bool:
        overflow = code is FailureCode.CAPTAIN_CONTEXT_OVERFLOW
        if self._relieved:
            # The next message must not meet the same wall.
            if overflow and (stays := self._transcript.own_only()) is not None:
                await self._line.cut(stays)
            return False
        self._relieved = True
        if overflow:
            stays = self._transcript.shorten()
        elif code is FailureCode.CAPTAIN_MODEL_REFUSED:
            # Words that a filter refused trip it again and again; without them this message may pass. Source: C34.
            stays = self._transcript.own_only() if self._transcript.follows_unanswered() else None
        else:
            # Whatever it is in the past, no later message would pass it either. Source: FAIL-6, C04.
            stays = self._transcript.own_only()
        if stays is None:
            return False
        await self._line.cut(stays)
        return True

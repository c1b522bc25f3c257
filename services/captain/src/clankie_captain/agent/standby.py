"""Which model is asked first: one that has just proven dead lets the others go before it. Source: FAIL-5."""

from datetime import timedelta
from typing import Final

from pydantic_ai import exceptions as library

from clankie_captain.agent.failures import CutOffError, failure_code
from clankie_settings.clock import Clock
from clankie_settings.wire.failure import FailureCode

SPARED_FOR: Final = timedelta(minutes=1)
"""How long other models are asked before one that failed; each message would else pay for its tries. Source: FAIL-5."""


class Standby:
    """Remembers which of the models failed lately, for all runs of this captain."""

    def __init__(self, models: int, clock: Clock) -> None:
        self._failed: list[timedelta | None] = [None] * models
        self._clock = clock

    @property
    def order(self) -> tuple[int, ...]:
        """The places of the models, from 0, in the order in which a run asks them now."""
        places = range(len(self._failed))
        return tuple(sorted(places, key=self._spared))

    def failed(self, place: int, error: Exception) -> None:
        """A run has given this model up; what lies in its request alone says nothing about the model."""
        if _dead(error):
            self._failed[place] = self._clock.elapsed()

    def _spared(self, place: int) -> bool:
        failed = self._failed[place]
        return failed is not None and self._clock.elapsed() - failed < SPARED_FOR


def _dead(error: Exception) -> bool:
    if isinstance(error, library.ModelQuotaExceededError):
        # One provider says it with the status of a malformed request.
        return True
    if isinstance(error, library.ModelHTTPError) and error.status_code in (400, 413, 422):
        return False
    codes = (FailureCode.CAPTAIN_MODEL_FAILED, FailureCode.CAPTAIN_USAGE_LIMIT_REACHED)
    return failure_code(error) in codes and isinstance(error, library.ModelAPIError | CutOffError)

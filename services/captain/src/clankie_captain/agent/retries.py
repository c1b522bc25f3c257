"""Which failures are worth another try before the first token, and how long to wait; pure. Source: FAIL-5."""

import zlib
from datetime import timedelta
from typing import Final

from pydantic_ai import exceptions as library

from clankie_captain.agent.failures import CutOffError, failure_code
from clankie_settings import bounds
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode

FIRST_PAUSE: Final = timedelta(seconds=0.5)
"""Pause before the first retry; each further one doubles it. Source: FAIL-5."""

LONGEST_PAUSE: Final = timedelta(seconds=30)
"""Longest pause, and the longest wait that a provider may ask for; beyond it the turn fails. Source: FAIL-5."""

_TRANSIENT: Final = (
    library.ModelRateLimitError,
    library.ModelUnavailableError,
    library.ModelServerError,
    library.ModelConnectionError,
    library.ModelRequestTimeout,
    CutOffError,
)
_TRANSIENT_STATUSES: Final = frozenset({408, 409, 425})


def pause(error: Exception, attempt: int, run: RunId) -> timedelta | None:
    """How long to wait before another try after ``attempt`` tries have failed; None: this is final.

    The jitter, up to a quarter, comes from the run's own random id: what must not happen is that many runs come back
    at the same instant.
    """
    if attempt > bounds.MODEL_RETRIES:
        return None
    asked = getattr(error, "retry_after", None)
    wait = timedelta(seconds=asked) if isinstance(asked, int | float) and asked >= 0 else timedelta(0)
    if wait > LONGEST_PAUSE or not _transient(error):
        return None
    jitter = zlib.crc32(f"{run} {attempt}".encode()) / 2**34
    return max(wait, min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)) * (1 + jitter)


def _transient(error: Exception) -> bool:
    if isinstance(error, library.FallbackExceptionGroup):
        return all(_transient(each) for each in error.exceptions)
    if failure_code(error) is FailureCode.CAPTAIN_CONTEXT_OVERFLOW or isinstance(
        error, library.ModelQuotaExceededError
    ):
        return False
    if isinstance(error, library.ModelHTTPError) and error.status_code in _TRANSIENT_STATUSES:
        return True
    # A stream that ended before it said anything is one of these two, without a status or code of its own.
    if type(error) is library.ModelAPIError:
        return error.provider_error_code is None and error.provider_error_type is None
    return isinstance(error, _TRANSIENT) or type(error) is library.UnexpectedModelBehavior

"""From whatever goes wrong to the code of the failed turn: one table. Source: FAIL-4.

UnusableResponseError
├── CutOffError           the stream ended without its terminal event, or in a call that never came
├── LengthReachedError    the answer was cut at the model's output limit
├── WindowReachedError    the answer was cut at the model's window
└── RefusedError          the model or its provider refused
"""

import re
from typing import ClassVar, Final

from pydantic_ai import exceptions as library
from pydantic_ai.messages import ModelResponse

from clankie_captain.agent.scrubbing import scrub
from clankie_settings.wire.failure import FailureCode

WORDS_KEPT: Final = 4_000
"""Characters of a provider's words that a transcript keeps; some send whole pages."""

_OVERFLOW_STATUS: Final = 413
_NOT_FOUND: Final = 404
_OVERFLOW_PHRASES: Final = (
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "context window",
    "input is too long",
    "reduce the length of the messages",
    "exceed context limit",
    "available context size",
    "maximum number of tokens allowed",
    "maximum prompt length",
)
# Both providers name the place: messages.[2].content, or messages.2.content.0.
_MESSAGE_PATH: Final = re.compile(r"\b(?:messages|contents)[.\[]")
_PICTURE_STATUS: Final = frozenset({400, 404, 413, 415, 422})
_PICTURE: Final = re.compile(r"(?<![a-z])image|(?<![a-z])vision(?![a-z])|multi-?modal|inline_?data")
# Some servers have no route to a model that takes pictures; a model that is not there may be named after them.
_NO_ROUTE: Final = re.compile(r"supports? (?:image|vision|multi-?modal)")
_PROVIDER_PACKAGES: Final = frozenset({"openai", "anthropic", "google", "httpx", "httpx2", "httpcore", "httpcore2"})


class UnusableResponseError(Exception):
    """A response came to its end and is no answer."""

    code: ClassVar[FailureCode] = FailureCode.CAPTAIN_MODEL_FAILED


class CutOffError(UnusableResponseError):
    """The stream ended without saying that it was complete, or in a call that it does not hold. Source: C11."""


class LengthReachedError(UnusableResponseError):
    """The model's output limit cut the response; half a sentence is no answer."""


class WindowReachedError(UnusableResponseError):
    """The model's window was full before the response was complete. Source: CTX-8, C09."""

    code = FailureCode.CAPTAIN_CONTEXT_OVERFLOW


class RefusedError(UnusableResponseError):
    """The model refused, or a filter stopped it, before or amid its words. Source: C34."""

    code = FailureCode.CAPTAIN_MODEL_REFUSED


_TABLE: Final[tuple[tuple[type[Exception], FailureCode], ...]] = (
    (library.ModelContextWindowExceededError, FailureCode.CAPTAIN_CONTEXT_OVERFLOW),
    (library.ModelQuotaExceededError, FailureCode.CAPTAIN_USAGE_LIMIT_REACHED),
    (library.ModelRateLimitError, FailureCode.CAPTAIN_USAGE_LIMIT_REACHED),
    (library.ContentFilterError, FailureCode.CAPTAIN_MODEL_REFUSED),
    (library.ModelAPIError, FailureCode.CAPTAIN_MODEL_FAILED),
    (library.UnexpectedModelBehavior, FailureCode.CAPTAIN_MODEL_FAILED),
)


def failure_code(error: Exception) -> FailureCode:
    """The code of a turn that this error ends. Pure."""
    if isinstance(error, UnusableResponseError):
        return error.code
    if isinstance(error, library.FallbackExceptionGroup):
        return failure_code(error.exceptions[-1])
    if isinstance(error, library.ModelAPIError) and _says_overflow(error):
        return FailureCode.CAPTAIN_CONTEXT_OVERFLOW
    for kind, code in _TABLE:
        if isinstance(error, kind):
            return code
    package = type(error).__module__.partition(".")[0]
    # What a provider's client lets through untranslated is still the provider's failure, not ours.
    return FailureCode.CAPTAIN_MODEL_FAILED if package in _PROVIDER_PACKAGES else FailureCode.CAPTAIN_INTERNAL_ERROR


def provider_words(error: Exception) -> str:
    """What the provider said about the failure, at most 4,000 characters, for the transcript alone. Source: FAIL-4."""
    if isinstance(error, library.FallbackExceptionGroup):
        return provider_words(error.exceptions[-1])
    if not isinstance(error, library.ModelAPIError):
        return ""
    return scrub(str(error.body if error.body is not None else error.message))[:WORDS_KEPT]


def blames_history(error: Exception) -> bool:
    """Whether a provider refused a request for something in its messages, and would refuse it for ever. Pure."""
    if not isinstance(error, library.ModelRequestRejectedError):
        return False
    return _MESSAGE_PATH.search(str(error.body)) is not None


def blames_pictures(error: Exception) -> bool:
    """Whether a provider refused a request for a picture in it, or for pictures at all. Pure. Source: LANE-14, C04."""
    if not isinstance(error, library.ModelHTTPError) or error.status_code not in _PICTURE_STATUS:
        return False
    wanted = _NO_ROUTE if error.status_code == _NOT_FOUND else _PICTURE
    return wanted.search(f"{error.provider_error_code} {error.body}".casefold()) is not None


def too_much(error: Exception) -> bool:
    """Whether a provider refused a request for its bytes. Pure."""
    return isinstance(error, library.ModelHTTPError) and error.status_code == _OVERFLOW_STATUS


def _says_overflow(error: library.ModelAPIError) -> bool:
    if isinstance(error, library.ModelRateLimitError | library.ModelQuotaExceededError):
        return False
    if isinstance(error, library.ModelHTTPError) and error.status_code == _OVERFLOW_STATUS:
        return True
    said = f"{error.provider_error_code} {error.body}".casefold()
    return any(phrase in said for phrase in _OVERFLOW_PHRASES)


def check(response: ModelResponse) -> None:
    """Accept a whole response.

    Raises:
        UnusableResponseError: It is not whole, or no answer.
    """
    said = (response.provider_details or {}).get("finish_reason")
    if said == "model_context_window_exceeded":
        raise WindowReachedError
    match response.finish_reason:
        case "content_filter":
            raise RefusedError
        case "length":
            raise LengthReachedError
        case "error":
            raise CutOffError
        case "tool_call" if not response.tool_calls:
            # Whatever it says are words before a call, and the call was lost.
            raise CutOffError
        case None if not said:
            raise CutOffError
        case _:
            if response.state in ("incomplete", "interrupted"):
                raise CutOffError

"""Errors as Anthropic gives them: a type that stands for the status, and a message that begins with the path."""

from collections.abc import Mapping

from clankie_stage.provider.beats import Fail
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.shapes import JsonObject

TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The type of each status. Source: the API's published list of errors."""

NO_CREDIT = "Your credit balance is too low."
TOO_LONG = "prompt is too long"


def error_body(refusal: Refusal, request_id: str) -> JsonObject:
    """The JSON body of a refusal."""
    return {"type": "error", "error": error_object(refusal), "request_id": request_id}


def error_object(refusal: Refusal) -> JsonObject:
    """The object that says what is wrong."""
    where = f"{refusal.param}: " if refusal.param is not None else ""
    return {"type": TYPES.get(refusal.status, "api_error"), "message": f"{where}{refusal.message}"}


def refusal_of(fail: Fail) -> Refusal:
    """A scripted error as this provider would put it; scripts name OpenAI's codes."""
    headers = {"retry-after": fail.retry_after} if fail.retry_after is not None else {}
    match fail.code:
        case "insufficient_quota":
            # An account without credit is told so by its message alone, and not by a 429.
            return Refusal(400, NO_CREDIT, headers=headers)
        case "context_length_exceeded" if fail.status != 413:
            return Refusal(fail.status, f"{TOO_LONG}: 200001 tokens > 200000 maximum", headers=headers)
        case _:
            return Refusal(fail.status, fail.message, headers=headers)

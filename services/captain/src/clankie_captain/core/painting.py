"""What a provider of pictures is asked, and what its refusals mean, in words for the model. Source: ART-2."""

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from clankie_settings import bounds

Shape = Literal["square", "wide", "tall"]
"""The form of a picture."""

_SIZES: Final[Mapping[Shape, str]] = {"square": "1024x1024", "wide": "1536x1024", "tall": "1024x1536"}
_OLDER: Final[Mapping[Shape, str]] = {"square": "1024x1024", "wide": "1792x1024", "tall": "1024x1792"}
_POLICY: Final = frozenset({"moderation_blocked", "content_policy_violation", "content_filter"})
_SPENT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_BUSY: Final = 429
_FAULT: Final = 500
_KEY: Final = frozenset({401, 403})
_ASKED_WRONGLY: Final = frozenset({400, 404, 413, 422})


def asked(model: str, prompt: str, shape: Shape) -> dict[str, Any]:
    """The body of a request for one picture, whose bytes come in the answer itself.

    The newest models always answer so, and refuse to be told.
    """
    sizes = _OLDER if model == "dall-e-3" else _SIZES
    body: dict[str, Any] = {"model": model, "prompt": prompt, "n": 1, "size": sizes[shape]}
    return body if model.startswith("gpt-image") else {**body, "response_format": "b64_json"}


def encoded(body: object) -> str | None:
    """The picture of an answer in base64; None where it holds none. An address instead of one is not followed."""
    match body:
        case {"data": [{"b64_json": str() as found}]} if found:
            return found
        case _:
            return None


def refusal(status: int, body: object) -> str:
    """Why there is no picture, by the status and the body of an answer that is a failure.

    A provider's own words are kept where it speaks of what was asked for, and nowhere else: they may name a key.
    """
    code, words = _error(body)
    if code in _POLICY:
        return f"the provider refuses to make such a picture{_quoted(words)}"
    if code in _SPENT:
        return "the account at the provider has nothing left; tell whoever runs me"
    if status in _KEY:
        return "the provider does not accept the key; tell whoever runs me"
    if status == _BUSY:
        return "the provider takes no more now; try again in a minute"
    if status >= _FAULT:
        return "the provider has a fault; try again later"
    if status in _ASKED_WRONGLY:
        return f"the provider does not take the request{_quoted(words)}"
    return "the provider's answer is none"


def _error(body: object) -> tuple[str, str]:
    fields: object = cast("dict[str, object]", body).get("error") if isinstance(body, dict) else None
    match fields:
        case {"code": str() as code, "message": str() as message}:
            return code, message
        case {"code": str() as code}:
            return code, ""
        case {"message": str() as message}:
            return "", message
        case _:
            return "", ""


def _quoted(words: str) -> str:
    shown = "".join(each if each.isprintable() else " " for each in words[: bounds.PROVIDER_WORDS * 4])
    plain = " ".join(shown.split()).replace('"', "'")[: bounds.PROVIDER_WORDS]
    return f'; it says: "{plain}"' if plain else ""

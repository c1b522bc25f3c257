"""Errors in the shape OpenAI gives them: one object with message, type, param and code."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from clankie_stage.provider.shapes import JsonObject


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is answered with an error.

    Attributes:
        status: HTTP status, 400..599.
        message: What is wrong, for a person.
        type: OpenAI's class of the error.
        param: Path of the offending field, such as ``messages.[2].role``.
        code: OpenAI's stable code, when it has one.
        headers: Extra response headers, such as ``retry-after``.
    """

    status: int
    message: str
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def body(self) -> JsonObject:
        """The answer's JSON body."""
        error: JsonObject = {
            "message": self.message,
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }
        return {"error": error}


def invalid(param: str | None, message: str, code: str | None = "invalid_value") -> Refusal:
    """A deterministic 400: sending the same body again cannot help."""
    return Refusal(400, message, param=param, code=code)


def wrong_type(param: str, expected: str) -> Refusal:
    """A field of another JSON type than the API knows."""
    return invalid(param, f"Invalid type for '{param}': expected {expected}.", "invalid_type")


def missing(param: str) -> Refusal:
    """A required field that is absent."""
    return invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")


def unknown(param: str) -> Refusal:
    """A field that the API does not have."""
    return invalid(param, f"Unknown parameter: '{param}'.", "unknown_parameter")

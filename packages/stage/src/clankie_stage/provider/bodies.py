"""From raw bytes to JSON, refusing what a strict parser or a database behind it would refuse."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Never, cast

from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed request body.

    Attributes:
        value: The top-level object.
        sources: The text of each top-level value exactly as it was sent.
    """

    value: JsonObject
    sources: dict[str, str]


def read_body(raw: bytes) -> Body | Refusal:
    """Parse a body as strictly as the strictest provider.

    Refused: bytes that are not UTF-8 (raw surrogates among them), text that is not one JSON object, NaN and
    infinities, and an unpaired surrogate or NUL behind a JSON escape. Source: C43, C52.
    """
    try:
        text = raw.decode("utf-8")
        found = dict(_members(text))
    except (ValueError, RecursionError):
        return _unreadable("The body is not valid JSON in UTF-8, or is no JSON object.")
    value: JsonObject = {name: parsed for name, (parsed, _) in found.items()}
    if "\\u" in text:
        # Only escapes can carry these past the UTF-8 and JSON parsers, so other bodies skip the walk.
        for part in strings(value):
            if _SURROGATE.search(part):
                return _unreadable("The body holds an unpaired UTF-16 surrogate.")
            if "\x00" in part:
                return _unreadable("The body holds a NUL character.")
    return Body(value, {name: source for name, (_, source) in found.items()})


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif (members := mapping(item)) is not None:
            yield from members
            waiting.extend(members.values())
        elif (elements := sequence(item)) is not None:
            waiting.extend(elements)


def open_messages(raw: bytes) -> bytes:
    """The messages array of a body as it was sent, without its closing bracket.

    An append-only history makes each request's answer here a prefix of the next one's. Source: LANE-13.

    Raises:
        ValueError: The body is not a JSON object with a messages array.
    """
    found = dict(_members(raw.decode("utf-8")))
    if "messages" not in found or sequence(found["messages"][0]) is None:
        raise ValueError("the body has no messages array")
    return found["messages"][1].encode()[:-1].rstrip()


def _members(text: str) -> Iterator[tuple[str, tuple[object, str]]]:
    """Each top-level member with its value and the text of that value."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at = _expect(text, 0, "{")
    closed = text[at : at + 1] == "}"
    while not closed:
        if not text.startswith('"', at):
            raise ValueError("a member's name is a string")
        name, at = cast("tuple[str, int]", decoder.raw_decode(text, at))
        start = _expect(text, at, ":")
        value, at = cast("tuple[object, int]", decoder.raw_decode(text, start))
        yield name, (value, text[start:at])
        at = _skip(text, at)
        closed = text[at : at + 1] == "}"
        if not closed:
            at = _expect(text, at, ",")
    if _skip(text, at + 1) != len(text):
        raise ValueError("text after the object")


def _skip(text: str, at: int) -> int:
    matched = _SPACE.match(text, at)
    return matched.end() if matched else at


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"expected {mark}")
    return _skip(text, at + 1)


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _unreadable(message: str) -> Refusal:
    return invalid(None, message, None)

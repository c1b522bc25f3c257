"""What the rehearsal model hears in a prompt."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from clankie_stage.provider.shapes import JsonObject, mapping, sequence

# The captain's fence: `<<<heard-KEY from="NAME" id=ID`, the words, `KEY>>>`; `talk` is backlog, `task` and `report`
# are work in the background. A block that someone
# forges stands inside a real one, and is passed over with it.
_BLOCK = re.compile(
    r"""^<<<(?P<kind>heard|talk|task|report)-(?P<key>\S+)[ ]from=(?P<author>"(?:[^"\\]|\\.)*"|yourself)[ ]id=\S+\n
    (?P<text>.*?)^(?P=key)>>>$""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """One message that a person wrote; the author is empty where the prompt names none.

    ``kind`` is another where it is work that the model itself moved to the background, or what came of it.
    """

    author: str
    text: str
    kind: Literal["heard", "task", "report"] = "heard"


def heard(messages: Iterable[JsonObject]) -> list[Heard]:
    """The people's messages since the last answer that ended a run, oldest first; earlier room talk is left out."""
    fresh = (text_of(message) for message in since_answer(messages) if message.get("role") == "user")
    return [one for text in fresh for one in _spoken(text)]


def _spoken(text: str) -> Iterator[Heard]:
    """The fenced messages of one user message, or all of its text where nothing is fenced."""
    blocks = list(_BLOCK.finditer(text))
    for block in blocks:
        if block["kind"] == "heard":
            yield Heard(_name(block["author"]), block["text"].strip())
        elif block["kind"] in ("task", "report"):
            yield Heard("", block["text"].strip(), "report" if block["kind"] == "report" else "task")
    if not blocks and text.strip():
        yield Heard("", text.strip())


def _name(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return ""


def since_answer(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """The messages after the last assistant message that called no tool."""
    fresh: list[JsonObject] = []
    for message in messages:
        if message.get("role") == "assistant" and not message.get("tool_calls"):
            fresh.clear()
        else:
            fresh.append(message)
    return fresh


def shown(messages: Iterable[JsonObject]) -> int:
    """How many pictures came with the people's messages since the last answer."""
    parts = (part for message in since_answer(messages) for part in _parts(message))
    return sum((mapping(part) or {}).get("type") == "image_url" for part in parts)


def _parts(message: JsonObject) -> Sequence[object]:
    content = message.get("content")
    return [] if isinstance(content, str) else sequence(content) or []


def text_of(message: JsonObject) -> str:
    """The text of a message, its text parts joined by line ends."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = ((mapping(part) or {}).get("text") for part in sequence(content) or [])
    return "\n".join(text for text in texts if isinstance(text, str))


def last_user_text(messages: Iterable[JsonObject]) -> str:
    """The text of the newest user message; empty when there is none."""
    texts = [text_of(message) for message in messages if message.get("role") == "user"]
    return texts[-1] if texts else ""

"""What stays of words that are to be forgotten: the place where they stood, and nothing of them. Source: OPS-12.

Whose words stand where is told by the triggers that a lane heard: they name the author of every message, and every
block of a request names its message. A block is read as it was built in ``context.py``: its delimiter occurs in nothing
that people wrote, so that no words can pose as the end of their block or as the beginning of another.
"""

import json
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, Final, cast

from clankie_captain.core.silence import is_silence
from clankie_settings.wire.result import RESULT, Replied
from clankie_settings.wire.trigger import Actor, ContextMessage, Trigger

NOBODY: Final = "forgotten"
"""Id and name of whoever was forgotten."""

WORDS: Final = "(forgotten)"
"""What stands where somebody's words stood."""

REPLY: Final = "(What I said here was forgotten.)"
"""What stands where his own words stood."""

_OPENS: Final = re.compile(r"<<<(heard|talk|task|report)-(\S+) from=")
_CAPTION: Final = re.compile(r"^Picture [0-9]+, of the message (\S+?)(?:,|:$)", re.MULTILINE)
_NOTES: Final = re.compile(r"(<<<notes-(\S+) from=yourself\n).*(\n\2>>>)", re.DOTALL)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a lane is to forget of a person.

    ``messages`` and ``deliveries`` are the ids of what the person wrote, ``runs`` those in which he answers to it and
    whose own words go as well. ``own`` are the ids of his posts from such runs, wherever they came along as backlog.
    """

    person: str
    messages: frozenset[str] = frozenset()
    deliveries: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()


def written_by(person: str, trigger: Trigger) -> frozenset[str]:
    """The ids of the messages that a trigger has of a person."""
    own = {trigger.message_id} if trigger.actor.actor_id == person else set[str]()
    return frozenset(own | {each.message_id for each in _talk(trigger) if each.author_id == person})


def carried(own: Container[str], trigger: Trigger) -> frozenset[str]:
    """Which of these posts of his a trigger still has words or pictures of."""
    told = {each.message_id for each in _talk(trigger) if each.body not in (None, REPLY)}
    shown = {trigger.context_visual.message_id} if trigger.context_visual is not None else set[str]()
    return frozenset(each for each in told | shown if each in own)


def without(person: str, trigger: Trigger, own: frozenset[str] = frozenset()) -> Trigger:
    """The trigger without a person's words, names and pictures, and without these posts' words; all else stays."""
    theirs = written_by(person, trigger)
    changed: Json = {
        "context": tuple(_left(each, theirs, own) for each in trigger.context),
        "reply_to": _left(trigger.reply_to, theirs, own) if trigger.reply_to else None,
    }
    if trigger.context_visual is not None and trigger.context_visual.message_id in theirs | own:
        changed["context_visual"] = None
    if trigger.message_id in own:
        changed["body"] = REPLY
    if trigger.actor.actor_id == person:
        changed |= _SPEECHLESS
        if trigger.room.guild_id is None:
            changed["room"] = trigger.room.model_copy(update=_UNNAMED)
    return trigger.model_copy(update=changed)


def bare(trigger: Trigger) -> Trigger:
    """The trigger without anybody's words, names and pictures: what is needed to know its delivery again."""
    room = trigger.room.model_copy(update=_UNNAMED)
    return trigger.model_copy(
        update={**_SPEECHLESS, "context": (), "context_visual": None, "reply_to": None, "room": room}
    )


def entry(kind: str, run: str, payload: str, erasure: Erasure) -> str | None:
    """An entry's payload without what is to be forgotten; None where it holds nothing of it."""
    answering = run in erasure.runs
    match kind:
        case "heard":
            trigger = Trigger.model_validate_json(payload)
            changed = without(erasure.person, trigger, erasure.own)
            return None if changed == trigger else changed.model_dump_json(exclude_none=True)
        case "request":
            gone, own = erasure.messages, erasure.own
            return _request(payload, lambda text: words(text, gone, own), gone | own, results=answering)
        case "notes" if erasure.messages or erasure.own:
            # Whose words went into notes cannot be told.
            return _request(payload, _mute_notes)
        case "response" | "unposted" if answering:
            return _response(payload)
        case "said" if answering:
            return _with(payload, text=REPLY)
        case "broken" if answering:
            return _with(payload, words="")
        case "accepted":
            mine = json.loads(payload).get("run_receipt") in erasure.deliveries
            return _with(payload, text=WORDS) if mine else None
        case _:
            return None


def result(stored: str) -> str | None:
    """A stored result without his words; None where it has none."""
    settled = RESULT.validate_json(stored)
    if not isinstance(settled, Replied):
        return None
    return settled.model_copy(update={"text": REPLY, "artifacts": ()}).model_dump_json(exclude_none=True)


def action(payload: str) -> str | None:
    """A stored action without his words; None where it has none."""
    stored = json.loads(payload)
    if "text" not in stored:
        return None
    return _with(payload, text=REPLY, **({"artifacts": []} if "artifacts" in stored else {}))


def words(text: str, messages: frozenset[str], own: frozenset[str] = frozenset()) -> str:
    """What the model read, without the words and names in the blocks of these messages; all else byte for byte.

    Of ``own``, posts of his, the words alone go.
    """
    kept: list[str] = []
    at = 0
    while (opens := _OPENS.search(text, at)) is not None:
        kind, delimiter = opens.groups()
        closing = text.find(f"{delimiter}>>>", opens.end())
        if closing < 0:
            break
        ends = closing + len(delimiter) + 3
        message = text[opens.end() : closing].partition("\n")[0].rpartition(" id=")[2]
        kept.append(text[at : opens.start()])
        if message in messages:
            kept.append(f'<<<{kind}-{delimiter} from="{NOBODY}" id={message}\n{WORDS}\n{delimiter}>>>')
        elif message in own:
            kept.append(f"<<<{kind}-{delimiter} from=yourself id={message}\n{REPLY}\n{delimiter}>>>")
        else:
            kept.append(text[opens.start() : ends])
        at = ends
    return "".join([*kept, text[at:]])


_SPEECHLESS: Final[Json] = {
    "actor": Actor(actor_id=NOBODY, display_name=NOBODY),
    "body": WORDS,
    "attachments": (),
}
_UNNAMED: Final[Json] = {"guild_name": None, "channel_name": None}


def _talk(trigger: Trigger) -> tuple[ContextMessage, ...]:
    return trigger.context if trigger.reply_to is None else (trigger.reply_to, *trigger.context)


def _left(message: ContextMessage, theirs: frozenset[str], own: frozenset[str]) -> ContextMessage:
    if message.message_id in own and message.body is not None:
        return message.model_copy(update={"body": REPLY})
    if message.message_id not in theirs:
        return message
    said = None if message.body is None else WORDS
    return message.model_copy(update={"author_id": NOBODY, "author_name": NOBODY, "body": said})


def _with(payload: str, **fields: Any) -> str:
    return json.dumps({**json.loads(payload), **fields}, ensure_ascii=False)


def _mute_notes(text: str) -> str:
    found = _NOTES.sub(rf"\1{WORDS}\3", text)
    return WORDS if found == text and WORDS not in text else found


def _request(
    payload: str, change: Callable[[str], str], messages: frozenset[str] = frozenset(), *, results: bool = False
) -> str | None:
    document = json.loads(payload)
    parts = [_request_part(each, change, messages, results=results) for each in document.get("parts", ())]
    return None if parts == document.get("parts", []) else _dump({**document, "parts": parts})


def _request_part(part: Json, change: Callable[[str], str], messages: frozenset[str], *, results: bool) -> Json:
    content = part.get("content")
    if part.get("part_kind") != "user-prompt":
        return {**part, "content": WORDS, "metadata": None} if results and "content" in part else part
    if isinstance(content, str):
        return {**part, "content": change(content)}
    items = cast("list[Any]", content)
    return {**part, "content": _items(items, change, messages)}


def _items(items: list[Any], change: Callable[[str], str], messages: frozenset[str]) -> list[Any]:
    """Words with pictures: a picture goes with the message that its caption names, or else with the words before it."""
    kept: list[Any] = []
    goes = False
    for item in items:
        if not isinstance(item, str):
            kept += [] if goes else [item]
            continue
        said = change(item)
        caption = _CAPTION.search(item)
        goes = caption.group(1) in messages if caption else said != item
        if not (goes and caption):
            kept.append(said)
    return kept


def _response(payload: str) -> str | None:
    document = json.loads(payload)
    found = document.get("parts", [])
    parts = [each for each in map(_response_part, found) if each is not None]
    if not parts:
        parts = [{"content": REPLY, "part_kind": "text"}]
    return None if parts == found else _dump({**document, "parts": parts, "provider_details": None, "metadata": None})


def _response_part(part: Json) -> Json | None:
    match part.get("part_kind"):
        case "text":
            return part if is_silence(str(part.get("content"))) else {"content": REPLY, "part_kind": "text"}
        case "tool-call":
            return {**part, "args": _speechless(part.get("args")), "provider_details": None}
        case _:
            # Thoughts are signed, and taken back unmodified or not at all.
            return None


def _speechless(args: Any) -> Any:
    if isinstance(args, str):
        try:
            return json.dumps(_mute(json.loads(args)))
        except ValueError:
            return "{}"
    return _mute(args)


def _mute(value: Any) -> Any:
    match value:
        case str():
            return WORDS
        case dict():
            return {key: _mute(each) for key, each in cast("Json", value).items()}
        case list():
            return [_mute(each) for each in cast("list[Any]", value)]
        case _:
            return value


def _dump(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

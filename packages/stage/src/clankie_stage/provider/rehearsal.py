"""The rehearsal model: answers by a few visible rules, so that everything can be watched without a key."""

import json
import re
from collections.abc import Iterable, Sequence

from clankie_stage.provider.beats import Beat, Call, Fail, Finish, Pause, Say, Step
from clankie_stage.provider.hearing import Heard, heard, shown, since_answer, text_of
from clankie_stage.provider.shapes import JsonObject, mapping, sequence
from clankie_stage.provider.steps import SILENCE

RULES: tuple[str, ...] = (
    "It names everything it heard since its last answer, in order, in one short answer.",
    "“slow”: it takes about eight seconds, writing a little now and then.",
    "It says how many pictures it was shown.",
    "“draw it”: it draws what it heard as a diagram, where it has the tool for it.",
    "“use a tool” or “look it up”: it calls a tool first; in a room that posts a text update.",
    '“call read_page {"url": "https://example.com"}”: it calls that tool, any other alike, and quotes what came back.',
    "“in the background”: it moves the work there, talks on, and tells what came of it some twenty seconds later.",
    "“stay silent” or “not for you”: it answers nothing to that message, and stays silent if there is no other.",
    "“quote the marker”: it quotes the silence marker, which is a reply and no silence.",
    "“fail on purpose”, said last: the provider answers with an error instead.",
    "“who are you”: it says that it is the rehearsal model, a rule book and no mind.",
)
"""All that the rehearsal model does, for the page and the README."""

_WORDS_A_DELTA = 3
_DELTA_PAUSE_S = 0.15
_SLOW_S = 8.0
_SLOW_DELTAS = 8
_QUOTED = 120
_CAME_BACK = 600
_UPDATE = "send_text_update"
_DRAW = "draw_diagram"
_DRAWN = 6

_FORK = "fork"
_WORK_S = 20.0

_BEHIND = re.compile(r"in the background", re.IGNORECASE)
_SILENT = re.compile(r"stay silent|not for you", re.IGNORECASE)
_PICTURE = re.compile(r"\bdraw (it|a diagram)\b", re.IGNORECASE)
_TOOL = re.compile(r"use a tool|look it up", re.IGNORECASE)
_NAMED = re.compile(r"\bcall\s+`*([A-Za-z][\w-]*)`*\s*(\{.*\})", re.IGNORECASE | re.DOTALL)
_SLOW = re.compile(r"\bslow(ly)?\b", re.IGNORECASE)
_MARKER = re.compile(r"quote the marker", re.IGNORECASE)
_FAIL = re.compile(r"fail on purpose", re.IGNORECASE)
_WHO = re.compile(r"who are you|what are you", re.IGNORECASE)


def rehearse(messages: Sequence[JsonObject], tools: Iterable[JsonObject]) -> Step:
    """The rehearsal model's answer to a prompt, with its pauses; see ``RULES``."""
    fresh, tools = heard(messages), list(tools)
    # The newest alone: words that failed were never answered, and must not let everything after them fail.
    if fresh and _FAIL.search(fresh[-1].text):
        error = Fail(500, "server_error", message="The rehearsal was asked to fail.")
        return Step((error,), label="rehearsal: fail")
    if any(_PICTURE.search(one.text) for one in fresh) and not _used_tool(messages) and _has(tools, _DRAW):
        return Step((Pause(_DELTA_PAUSE_S), _drawing(fresh), Finish("tool_calls")), label="rehearsal: drawing")
    if (background := _background(messages, fresh, tools)) is not None:
        return background
    named = _named_call(fresh)
    came = None if named is None else _came_back(named, messages)
    if named is not None and came is None and _has(tools, named.name):
        return Step((Pause(_DELTA_PAUSE_S), named, Finish("tool_calls")), label="rehearsal: named tool")
    if any(_TOOL.search(one.text) for one in fresh) and not _used_tool(messages):
        call = _tool_call(fresh, tools)
        if call is not None:
            return Step((Pause(_DELTA_PAUSE_S), call, Finish("tool_calls")), label="rehearsal: tool")
    meant = [one for one in fresh if not _SILENT.search(one.text)]
    if fresh and not meant:
        return Step((*_paced(SILENCE, slow=False), Finish()), label="rehearsal: silence")
    slow = any(_SLOW.search(one.text) for one in meant)
    # In one piece: what came back may have hundreds of words.
    quoted = () if named is None else (Say(_outcome(named.name, came)),)
    return Step((*_paced(answer(meant, shown(messages)), slow), *quoted, Finish()), label="rehearsal: answer")


def _background(messages: Sequence[JsonObject], fresh: Sequence[Heard], tools: Iterable[JsonObject]) -> Step | None:
    """What it does for work in the background: moves it there, works on it, or tells what came of it."""
    if reports := [one for one in fresh if one.kind == "report"]:
        told = f"Back from the background: {reports[-1].text}"
        return Step((*_paced(told, slow=False), Finish()), label="rehearsal: report")
    if tasks := [one for one in fresh if one.kind == "task"]:
        done = f"I have worked on “{tasks[-1].text[:_QUOTED]}”, and it is done."
        return Step((*_spread(done, _WORK_S), Finish()), label="rehearsal: work")
    asked = next((one for one in fresh if _BEHIND.search(one.text)), None)
    names = {(mapping(tool.get("function")) or {}).get("name") for tool in tools}
    if asked is None or _FORK not in names or _used_tool(messages):
        return None
    wanted = json.dumps({"task": asked.text[:_QUOTED]}, ensure_ascii=False)
    return Step((Pause(_DELTA_PAUSE_S), Call(_FORK, (wanted,)), Finish("tool_calls")), label="rehearsal: fork")


def answer(meant: Sequence[Heard], pictures: int = 0) -> str:
    """The words that answer these messages, with which so many pictures came."""
    if not meant:
        return "I heard nothing new."
    lines = [_line(one) for one in meant]
    text = lines[0] if len(lines) == 1 else "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    if pictures:
        text += f"\nI was shown {pictures} picture{'s' if pictures > 1 else ''}."
    if any(_MARKER.search(one.text) for one in meant):
        text += f"\nThe marker is {SILENCE}, and this is a reply that quotes it."
    if any(_WHO.search(one.text) for one in meant):
        text += "\nI am the rehearsal model: a short list of rules, and no mind."
    return text


def _line(one: Heard) -> str:
    words = " ".join(one.text.split())
    quoted = words if len(words) <= _QUOTED else f"{words[: _QUOTED - 1]}…"
    what = f"“{quoted}”" if quoted else "something without words"
    return f"{one.author}, I heard {what}." if one.author else f"I heard {what}."


def _paced(text: str, slow: bool) -> list[Beat]:
    """The text in deltas of a few words, with a pause before each."""
    deltas = re.findall(rf"(?:\S+\s*){{1,{_WORDS_A_DELTA}}}", text)
    if not slow:
        return [beat for delta in deltas for beat in (Pause(_DELTA_PAUSE_S), Say(delta))]
    return _spread(text, _SLOW_S)


def _spread(text: str, seconds: float) -> list[Beat]:
    """The text in a few pieces over so many seconds."""
    deltas = re.findall(rf"(?:\S+\s*){{1,{_WORDS_A_DELTA}}}", text)
    size = -(-len(deltas) // _SLOW_DELTAS)
    groups = ["".join(deltas[at : at + size]) for at in range(0, len(deltas), size)]
    return [beat for group in groups for beat in (Pause(seconds / len(groups)), Say(group))]


def _used_tool(messages: Sequence[JsonObject]) -> bool:
    return any(message.get("role") == "tool" for message in since_answer(messages))


def _named_call(fresh: Sequence[Heard]) -> Call | None:
    """The newest call that somebody wrote out, its arguments as they stand; none where these are no JSON object."""
    for one in reversed(fresh):
        if (written := _NAMED.search(one.text)) is not None:
            try:
                json.loads(written[2])
            except ValueError:
                continue
            return Call(written[1], (written[2],))
    return None


def _came_back(named: Call, messages: Sequence[JsonObject]) -> str | None:
    """What came back since the call was asked for last; a run that was stopped before has left results of its own."""
    came: str | None = None
    for message in since_answer(messages):
        text = text_of(message)
        if message.get("role") == "user" and named.pieces[0] in text:
            came = None
        elif message.get("role") == "tool":
            came = text
    return came


def _outcome(name: str, came: str | None) -> str:
    if came is None:
        return f"\nI have no tool {name} here."
    return f"\nWhat came back from {name}:\n{came if len(came) <= _CAME_BACK else f'{came[:_CAME_BACK]}…'}"


def _has(tools: Iterable[JsonObject], name: str) -> bool:
    return any((mapping(tool.get("function")) or {}).get("name") == name for tool in tools)


def _drawing(fresh: Sequence[Heard]) -> Call:
    """What was heard as steps of a flow, one after another."""
    words = [" ".join(one.text.split())[:_QUOTED] or "…" for one in fresh[-_DRAWN:]]
    steps = [{"id": str(n), "label": text} for n, text in enumerate(words)]
    links = [{"source": str(n), "target": str(n + 1)} for n in range(len(words) - 1)]
    diagram = {"kind": "flow", "direction": "right", "steps": steps, "links": links}
    return Call(_DRAW, (json.dumps({"title": "What I heard", "diagram": diagram}, ensure_ascii=False),))


def _tool_call(fresh: Sequence[Heard], tools: Iterable[JsonObject]) -> Call | None:
    """A call of the update tool, else of the first tool that needs nothing but texts."""
    functions = [mapping(tool.get("function")) or {} for tool in tools]
    suitable = [function for function in functions if _needs_only_texts(function)]
    suitable.sort(key=lambda function: function.get("name") != _UPDATE)
    if not suitable:
        return None
    asked = next(one.text for one in fresh if _TOOL.search(one.text))
    said = "Looking it up, one moment." if suitable[0].get("name") == _UPDATE else asked[:_QUOTED]
    arguments = json.dumps(dict.fromkeys(_required(suitable[0]), said), ensure_ascii=False)
    half = len(arguments) // 2
    return Call(str(suitable[0].get("name")), (arguments[:half], arguments[half:]))


def _needs_only_texts(function: JsonObject) -> bool:
    properties = mapping((mapping(function.get("parameters")) or {}).get("properties")) or {}
    return all((mapping(properties.get(name)) or {}).get("type") == "string" for name in _required(function))


def _required(function: JsonObject) -> list[str]:
    schema = mapping(function.get("parameters")) or {}
    return [str(name) for name in sequence(schema.get("required")) or []]

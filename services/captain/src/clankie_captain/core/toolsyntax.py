"""Tool calls that a model wrote as words instead of making them. Source: ROOM-7, C60.

Models that lose their template write the call in the syntax that they were trained on: tags, control tokens, JSON, or
Python. Nobody in a room wants to read that. What stands in a code block or between back-ticks is quoted, and stays.
"""

import json
import re
from collections.abc import Collection
from typing import Final, cast

_QUOTED: Final = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})(?P<label>[^\n`]*)\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)|`[^`\n]+`",
    re.DOTALL | re.MULTILINE,
)
_CALL_LABELS: Final = frozenset({"tool_call", "tool_calls", "tool_code", "function_call", "function_calls"})

_TAG: Final = (
    r"(?:[a-z]+:)?(?:tool_(?:calls?|use|code|results?|response)|function_(?:calls?|results?)|invoke)(?=[\s>])[^<>]*"
)
_OPENING: Final = re.compile(rf"(?:^(?P<indent>[ \t]*))?<(?P<tag>{_TAG})>\s*", re.IGNORECASE | re.MULTILINE)
_STRAY: Final = re.compile(rf"^[ \t]*</{_TAG}>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_CONTROL: Final = re.compile(
    r"<function=[\w.-]+>.*?(?:</function>|\Z)"
    "|<[|\uff5c]tool[_\u2581]calls?(?:[_\u2581]section)?[_\u2581]begin[|\uff5c]>.*?"
    r"(?:<[|\uff5c]tool[_\u2581]calls(?:[_\u2581]section)?[_\u2581]end[|\uff5c]>|\Z)"
    r"|<\|tool_calls?\|>.*?(?:<\|/tool_calls?\|>|\Z)"
    r"|(?:<\|start\|>\w*)?<\|channel\|>\w+ to=functions\..*?(?:<\|call\|>|\Z)"
    r"|<\|python_tag\|>.*?(?:<\|eom_id\|>|<\|eot_id\|>|\Z)"
    r"|^[ \t]*\[TOOL_CALLS\].*\Z",
    re.DOTALL | re.MULTILINE,
)
_JSON_START: Final = re.compile(r"^[ \t]*(?=[{\[])", re.MULTILINE)
_LINE_END: Final = re.compile(r"[ \t,;]*$", re.MULTILINE)

_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_NAME_KEYS: Final = frozenset({"name", "tool", "tool_name", "function", "action"})
_INPUT_KEYS: Final = frozenset({"arguments", "parameters", "args", "input", "tool_input", "action_input"})
_OTHER_KEYS: Final = frozenset({"id", "type", "index", "tool_call_id", "call_id"})
_LIST_KEYS: Final = frozenset({"tool_calls", "function_call", "tool_call"})


def without_written_calls(text: str, tools: Collection[str] = ()) -> str:
    """The text without calls that were only written, outside of what it quotes.

    Args:
        text: A model's answer.
        tools: Names of tools that there are; with them, a bare ``{"name": …}`` and ``name(…)`` alone on a line are
            known as calls too.

    Returns:
        The very text where it holds no call; else what is left, possibly nothing.
    """
    quotes: list[str] = []
    masked = _QUOTED.sub(lambda found: _masked(found, quotes), text.replace("\0", ""))
    left = _without_json(_without_syntax(masked), tools)
    if tools:
        left = _python_call(tools).sub("", left)
    if left == masked and "" not in quotes:
        return text
    return re.sub(r"\n{3,}", "\n\n", _unmasked(left, quotes)).strip()


def _masked(found: re.Match[str], quotes: list[str]) -> str:
    """A stand-in for quoted text; a code block whose label says that it is a call stands for nothing."""
    label = (found["label"] or "").strip().casefold()
    quotes.append("" if label in _CALL_LABELS else found[0])
    return f"\0{len(quotes) - 1}\0"


def _unmasked(text: str, quotes: list[str]) -> str:
    return re.sub("\0([0-9]+)\0", lambda found: quotes[int(found[1])], text)


def _without_syntax(text: str) -> str:
    return _STRAY.sub("", _without_tags(_CONTROL.sub("", text)))


def _without_tags(text: str) -> str:
    """The text without tags of calls and what they hold; one that a sentence only names stays."""
    at, kept, unclosed = 0, list[str](), set[str]()
    for found in _OPENING.finditer(text):
        if found.start() < at:
            continue
        closing = f"</{found['tag'].split()[0]}>"
        end = -1 if closing in unclosed else text.find(closing, found.end())
        if end < 0:
            unclosed.add(closing)
        signs = (text[found.end() : found.end() + 1] in ("", "{", "[", "<"), found["indent"] is not None)
        if any(signs) if end >= 0 else all(signs):
            kept.append(text[at : found.start()])
            at = len(text) if end < 0 else end + len(closing)
    return "".join([*kept, text[at:]])


def _without_json(text: str, tools: Collection[str]) -> str:
    """The text without JSON values that are calls and fill their lines."""
    at, seen, kept = 0, 0, list[str]()
    for found in _JSON_START.finditer(text):
        if found.start() < seen:
            continue
        try:
            # The stand-ins are control characters, which a strict decoder does not take.
            value, seen = json.JSONDecoder(strict=False).raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        line = _LINE_END.match(text, seen)
        if line is not None and _is_call(cast("object", value), tools):
            kept.append(text[at : found.start()])
            at = line.end()
    return "".join([*kept, text[at:]])


def _is_call(value: object, tools: Collection[str]) -> bool:
    if isinstance(value, list):
        items = cast("list[object]", value)
        return bool(items) and all(_is_call(item, tools) for item in items)
    if not isinstance(value, dict):
        return False
    entry = cast("dict[str, object]", value)
    keys = entry.keys() - _OTHER_KEYS
    if len(keys) == 1 and keys <= _LIST_KEYS | {"function"}:
        return _is_call(entry[next(iter(keys))], tools)
    named = keys & _NAME_KEYS
    given = keys & _INPUT_KEYS
    if len(named) != 1 or keys != named | given:
        return False
    name = entry[next(iter(named))]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return False
    if len(given) != 1:
        return name in tools
    return isinstance(entry[next(iter(given))], dict) or name in tools


def _python_call(tools: Collection[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(tools))
    return re.compile(rf"^[ \t]*\[?(?:functions\.)?(?:{names})\([^\n]*\)\]?[ \t]*$", re.MULTILINE)

"""An entry of a lane as a person reads it."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from clankie_cli.plain import counted, plain, plain_lines

TEXT_CHARS: Final = 2_000
"""Characters of one text that are shown; JSON lines have it whole."""

Json = dict[str, Any]


def shown(entry: Mapping[str, Any]) -> str:
    """The entry's place, when it was written (UTC), its kind, and what it says."""
    payload = entry.get("payload")
    said = _said(str(entry.get("kind")), cast("Json", payload) if isinstance(payload, dict) else {})
    first, *rest = plain_lines(said[:TEXT_CHARS]).split("\n")
    written = plain(str(entry.get("at") or ""))[: len("2026-01-02T03:04:05")].replace("T", " ")
    head = " ".join([f"{entry.get('seq'):>5}", *([written] if written else []), f"{plain(str(entry.get('kind'))):<10}"])
    head = f"{head} {first}"
    return "\n".join([head.rstrip(), *(f"{'':<16} {line}".rstrip() for line in rest)])


def _said(kind: str, payload: Json) -> str:
    match kind:
        case "heard":
            pictures = len(_listed(payload.get("attachments")))
            shown = f" ({counted(pictures, 'picture')})" if pictures else ""
            return f"{_name(payload)}: {payload.get('body') or ''}{shown}"
        case "said" | "accepted":
            return str(payload.get("text") or "")
        case "broken":
            return f"{payload.get('code')} ({payload.get('cause')}) {payload.get('words') or ''}"
        case "settled":
            return " ".join(str(value) for key, value in payload.items() if key != "run_receipt")
        case "request" | "response" | "unposted":
            return "\n".join(_part(each) for each in _listed(payload.get("parts")))
        case _:
            return ""


def _listed(value: object) -> list[Json]:
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", each) for each in found if isinstance(each, dict)]


def _name(payload: Json) -> str:
    actor = payload.get("actor")
    return str(cast("Json", actor).get("display_name")) if isinstance(actor, dict) else "somebody"


def _of_tool(what: str, part: Json, said: object) -> str:
    """A tool and what it was given or gave, as it stands there: who looks afterwards wants to know."""
    text = said if isinstance(said, str) or not said else json.dumps(said, ensure_ascii=False)
    return f"{what} {part.get('tool_name')}{f': {text}' if text else ''}"


def _part(part: Json) -> str:
    match part.get("part_kind"):
        case "text":
            return str(part.get("content") or "")
        case "tool-call":
            return _of_tool("calls", part, part.get("args"))
        case "tool-return":
            return _of_tool("result of", part, part.get("content"))
        case "user-prompt":
            content = part.get("content")
            return content if isinstance(content, str) else "words and pictures"
        case kind:
            return f"({kind})"

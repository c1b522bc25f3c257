"""An event of a conversation as a person reads it."""

from collections.abc import Mapping
from typing import Any

from clankie_cli.plain import plain, plain_lines


def shown(name: str, data: Mapping[str, Any]) -> str | None:
    """The lines of an event; None for what only programs want, such as single tokens."""
    match name:
        case "accepted":
            how = data.get("delivery", "auto")
            label = "you" if how in (None, "auto") else f"you ({how})"
            return _said(label, data.get("text"), data.get("run_receipt"))
        case "said":
            return _said("clankie", data.get("text"), None)
        case "steered":
            return _aside("heard with the run that is live", data)
        case "tool":
            return _aside(f"tool {data.get('tool')}: {data.get('state')}", data)
        case "settled":
            why = data.get("code") or data.get("answered_by")
            return _aside(f"{data.get('state')}{f': {why}' if why else ''}", data)
        case _:
            return None


def _said(label: str, text: object, receipt: object) -> str:
    lines = plain_lines(str(text or "")).split("\n")
    head = f"{plain(label):<12} {lines[0]}"
    tail = f"    [{plain(str(receipt))}]" if receipt else ""
    return "\n".join([head + tail, *(f"{'':<12} {line}" for line in lines[1:])])


def _aside(text: str, data: Mapping[str, Any]) -> str:
    return plain(f"{'·':>12} {text}    [{data.get('run_receipt')}]")

"""Steps as JSON and back, for scripts that come over HTTP."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import cast

from clankie_stage.provider.beats import (
    Beat,
    Call,
    Decline,
    End,
    Fail,
    Finish,
    Gate,
    Hold,
    Match,
    Open,
    Pause,
    Ping,
    Say,
    Search,
    Step,
    Think,
)
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_BEATS: Mapping[str, type[Beat]] = {
    kind.__name__.lower(): kind
    for kind in (Open, Say, Think, Decline, Call, Search, Ping, Pause, Gate, Hold, Fail, End, Finish)
}


def encode_step(step: Step) -> JsonObject:
    """A step as a JSON object: ``{"beats": [{"beat": "say", "text": "hi"}, …], "when": {…}, …}``."""
    beats: list[object] = [{"beat": type(beat).__name__.lower(), **asdict(beat)} for beat in step.beats]
    return {"beats": beats, "when": asdict(step.when), "cut_after": step.cut_after, "label": step.label}


def decode_step(value: object) -> Step:
    """A step from its JSON object.

    Raises:
        ValueError: The object is no step; the message says which part.
    """
    entry = mapping(value)
    beats = sequence((entry or {}).get("beats"))
    if entry is None or beats is None:
        raise ValueError("a step is an object with a list of beats")
    cut_after = entry.get("cut_after")
    if cut_after is not None and not isinstance(cut_after, int):
        raise ValueError("cut_after is a number of bytes")
    return Step(
        beats=tuple(_decode_beat(beat) for beat in beats),
        when=_decode_match(entry.get("when")),
        cut_after=cut_after,
        label=str(entry.get("label") or ""),
    )


def _decode_beat(value: object) -> Beat:
    entry = dict(mapping(value) or {})
    name = entry.pop("beat", None)
    kind = _BEATS.get(str(name))
    if kind is None:
        raise ValueError(f"no such beat: {name}; one of {', '.join(_BEATS)}")
    known = {field.name for field in fields(kind)}
    if not entry.keys() <= known:
        raise ValueError(f"beat {name} has no {', '.join(sorted(entry.keys() - known))}")
    if "pieces" in entry:
        entry["pieces"] = tuple(str(piece) for piece in sequence(entry["pieces"]) or [])
    if "pages" in entry:
        pairs = [sequence(page) or [] for page in sequence(entry["pages"]) or []]
        entry["pages"] = tuple(tuple(str(part) for part in pair) for pair in pairs)
    try:
        # The beat's own types are trusted: scripts are tests, and loopback.
        return cast("Beat", cast("type", kind)(**entry))
    except TypeError as error:
        raise ValueError(f"beat {name} lacks a field") from error


def _decode_match(value: object) -> Match:
    entry = mapping(value) or {}
    parts = {name: part for name, part in entry.items() if isinstance(part, str)}
    return Match(parts.get("last_user"), parts.get("anywhere"), parts.get("model"))

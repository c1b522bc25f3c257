"""Schemas of a server's tools, brought into the form that every provider takes. Source: CTX-3.

What is kept tells a model what to give; the server judges the arguments itself, so that a keyword which some provider
refuses can be left out without loss.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, cast

from clankie_captain.core.quoting import visible
from clankie_settings import bounds

Flaw = Literal["name", "shape", "reference", "depth", "size", "twice", "many"]
"""Why a tool is left out: its name or its schema cannot be had, it comes twice, or too many come before it."""

Json = dict[str, Any]

_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NODES: Final = 2_000
_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_BELOW: Final = ("items", "additionalProperties", "not")


class SchemaFlawError(Exception):
    """A schema cannot be brought into that form.

    Attributes:
        flaw: Why not.
    """

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw: Flaw = flaw


def simplified(schema: Mapping[str, Any]) -> Json:
    """A schema of arguments with its references written out, and nothing in it that a provider refuses.

    Raises:
        SchemaFlawError: It is no object's, refers to what it does not hold, or is too deep or too large.
    """
    if schema.get("type") != "object":
        raise SchemaFlawError("shape")
    simple = _Simplifying(schema).schema(schema, 0, ())
    # Providers take no alternatives of the whole, and none takes an object of which nothing is said.
    root = {key: value for key, value in simple.items() if key not in (*_ALTERNATIVES, "not", "enum", "const")}
    # Where it leads back to itself nothing of it is left but that it is an object.
    return {**root, "type": "object", "properties": root.get("properties", {})}


class _Simplifying:
    """One schema on its way; ``schema`` is called for each part of it, at most ``_NODES`` times."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._nodes = 0

    def schema(self, part: object, depth: int, inside: tuple[str, ...]) -> Json:
        self._nodes += 1
        if self._nodes > _NODES:
            raise SchemaFlawError("size")
        if depth > bounds.TOOL_SCHEMA_DEPTH:
            raise SchemaFlawError("depth")
        if part is True:
            return {}
        if not isinstance(part, dict):
            raise SchemaFlawError("shape")
        held = cast("Json", part)
        if "$ref" in held:
            return self._written_out(held, depth, inside)
        simple = {key: check(held[key]) for key, check in _PLAIN.items() if key in held}
        found = {key: value for key, value in simple.items() if value is not None}
        found |= {key: held[key] for key in ("const", "default") if key in held}
        found |= dict(self._below(held, depth + 1, inside))
        kinds = found.get("type", ())
        if "array" in (kinds if isinstance(kinds, list) else (kinds,)) and not found.keys() & {"items", "prefixItems"}:
            found["items"] = {}
        return found

    def _written_out(self, held: Json, depth: int, inside: tuple[str, ...]) -> Json:
        reference = held["$ref"]
        if reference in inside:
            # It holds itself; beyond the first time it may be anything.
            return {}
        target = self._target(reference)
        beside = {key: value for key, value in held.items() if key != "$ref"}
        return self.schema({**target, **beside}, depth, (*inside, str(reference)))

    def _target(self, reference: object) -> Json:
        steps = reference.split("/") if isinstance(reference, str) else []
        if len(steps) != 3 or steps[0] != "#" or steps[1] not in ("$defs", "definitions"):
            raise SchemaFlawError("reference")
        held = self._whole.get(steps[1])
        name = steps[2].replace("~1", "/").replace("~0", "~")
        target = cast("Json", held).get(name) if isinstance(held, dict) else None
        if not isinstance(target, dict):
            raise SchemaFlawError("reference")
        return cast("Json", target)

    def _below(self, held: Json, depth: int, inside: tuple[str, ...]) -> Iterator[tuple[str, object]]:
        properties = held.get("properties")
        if isinstance(properties, dict):
            named = cast("Json", properties)
            if not all(0 < len(name) <= bounds.TOOL_NAME_CHARS and _LETTERS.issuperset(name) for name in named):
                raise SchemaFlawError("name")
            yield "properties", {name: self.schema(each, depth, inside) for name, each in named.items()}
        for key in _ALTERNATIVES:
            if isinstance(several := held.get(key), list) and several:
                yield key, [self.schema(each, depth, inside) for each in cast("list[object]", several)]
        for key in _BELOW:
            if isinstance(below := held.get(key), dict):
                yield key, self.schema(cast("Json", below), depth, inside)
        if isinstance(held.get("additionalProperties"), bool):
            yield "additionalProperties", held["additionalProperties"]


def _words(value: object) -> str | None:
    return visible(value) if isinstance(value, str) else None


def _kinds(value: object) -> str | list[str] | None:
    if isinstance(value, str):
        return value if value in _TYPES else None
    listed = cast("list[object]", value) if isinstance(value, list) else []
    kinds = [each for each in listed if isinstance(each, str) and each in _TYPES]
    return list(dict.fromkeys(kinds)) if kinds and len(kinds) == len(listed) else None


def _texts(value: object) -> list[str] | None:
    listed = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = [each for each in listed if isinstance(each, str)]
    return list(dict.fromkeys(texts)) if len(texts) == len(listed) else None


def _choices(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) and value else None


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_PLAIN: Final[Mapping[str, Callable[[object], object]]] = {
    "type": _kinds,
    "description": _words,
    "required": _texts,
    "enum": _choices,
    "format": _words,
    "pattern": _words,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
}
"""The keywords that are kept, each with what makes its value usable; any other value is as if it were not there."""

"""What a server tells of its tools becomes one name, one wording and one order, or is left out and counted."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clankie_captain.core.activity import Activity, after
from clankie_captain.core.grants import Grant
from clankie_captain.core.schemas import SchemaFlawError, simplified
from clankie_captain.core.servers import Told, adopted, named, prefix, result
from clankie_settings import bounds
from clankie_stage.provider.tooling import NAME, schema_root

pytestmark = pytest.mark.requirement("CTX-3", "GRANT-1")

PLAIN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


def told(name: str, description: str = "does it", **schema: Any) -> Told:
    return Told(name, description, schema or PLAIN)


JUNK = st.sampled_from([None, True, 3, "x", [], {}, ["a"], {"a": 3}, [{"type": "string"}], {"type": "array"}])
KEYWORDS = (
    "anyOf", "oneOf", "allOf", "not", "enum", "const", "default", "required", "additionalProperties", "prefixItems",
    "pattern", "minimum", "minLength", "format", "description", "$schema", "x-y",
)  # fmt: skip
KINDS = st.sampled_from(["object", "array", "string", "null", ["string", "array"], "nothing", 3])
REFERENCES = st.sampled_from(["#/$defs/a", "#/$defs/b", "http://x"])
LEAVES = st.fixed_dictionaries(dict[str, Any](), optional={"type": KINDS, "$ref": REFERENCES})


def nested(below: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    either: st.SearchStrategy[Any] = below | JUNK
    optional: dict[str, st.SearchStrategy[Any]] = {
        "properties": st.dictionaries(st.sampled_from(["a", "b.c", "$ref", ""]), either, max_size=2),
        "items": either,
        "anyOf": st.lists(below, max_size=2),
        "additionalProperties": either,
    }
    return st.fixed_dictionaries(dict[str, Any](type=KINDS), optional=optional)


SCHEMAS = st.recursive(LEAVES | st.dictionaries(st.sampled_from(KEYWORDS), JUNK, max_size=4), nested, max_leaves=6)


@settings(max_examples=60)
@given(SCHEMAS, SCHEMAS, st.booleans())
@example({"type": "object", "$ref": "#/$defs/a"}, {"type": "object", "$ref": "#/$defs/a"}, False)
def test_whatever_schema_comes_providers_take_it_or_it_is_left_out(schema: Any, other: Any, sound: bool) -> None:
    whole = schema | {"$defs": {"a": other, "b": {"type": "array"}}} | ({"type": "object"} if sound else {})
    try:
        simple = simplified(whole)
    except SchemaFlawError:
        return
    assert not list(schema_root(simple, "it", strict=False))
    assert json.loads(json.dumps(simple)) == simple
    assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "enum", "const"} & simple.keys()


def test_references_are_written_out_and_what_no_provider_knows_is_left() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "title": "X",
        "properties": {
            "at": {"$ref": "#/$defs/Point", "description": "wh\U000e0041ere"},
            "all": {"type": "array", "maxItems": 3, "minItems": True},
            "any": True,
            "tree": {"$ref": "#/definitions/a~1b"},
            "one": {"const": "x", "default": None, "enum": [], "type": ["string", "null"], "exclusiveMinimum": True},
            "sum": {"type": "number", "minimum": 0.5, "additionalProperties": False, "x-mine": 1},
        },
        "required": ["at"],
        "oneOf": [{"required": ["at"]}],
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        "definitions": {"a/b": {"type": "array", "items": {"$ref": "#/definitions/a~1b"}}},
    }
    assert simplified(schema) == {
        "type": "object",
        "required": ["at"],
        "properties": {
            "at": {"type": "object", "properties": {"x": {"type": "integer"}}, "description": "where"},
            "all": {"type": "array", "maxItems": 3, "items": {}},
            "any": {},
            "tree": {"type": "array", "items": {}},
            "one": {"const": "x", "default": None, "type": ["string", "null"]},
            "sum": {"type": "number", "minimum": 0.5, "additionalProperties": False},
        },
    }
    assert simplified({"type": "object"}) == {"type": "object", "properties": {}}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


DOUBLING = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(11)} | {"d11": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "flaw"),
    [
        ({"type": "string"}, "shape"),
        ({"properties": {}}, "shape"),
        ({"type": "object", "properties": {"a": 3}}, "shape"),
        ({"type": "object", "properties": {"a": {"type": "number", "maximum": float("inf")}}}, "shape"),
        ({"type": "object", "properties": {"a": {"default": [float("nan")]}}}, "shape"),
        ({"type": "object", "properties": {"a": False}}, "shape"),
        ({"type": "object", "properties": {"a b": {}}}, "name"),
        ({"type": "object", "properties": {"a" * 65: {}}}, "name"),
        ({"type": "object", "properties": {"a": {"$ref": "https://a.test/x.json"}}}, "reference"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}, "reference"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": True}}, "reference"),
        ({"type": "object", "properties": {"a": {"$ref": 3}}}, "reference"),
        (deep(13), "depth"),
        (deep(900), "depth"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": DOUBLING}, "size"),
        ({"type": "object", "properties": {"a": {"description": "x" * 20_000}}}, "size"),
    ],
)
def test_a_schema_that_providers_would_refuse_is_left_out_and_counted(schema: dict[str, Any], flaw: str) -> None:
    found = adopted("s", [told("a", **schema), told("b")])
    assert [tool.tool for tool in found.tools] == ["b"]
    assert found.left_out == {flaw: 1}


@given(st.lists(st.text(max_size=70), unique=True, max_size=8))
def test_every_name_is_one_that_providers_take_and_its_servers_own(tools: list[str]) -> None:
    names = named("a-server", tools)
    assert len(set(names.values())) == len(names)
    assert names.keys() == {tool for tool in tools if tool.strip()}
    for name in names.values():
        assert NAME.fullmatch(name)
        assert name.startswith(prefix("a-server"))
        assert Grant("social", "room", ("a-server_*",)).allows(name)


def test_names_that_become_alike_are_told_apart_and_an_unchanged_one_stays() -> None:
    names = named("s", ["a.b", "a_b", "a b", "c/d", "x" * 80, "x" * 79 + "y", ""])
    assert (names["a_b"], names["c/d"]) == ("s_a_b", "s_c_d")
    assert len({*names.values()}) == 6
    assert names["a.b"].startswith("s_a_b_")
    assert {len(names["x" * 80]), len(names["x" * 79 + "y"])} == {bounds.TOOL_NAME_CHARS}


def test_a_name_that_poses_as_anothers_mark_is_left_out_rather_than_offered_twice() -> None:
    marked = named("s", ["a.b", "a_b"])["a.b"].removeprefix("s_")
    found = adopted("s", [told("a.b"), told("a_b"), told(marked)])
    assert len({tool.name for tool in found.tools}) == len(found.tools) == 2
    assert found.left_out == {"name": 1}


@given(
    st.permutations([told("b"), told("a"), told("a", "another"), told("c.d"), told("c d"), told("z", type="string")])
)
def test_the_order_in_which_a_server_tells_its_tools_changes_nothing(order: list[Told]) -> None:
    shuffled = [Told(each.name, each.description, dict(reversed(list(each.schema.items())))) for each in order]
    found = adopted("s", shuffled)
    assert found == adopted("s", sorted(order, key=lambda each: (each.name, each.description)))
    assert [tool.tool for tool in found.tools] == ["a", "b", "c d", "c.d"] or [tool.tool for tool in found.tools] == [
        "a", "b", "c.d", "c d"
    ]  # fmt: skip
    assert found.left_out == {"twice": 1, "shape": 1}


def test_more_tools_than_are_offered_are_counted() -> None:
    found = adopted("s", [told(f"t{number:03}") for number in range(bounds.SERVER_TOOLS + 3)])
    assert (len(found.tools), found.left_out) == (bounds.SERVER_TOOLS, {"many": 3})


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("Looks.", "A tool of the server s, which says of it: Looks."),
        (" \u200b", "A tool of the server s, which says nothing of it."),
        ("a\u202eb\U000e0049c", "A tool of the server s, which says of it: abc"),
        ("x" * 2_000, f"A tool of the server s, which says of it: {'x' * 1_023}…"),
    ],
)
def test_a_description_is_the_servers_word_and_bounded(description: str, said: str) -> None:
    assert adopted("s", [told("a", description)]).tools[0].description == said


def test_an_answer_is_cut_honestly_and_an_empty_one_is_said() -> None:
    assert result("", failed=False)[1] == "[nothing]"
    _, words = result("x" * 1_000_000, failed=True)
    assert words == "x" * 32_000 + "\n[cut: these are the first 32000 of 1000000 characters]"
    assert result("a", failed=True)[0] != result("a", failed=False)[0]


@pytest.mark.requirement("ROOM-4")
def test_the_room_is_shown_no_name_of_a_server() -> None:
    working = after(Activity(timedelta()), "secret-project_look", "started", served=True)
    assert working.counts == {"servers": 1}

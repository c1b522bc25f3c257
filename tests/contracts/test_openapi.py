"""The published description of the captain's door is the agreed one, and a sound OpenAPI 3.1 document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.captain.api.running import RunningCaptain
from tests.contracts.snapshots import OPENAPI, as_text, published, shapes

pytestmark = pytest.mark.requirement("WIRE-8")

Json = dict[str, Any]
DOCUMENT: Json = json.loads(OPENAPI.read_text(encoding="utf-8"))
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


def operations() -> Iterator[tuple[str, str, Json]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        entries: Json = part  # pyright: ignore[reportUnknownVariableType]
        yield from ([entries["$ref"]] if "$ref" in entries else [])
        yield from (each for value in entries.values() for each in references(value))
    elif isinstance(part, list):
        values: list[Any] = part  # pyright: ignore[reportUnknownVariableType]
        yield from (each for value in values for each in references(value))


def test_what_is_published_is_what_was_agreed_upon() -> None:
    assert as_text(published()) == OPENAPI.read_text(encoding="utf-8")


async def test_the_captain_serves_it(captain: RunningCaptain) -> None:
    assert (await captain.client.get("/openapi.json")).json() == DOCUMENT


@pytest.mark.parametrize(("name", "document"), [(kind.__name__, each) for _, kind, each in shapes()])
def test_every_shape_of_the_wire_is_described_closed_and_whole(name: str, document: Json) -> None:
    schema = SCHEMAS[name]
    assert schema["additionalProperties"] is False
    assert set(schema.get("required", ())) <= set(document) <= set(schema["properties"])


def test_every_reference_leads_somewhere_and_every_shape_is_referred_to() -> None:
    found = set(references(DOCUMENT))
    assert found == {f"#/components/schemas/{name}" for name in SCHEMAS}


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)
    assert all(operation["summary"] and operation["description"] for _, _, operation in operations())


def test_every_part_of_a_path_is_a_required_parameter() -> None:
    for path, _, operation in operations():
        declared = [
            each["name"] for each in operation.get("parameters", ()) if each["in"] == "path" and each["required"]
        ]
        assert sorted(declared) == sorted(re.findall(r"{(\w+)}", path))


def test_every_answer_is_described_and_every_error_is_a_problem() -> None:
    for _, _, operation in operations():
        answers = operation["responses"]
        assert all(each["description"] for each in answers.values())
        assert [*answers["default"]["content"]] == ["application/problem+json"]
        assert {"200", "204"} & set(answers)


def test_only_health_needs_no_token() -> None:
    free = {path for path, _, operation in operations() if not operation["security"]}
    assert {"/healthz", "/readyz"} <= free <= {"/healthz", "/readyz", "/metrics"}
    assert {name for _, _, each in operations() for need in each["security"] for name in need} == {
        *DOCUMENT["components"]["securitySchemes"]
    }


def test_the_results_and_the_actions_are_named_one_by_one() -> None:
    turns = DOCUMENT["paths"]["/v1/turns"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert [each.rpartition("/")[2] for each in references(turns)] == ["Replied", "Absorbed", "Silent", "Failed"]
    stream = DOCUMENT["paths"]["/v1/presences/{presence_id}/actions"]["get"]["responses"]["200"]["content"]
    assert len({*references(stream["text/event-stream"])}) == 7

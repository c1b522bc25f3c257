"""What the door refuses, and that nothing runs where it refuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clankie_settings import bounds
from clankie_settings.wire.problem import PROBLEM_TYPE, Problem
from clankie_settings.wire.version import WIRE_HEADER
from tests.captain.api.running import RunningCaptain
from tests.settings.wire.samples import PICTURE, TRIGGER, changed, without

MIB = 1024 * 1024
CONTEXT = TRIGGER["context"][0]

REFUSED: dict[str, tuple[Any, str]] = {
    "unknown key": (TRIGGER | {"tone": "kind"}, "tone"),
    "unknown key of a room": (changed(TRIGGER, ("room", "colour"), "red"), "room.colour"),
    "unknown key of an attachment": (changed(TRIGGER, ("attachments", 0, "bytes"), "x"), "attachments.0.bytes"),
    "image bytes": (changed(TRIGGER, ("attachments", 0, "data"), "aGk="), "attachments.0.data"),
    "missing actor": (without(TRIGGER, "actor"), "actor"),
    "missing version": (without(TRIGGER, "wire_version"), "wire_version"),
    "number as text": (TRIGGER | {"body": 5}, "body"),
    "text as boolean": (TRIGGER | {"addressed": "yes"}, "addressed"),
    "number as id": (TRIGGER | {"message_id": 400}, "message_id"),
    "unknown kind": (TRIGGER | {"kind": "shout"}, "kind"),
    "id with a slash": (TRIGGER | {"delivery_id": "a/b"}, "delivery_id"),
    "id of 65 characters": (TRIGGER | {"delivery_id": "x" * 65}, "delivery_id"),
    "naive time": (TRIGGER | {"sent_at": "2026-01-02T03:04:06"}, "sent_at"),
    "long body": (TRIGGER | {"body": "x" * (bounds.BODY_CHARS + 1)}, "body"),
    "blank body": (TRIGGER | {"body": " \n"}, "body"),
    "empty body": (TRIGGER | {"body": ""}, "body"),
    "NUL in the body": (TRIGGER | {"body": "a\0"}, "body"),
    "long name": (changed(TRIGGER, ("actor", "display_name"), "x" * 101), "actor.display_name"),
    "thirteen of backlog": (TRIGGER | {"context": [CONTEXT | {"message_id": f"{n}"} for n in range(13)]}, "context"),
    "message in its own backlog": (changed(TRIGGER, ("context", 0, "message_id"), "400"), "context"),
    "voice with a picture": (TRIGGER | {"kind": "voice"}, "attachments"),
    "DM in a guild": (TRIGGER | {"kind": "dm"}, "room.guild_id"),
    "steering from Discord": (TRIGGER | {"delivery": "steer"}, "delivery"),
    "a list": ([TRIGGER], "(whole document)"),
    "nothing": (None, "(whole document)"),
}

PICTURES: dict[str, tuple[Any, str]] = {
    "neither body nor attachment": (without(TRIGGER, "body", "attachments"), "body"),
    "no body and an empty list": (without(TRIGGER, "body") | {"attachments": []}, "body"),
    "five attachments": (TRIGGER | {"attachments": [PICTURE | {"id": f"{n}"} for n in range(5)]}, "attachments"),
    "nine MiB": (changed(TRIGGER, ("attachments", 0, "byte_size"), 9 * MIB), "attachments.0.byte_size"),
    "another type": (changed(TRIGGER, ("attachments", 0, "media_type"), "image/bmp"), "attachments.0.media_type"),
    "inline picture": (changed(TRIGGER, ("attachments", 0, "url"), "data:image/png;base64,aGk="), "attachments.0.url"),
}

RAW: dict[str, bytes] = {
    "no JSON": b"hello",
    "half of it": b'{"wire_version": 1, "delivery_id": ',
    "no UTF-8": b'{"body": "\xff"}',
    "lone surrogate": json.dumps(TRIGGER | {"body": "\ud83d"}).encode(),
    "deeper than any shape": b"[" * 50_000,
    "deep object": b'{"room":' * 50_000,
    "a number without end": b'{"wire_version": ' + b"9" * 10_000 + b"}",
    "empty": b"",
}


async def nothing_ran(captain: RunningCaptain) -> None:
    assert captain.loop.orders == []
    assert (await captain.client.get("/v1/turns", params={"owed": "true"})).json() == {"turns": []}


@pytest.mark.requirement("WIRE-1", "WIRE-2", "WIRE-3")
async def test_a_refused_trigger_is_a_problem_that_names_the_field_and_nothing_runs(captain: RunningCaptain) -> None:
    for case, (document, field) in {**REFUSED, **PICTURES}.items():
        answer = await captain.post(document)
        problem = Problem.model_validate_json(answer.content)
        assert (case, answer.status_code, problem.code, problem.field) == (case, 422, "invalid_trigger", field)
        assert answer.headers["content-type"] == PROBLEM_TYPE
        assert field in problem.detail
    await nothing_ran(captain)


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize("raw", RAW.values(), ids=RAW.keys())
async def test_what_is_no_trigger_at_all_is_refused_like_one(captain: RunningCaptain, raw: bytes) -> None:
    answer = await captain.client.post("/v1/turns", content=raw)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_trigger")
    await nothing_ran(captain)


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_body_past_the_bound_is_refused_unread(captain: RunningCaptain, streamed: bool) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(24):
            yield b" " * (64 * 1024)

    large = chunks() if streamed else b" " * (bounds.REQUEST_BYTES + 1)
    answer = await captain.client.post("/v1/turns", content=large)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    await nothing_ran(captain)


@pytest.mark.requirement("WIRE-2")
async def test_a_picture_without_a_body_is_a_turn(captain: RunningCaptain) -> None:
    answer = await captain.post(without(TRIGGER, "body", "context", "context_visual"))
    assert (answer.status_code, answer.json()["state"]) == (200, "replied")


@pytest.mark.requirement("WIRE-3")
async def test_four_pictures_of_eight_mib_each_are_a_turn(captain: RunningCaptain) -> None:
    pictures = [PICTURE | {"id": f"{n}", "byte_size": 8 * MIB} for n in range(4)]
    assert (await captain.post(TRIGGER | {"attachments": pictures})).status_code == 200


@pytest.mark.requirement("WIRE-7")
@pytest.mark.parametrize(
    ("stated", "older"), [(2, "upgrade the captain"), (99, "upgrade the captain"), (0, "upgrade the presence")]
)
async def test_another_wire_version_is_refused_with_the_side_to_upgrade(
    captain: RunningCaptain, stated: int, older: str
) -> None:
    in_body = await captain.post(TRIGGER | {"wire_version": stated})
    in_header = await captain.post(TRIGGER, **{WIRE_HEADER: str(stated)})
    newer_shape = await captain.post({"wire_version": stated, "something": "else"})
    for answer in (in_body, in_header, newer_shape):
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            422,
            "wire_version",
            "wire_version",
        )
        assert answer.json()["detail"].endswith(older)
    await nothing_ran(captain)


@pytest.mark.requirement("WIRE-7")
async def test_every_answer_states_the_wire_version(captain: RunningCaptain) -> None:
    paths = ["/healthz", "/readyz", "/v1/stats", "/v1/turns", "/v1/turns/404", "/nowhere", "/openapi.json"]
    answers = await asyncio.gather(*(captain.client.get(path) for path in paths))
    answers += [await captain.post(TRIGGER), await captain.post({}), await captain.client.put("/v1/turns")]
    assert [answer.headers.get(WIRE_HEADER) for answer in answers] == ["1"] * len(answers)


@pytest.mark.requirement("WIRE-7")
async def test_the_own_version_in_the_header_is_taken_and_nonsense_is_not(captain: RunningCaptain) -> None:
    assert (await captain.post(TRIGGER, **{WIRE_HEADER: "1"})).status_code == 200
    refused = await captain.post(TRIGGER, **{WIRE_HEADER: "one"})
    assert (refused.status_code, refused.json()["code"]) == (422, "wire_version")


@pytest.mark.requirement("WIRE-1")
async def test_a_receipt_that_breaks_its_shape_names_the_field(captain: RunningCaptain) -> None:
    await captain.post(TRIGGER)
    receipt = {"part": 1, "of": 1, "message_id": "500", "posted_at": "2026-01-02T03:04:06Z"}
    for document, field in (
        (receipt | {"text": "x"}, "text"),
        (receipt | {"part": 2}, "part"),
        (receipt | {"of": 6}, "of"),
        (receipt | {"code": "cannot_send"}, "message_id"),
        (without(receipt, "message_id"), "message_id"),
        (without(receipt, "posted_at"), "posted_at"),
    ):
        answer = await captain.client.post("/v1/turns/400/receipts", json=document)
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_receipt", field)
    assert (await captain.client.get("/v1/turns/400")).json()["owed"]


@pytest.mark.requirement("WIRE-1")
async def test_an_unknown_route_method_or_query_is_a_problem_too(captain: RunningCaptain) -> None:
    for method, path, status, code in (
        ("GET", "/v1/nowhere", 404, "unknown_route"),
        ("PUT", "/v1/turns", 405, "unknown_method"),
        ("GET", "/v1/turns", 422, "invalid_query"),
        ("GET", "/v1/turns?owed=perhaps", 422, "invalid_query"),
        ("GET", "/v1/turns?owed=false", 422, "invalid_query"),
        ("GET", "/v1/turns/404", 404, "unknown_delivery"),
        ("GET", "/v1/turns/%00%ff", 404, "unknown_delivery"),
    ):
        answer = await captain.client.request(method, path)
        assert (path, answer.status_code, answer.json()["code"]) == (path, status, code)
        assert answer.headers["content-type"] == PROBLEM_TYPE

"""One process of a presence acts; another is told so, whatever it asks."""

import asyncio

import pytest
from httpx_sse import aconnect_sse

from clankie_settings import bounds
from clankie_settings.wire.lease import INSTANCE_HEADER
from tests.captain.api.running import PATIENCE_S, SECOND_TOKEN, RunningCaptain, caller
from tests.captain.api.test_waits import PLAIN, RECEIPT

LEASE = "/v1/presences/discord/lease"


def as_process(name: str) -> dict[str, str]:
    return {INSTANCE_HEADER: name}


async def ask(captain: RunningCaptain, instance: str, ttl_s: int = bounds.LEASE_SECONDS, **more: object) -> int:
    body = {"instance_id": instance, "ttl_s": ttl_s, **more}
    return (await captain.client.put(LEASE, json=body, headers=as_process(instance))).status_code


async def test_a_second_process_is_refused_in_everything_until_the_first_gives_its_lease_back(
    captain: RunningCaptain,
) -> None:
    """C74."""
    assert await ask(captain, "one") == 200
    await captain.client.post("/v1/turns", json=PLAIN, headers=as_process("one"))
    refused = [
        await captain.client.put(LEASE, json={"instance_id": "two", "ttl_s": 15}),
        await captain.client.post("/v1/turns", json=PLAIN, headers=as_process("two")),
        await captain.client.get("/v1/turns/400", headers=as_process("two")),
        await captain.client.get("/v1/turns", params={"owed": "true"}, headers=as_process("two")),
        await captain.client.post("/v1/turns/400/receipts", json=RECEIPT, headers=as_process("two")),
        await captain.client.get("/v1/presences/discord/rooms", headers=as_process("two")),
        await captain.client.get("/v1/presences/discord/actions", headers=as_process("two")),
    ]
    assert {(each.status_code, each.json()["code"]) for each in refused} == {(409, "presence_leased")}
    assert (await captain.client.get("/v1/turns/400")).status_code == 200
    assert await ask(captain, "one", 0) == 200
    assert await ask(captain, "two") == 200
    assert await ask(captain, "one") == 409


async def test_whoever_was_taken_over_from_is_fenced_off_and_its_stream_ends(captain: RunningCaptain) -> None:
    assert await ask(captain, "one", listening=True) == 200
    path = "/v1/presences/discord/actions"
    async with aconnect_sse(captain.client, "GET", path, headers=as_process("one"), timeout=PATIENCE_S) as stream:
        lines = stream.response.aiter_lines()
        assert (await anext(lines)).startswith(":")
        answer = await captain.client.put(
            LEASE, json={"instance_id": "two", "ttl_s": 15, "replaces": "one"}, headers=as_process("two")
        )
        assert (answer.json()["fence"], answer.json()["last_action"]) == (2, 0)
        assert "missed_since" in answer.json()
        async with asyncio.timeout(PATIENCE_S):
            assert [line async for line in lines if line.startswith("data")] == []
    refused = await captain.client.post("/v1/turns", json=PLAIN, headers=as_process("one"))
    assert (refused.status_code, refused.json()["code"]) == (409, "presence_leased")


@pytest.mark.parametrize(
    ("body", "field"),
    [({"instance_id": "one"}, "ttl_s"), ({"instance_id": "one", "ttl_s": 16}, "ttl_s"), ({"ttl_s": 1}, "instance_id")],
)
async def test_a_request_that_is_none_is_refused_with_its_field(
    captain: RunningCaptain, body: dict[str, object], field: str
) -> None:
    answer = await captain.client.put(LEASE, json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_lease", field)


async def test_a_presence_gets_no_lease_of_another(captain: RunningCaptain) -> None:
    async with caller(captain.address, SECOND_TOKEN) as second:
        answer = await second.put(LEASE, json={"instance_id": "x", "ttl_s": 15})
    assert (answer.status_code, answer.json()["code"]) == (403, "presence_mismatch")

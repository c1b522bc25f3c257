"""What a captain that stops, or cannot use its store, says to whom."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from clankie_captain import app as composition
from tests.captain.api.running import OPERATOR_TOKEN, RunningCaptain, actions, caller
from tests.captain.api.test_waits import RECEIPT, message


@pytest.mark.requirement("WIRE-6")
async def test_a_draining_captain_takes_nothing_new_and_lets_those_who_wait_go(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    held = asyncio.create_task(captain.post(message("400")))
    await captain.loop.until_asked()
    waiting = asyncio.create_task(captain.client.get("/v1/turns/400", headers={"Prefer": "wait=60"}))
    await captain.until_held(2)
    composition.drain(captain.app)
    for each in (await held, await waiting):
        assert (each.status_code, each.json(), each.headers["Location"]) == (
            202,
            {"state": "running", "delivery_id": "400"},
            "/v1/turns/400",
        )
    refused = await captain.post(message("401"))
    assert (refused.status_code, refused.json()["code"]) == (503, "draining")
    assert int(refused.headers["Retry-After"]) > 0
    assert (await captain.post(message("400"))).status_code == 202
    assert (await captain.post(message("400", body="other words"))).status_code == 409
    assert len(captain.loop.orders) == 1


async def test_a_draining_captain_still_tells_results_and_takes_receipts(captain: RunningCaptain) -> None:
    await captain.post(message("400"))
    composition.drain(captain.app)
    assert (await captain.client.get("/v1/turns/400")).json()["state"] == "replied"
    assert not (await captain.client.post("/v1/turns/400/receipts", json=RECEIPT)).json()["owed"]


async def test_a_stop_does_not_wait_for_a_run_or_a_stream(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    async with actions(captain):
        await captain.stop()


async def test_a_captain_that_takes_deliveries_is_ready_and_one_that_stops_is_not(captain: RunningCaptain) -> None:
    ready = await captain.client.get("/readyz")
    assert (ready.status_code, ready.json()["ready"], ready.json()["wire_versions"]) == (200, True, [1])
    composition.drain(captain.app)
    stopping = await captain.client.get("/readyz")
    assert (stopping.status_code, stopping.json()["code"]) == (503, "draining")
    assert (await captain.client.get("/healthz")).json() == {"alive": True}


async def test_a_captain_whose_store_does_not_answer_is_alive_and_not_ready(captain: RunningCaptain) -> None:
    with closing(sqlite3.connect(captain.state / "captain.db")) as other, other:
        other.execute("ALTER TABLE presence RENAME TO elsewhere")
    unready = await captain.client.get("/readyz")
    assert (unready.status_code, unready.json()["code"]) == (503, "store_failed")
    assert (await captain.client.get("/healthz")).status_code == 200


@pytest.mark.requirement("DUR-5")
async def test_a_captain_whose_store_does_not_answer_stops_all_the_same(captain: RunningCaptain) -> None:
    with closing(sqlite3.connect(captain.state / "captain.db")) as other, other:
        other.execute("ALTER TABLE delivery RENAME TO elsewhere")
        other.execute("ALTER TABLE run RENAME TO gone")
    await composition.drained(captain.app)
    await captain.stop()


@pytest.mark.requirement("DUR-5")
async def test_a_captain_that_drains_tells_its_results_and_begins_nothing(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    held = asyncio.create_task(captain.post(message("400")))
    await captain.loop.until_asked()
    ends = asyncio.create_task(composition.drained(captain.app))
    await captain.until_held(1)
    composition.close_door(captain.app)
    assert (await captain.client.get("/readyz")).status_code == 503
    refused = await captain.post(message("401"))
    assert (refused.status_code, refused.json()["code"]) == (503, "draining")
    captain.loop.free.set()
    assert (await held).json()["state"] == "replied"
    assert not (await captain.client.post("/v1/turns/400/receipts", json=RECEIPT)).json()["owed"]
    await ends
    assert len(captain.loop.orders) == 1


async def test_the_operator_sees_what_the_captain_has_in_hand(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    await captain.post(message("401"), wait=0)
    async with caller(captain.address, OPERATOR_TOKEN) as operator:
        stats = (await operator.get("/v1/stats")).json()
    assert (stats["lanes"], stats["live_runs"], stats["waiting"]) == (1, 1, 1)
    assert [each["id"] for each in stats["presences"]] == ["discord"]
    assert stats["uptime_s"] >= 0


async def test_the_rooms_of_a_presence_are_known_after_a_turn(captain: RunningCaptain) -> None:
    await captain.post(message("400"))
    (room,) = (await captain.client.get("/v1/presences/discord/rooms")).json()["rooms"]
    assert (room["room"]["channel_id"], room["last_message_id"], room["last_state"]) == ("300", "400", "replied")

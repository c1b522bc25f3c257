"""A captain whose disk is full says so, loses nothing, and goes on by itself."""

import json
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from clankie_captain import app as composition
from clankie_captain.errors import StoreFullError
from tests.captain.api.running import PATIENCE_S, RunningCaptain, answers, settings
from tests.captain.api.test_waits import message
from tests.disks import Disk, small_disk

pytestmark = pytest.mark.requirement("DUR-3")

CANARY = "canary-words"


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Disk]:
    with small_disk(tmp_path / "state", 4 * 1024 * 1024) as mounted:
        yield mounted


@pytest.fixture
async def captain(disk: Disk) -> AsyncIterator[RunningCaptain]:
    running = await RunningCaptain.start(disk.folder)
    yield running
    running.loop.free.set()
    await running.stop()


async def test_a_delivery_that_finds_no_room_is_refused_and_taken_once_there_is_some(
    captain: RunningCaptain, disk: Disk
) -> None:
    await captain.post(message("400"))
    disk.fill()
    refused = await captain.post(message("401", body=CANARY))
    assert (refused.status_code, refused.json()["code"]) == (507, "store_full")
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["Retry-After"]) > 0
    assert "make room" in refused.json()["detail"]
    assert CANARY not in refused.text
    # What is there can still be had.
    assert (await captain.client.get("/v1/turns/400")).json()["state"] == "replied"
    assert (await captain.client.get("/v1/turns/401")).status_code == 404
    assert (await captain.client.get("/readyz")).status_code == 200
    disk.empty()
    assert (await captain.post(message("401", body=CANARY))).json()["state"] == "replied"


async def test_a_run_waits_for_room_and_then_answers_without_a_restart(captain: RunningCaptain, disk: Disk) -> None:
    captain.loop.free.clear()
    captain.loop.script = answers("worth the wait")
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    disk.fill()
    captain.loop.free.set()
    pending = await captain.client.get("/v1/turns/400", headers={"Prefer": "wait=1"})
    assert pending.status_code == 202
    disk.empty()
    async with captain.client.stream("GET", "/v1/turns/400", timeout=PATIENCE_S) as answer:
        settled = json.loads(await answer.aread())
    assert (settled["state"], settled["text"], settled["owed"]) == ("replied", "worth the wait", True)
    assert len(captain.loop.orders) == 1
    (line,) = lines(captain)
    assert (line["delivery"], line["outcome"]) == ("400", "replied")


async def test_a_receipt_that_finds_no_room_is_owed_until_it_is_kept(captain: RunningCaptain, disk: Disk) -> None:
    await captain.post(message("400"))
    disk.fill()
    receipt = {"part": 1, "of": 1, "message_id": "900", "posted_at": "2026-01-02T03:04:05Z"}
    assert (await captain.client.post("/v1/turns/400/receipts", json=receipt)).status_code == 507
    assert (await captain.client.get("/v1/turns/400")).json()["owed"] is True
    disk.empty()
    assert (await captain.client.post("/v1/turns/400/receipts", json=receipt)).json()["owed"] is False


async def test_a_captain_that_cannot_start_on_a_full_disk_says_so(captain: RunningCaptain, disk: Disk) -> None:
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    await captain.stop()
    disk.fill()
    app = composition.build(settings(disk.folder), make_loop=lambda _settings, _clock: captain.loop)
    with pytest.raises(StoreFullError):
        await app.router.lifespan_context(app).__aenter__()
    assert "make room" in str(composition.refusal(app))
    disk.empty()
    again = await RunningCaptain.start(disk.folder)
    assert (await again.client.get("/v1/turns/400")).json()["state"] == "replied"
    await again.stop()


def lines(captain: RunningCaptain) -> list[dict[str, object]]:
    return [json.loads(line) for line in (captain.state / "turn-settled.jsonl").read_text().splitlines()]

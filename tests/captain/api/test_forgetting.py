"""Forgetting over the real door: the bytes leave the disk, the others' words stay, the lane goes on."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.captain.api.remembering import RECEIPT, quoted, remembers, spoken
from tests.captain.api.running import OPERATOR_TOKEN, RunningCaptain, caller

pytestmark = pytest.mark.requirement("OPS-12")

ANN, BOB = "110000000000000011", "110000000000000012"
ROOM, OTHER_ROOM = "rooms/discord:200:300", "rooms/discord:200:301"


@pytest.fixture
async def operator(captain: RunningCaptain) -> AsyncIterator[httpx.AsyncClient]:
    captain.loop.script = remembers
    async with caller(captain.address, OPERATOR_TOKEN) as client:
        yield client


async def said(captain: RunningCaptain, document: Mapping[str, Any]) -> None:
    """A message that is answered, and whose answer is in the room."""
    assert (await captain.post(document)).json()["state"] == "replied"
    receipt = {**RECEIPT, "message_id": f"9{document['delivery_id']}"}
    assert (await captain.client.post(f"/v1/turns/{document['delivery_id']}/receipts", json=receipt)).is_success


async def conversed(captain: RunningCaptain) -> None:
    await said(captain, spoken("400", ANN, "Annabel", "the peppermint canary"))
    seen = [quoted("399", ANN, "Annabel", "the earlier canary")]
    await said(captain, spoken("401", BOB, "Bobby", "the liquorice parrot", context=seen))
    await said(captain, spoken("402", BOB, "Bobby", "a lonely parrot", channel="301"))


def on_disk(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(state.rglob("*")) if path.is_file())


async def lane(operator: httpx.AsyncClient, name: str) -> list[dict[str, Any]]:
    answer = await operator.get(f"/v1/lanes/{name}/entries")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_a_persons_words_and_names_leave_the_disk_and_nobody_elses_do(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    await conversed(captain)
    assert b"canary" in on_disk(captain.state)
    gone = await operator.post("/v1/forget", json={"person": ANN})
    assert gone.json()["lanes"] == 1
    left = on_disk(captain.state)
    for word in (b"canary", b"peppermint", b"Annabel", ANN.encode()):
        assert word not in left
    bobs = [line["payload"]["body"] for line in await lane(operator, ROOM) if line["kind"] == "heard"]
    assert bobs == ["(forgotten)", "the liquorice parrot"]


async def test_his_answers_to_others_stay_where_the_person_was_not_heard(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    await conversed(captain)
    before = await lane(operator, OTHER_ROOM)
    await operator.post("/v1/forget", json={"person": ANN})
    assert await lane(operator, OTHER_ROOM) == before


async def test_his_answers_can_be_kept(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    await conversed(captain)
    await operator.post("/v1/forget", json={"person": ANN, "replies": False})
    replies = [line["payload"]["text"] for line in await lane(operator, ROOM) if line["kind"] == "said"]
    assert "peppermint" in replies[0]


async def test_a_person_who_speaks_again_is_heard_anew(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    await conversed(captain)
    await operator.post("/v1/forget", json={"person": ANN})
    await said(captain, spoken("403", ANN, "Annabel", "here again"))
    heard = [line["payload"] for line in await lane(operator, ROOM) if line["kind"] == "heard"]
    assert heard[-1]["body"] == "here again"
    assert heard[-1]["actor"]["display_name"] == "Annabel"


async def test_a_forgotten_message_that_is_handed_over_again_keeps_its_result(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    await conversed(captain)
    await operator.post("/v1/forget", json={"person": ANN})
    again = await captain.post(spoken("400", ANN, "Annabel", "the peppermint canary"))
    assert again.json()["code"] == "delivery_conflict"
    stored = (await captain.client.get("/v1/turns/400")).json()
    assert (stored["state"], stored["owed"]) == ("replied", False)


async def test_a_room_is_forgotten_whole_and_goes_on(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    await conversed(captain)
    gone = await operator.post("/v1/forget", json={"room": "200:300"})
    assert (gone.json()["lanes"], gone.json()["deliveries"]) == (1, 2)
    left = on_disk(captain.state)
    for word in (b"canary", b"liquorice", b"Annabel"):
        assert word not in left
    assert b"lonely parrot" in left
    assert await lane(operator, ROOM) == []
    await said(captain, spoken("403", BOB, "Bobby", "good day"))
    assert captain.loop.orders[-1].history == ()


async def test_a_lane_is_forgotten_by_its_id(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    await conversed(captain)
    assert (await operator.delete(f"/v1/lanes/{OTHER_ROOM}")).json()["lanes"] == 1
    assert b"lonely" not in on_disk(captain.state)
    assert (await operator.delete("/v1/lanes/rooms/discord:200:999")).json()["code"] == "unknown_lane"


async def test_a_lane_that_is_at_work_is_not_touched_and_the_others_are(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    await conversed(captain)
    await said(captain, spoken("404", ANN, "Annabel", "a canary elsewhere", channel="301"))
    captain.loop.free.clear()
    await captain.post(spoken("405", BOB, "Bobby", "one more", channel="301"), wait=0)
    await captain.loop.until_asked(5)
    refused = await operator.post("/v1/forget", json={"person": ANN})
    assert (refused.status_code, refused.json()["code"]) == (409, "lane_busy")
    assert "peppermint" not in str(await lane(operator, ROOM))
    captain.loop.free.set()
    assert (await captain.client.get("/v1/turns/405")).json()["state"] == "replied"
    # A reply that the room still lacks would be posted as a placeholder.
    assert (await operator.post("/v1/forget", json={"person": ANN})).json()["code"] == "lane_busy"
    await captain.client.post("/v1/turns/405/receipts", json={**RECEIPT, "message_id": "9405"})
    assert (await operator.post("/v1/forget", json={"person": ANN})).json()["lanes"] == 1
    assert b"canary" not in on_disk(captain.state)


async def test_to_forget_again_changes_nothing(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    await conversed(captain)
    await operator.post("/v1/forget", json={"person": ANN})
    nothing = {"lanes": 0, "entries": 0, "deliveries": 0}
    assert (await operator.post("/v1/forget", json={"person": ANN})).json() == nothing


async def test_a_presence_may_not_ask_for_it(captain: RunningCaptain) -> None:
    assert (await captain.client.post("/v1/forget", json={"person": ANN})).status_code == 403


async def test_what_is_forgotten_in_the_operators_own_conversations_goes_from_their_tail(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    message = {"text": "a canary of my own", "client_id": "1"}
    receipt = (await operator.post("/v1/conversations/desk/messages", json=message)).json()["run_receipt"]
    await operator.get(f"/v1/turns/{receipt}")
    assert (await operator.post("/v1/forget", json={"person": "operator"})).json()["lanes"] == 1
    assert b"canary" not in on_disk(captain.state)


@pytest.mark.parametrize("slice_size", [1, 3])
async def test_lanes_longer_than_a_slice_are_forgotten_whole(
    captain: RunningCaptain, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, slice_size: int
) -> None:
    monkeypatch.setattr("clankie_captain.store.forgetting.SLICE", slice_size)
    await conversed(captain)
    await operator.post("/v1/forget", json={"person": ANN})
    assert b"canary" not in on_disk(captain.state)

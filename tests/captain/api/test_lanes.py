"""Lanes as the operator looks at them: found by room and delivery, and read page by page as JSON lines."""

import json
from typing import Any

import httpx
import pytest

from clankie_captain.core.run import Answered, Draft, Finish, Order
from clankie_captain.ports import RunLine
from tests.captain.api.running import OPERATOR_TOKEN, RunningCaptain, caller
from tests.captain.api.test_waits import message, settled
from tests.settings.wire.samples import TRIGGER, changed

pytestmark = pytest.mark.requirement("LANE-12")

ROOM = f"{TRIGGER['room']['guild_id']}:{TRIGGER['room']['channel_id']}"
LANE = f"rooms/discord:{ROOM}"

Json = dict[str, Any]


async def spoken(captain: RunningCaptain, *deliveries: str, **fields: object) -> None:
    for each in deliveries:
        await captain.post(message(each, **fields))
        assert (await settled(captain, each)).json()["state"] == "replied"


async def asked(captain: RunningCaptain, path: str, token: str = OPERATOR_TOKEN) -> httpx.Response:
    async with caller(captain.address, token) as operator:
        return await operator.get(path)


async def lanes(captain: RunningCaptain, query: str = "") -> list[Json]:
    answer = await asked(captain, f"/v1/lanes{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["lanes"]


async def lines(captain: RunningCaptain, query: str = "", lane: str = LANE) -> list[Json]:
    answer = await asked(captain, f"/v1/lanes/{lane}/entries{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_a_lane_is_listed_with_what_lives_and_waits_in_it(captain: RunningCaptain) -> None:
    assert await lanes(captain) == []
    await spoken(captain, "1")
    (lane,) = await lanes(captain)
    assert (lane["id"], lane["kind"], lane["authority"]) == (LANE, "room", "social")
    assert (lane["live_run"], lane["waiting"]) == (None, 0)
    assert lane["entries"] == len(await lines(captain))
    assert (await asked(captain, f"/v1/lanes/{LANE}")).json() == lane
    captain.loop.free.clear()
    await captain.post(message("2"), wait=0)
    assert (await lanes(captain))[0]["live_run"]


async def test_a_lane_is_found_by_its_room_and_by_a_delivery(captain: RunningCaptain) -> None:
    await spoken(captain, "1")
    elsewhere = changed(message("2"), ("room", "channel_id"), "99999")
    await captain.post(elsewhere)
    assert [each["id"] for each in await lanes(captain, f"?room={ROOM}")] == [LANE]
    assert [each["id"] for each in await lanes(captain, "?delivery=1")] == [LANE]
    assert [each["id"] for each in await lanes(captain, "?delivery=2")] != [LANE]
    assert await lanes(captain, "?delivery=3") == []
    assert await lanes(captain, "?room=1:2") == []


async def test_a_rooms_lanes_are_no_lanes_of_a_room_whose_id_begins_alike(captain: RunningCaptain) -> None:
    await captain.post(changed(message("1"), ("room", "channel_id"), "77"))
    await captain.post(changed(message("2"), ("room", "channel_id"), "777"))
    found = await lanes(captain, f"?room={TRIGGER['room']['guild_id']}:77")
    assert [each["id"].rpartition(":")[2] for each in found] == ["77"]


async def test_all_lanes_are_listed_page_by_page(captain: RunningCaptain) -> None:
    for number in range(5):
        await captain.post(changed(message(str(number)), ("room", "channel_id"), f"5000{number}"))
    found: list[str] = []
    while page := await lanes(captain, f"?limit=2&after={found[-1] if found else ''}"):
        assert len(page) <= 2
        found += [each["id"] for each in page]
    assert len(found) == 5
    assert found == sorted(set(found))


async def test_what_is_written_in_a_lane_comes_as_json_lines_in_order(captain: RunningCaptain) -> None:
    await spoken(captain, "1", "2")
    written = await lines(captain)
    assert [each["seq"] for each in written] == [*range(1, len(written) + 1)]
    kinds = [each["kind"] for each in written]
    assert kinds.count("heard") == kinds.count("said") == 2
    heard = [each["payload"]["delivery_id"] for each in written if each["kind"] == "heard"]
    assert heard == ["1", "2"]
    assert {each["payload"]["text"] for each in written if each["kind"] == "said"} == {"an answer"}


async def test_entries_are_read_page_by_page_until_a_page_is_empty(captain: RunningCaptain) -> None:
    await spoken(captain, "1", "2", "3")
    whole, paged = await lines(captain), list[Json]()
    while page := await lines(captain, f"?limit=4&after={paged[-1]['seq'] if paged else 0}"):
        assert len(page) <= 4
        paged += page
    assert paged == whole


async def test_an_entry_that_was_written_over_several_lines_stays_one_line(captain: RunningCaptain) -> None:
    async def script(_order: Order, line: RunLine) -> Finish:
        await line.record([Draft("response", '{"a":\r\n "b\\nc \u2028 d"\n}')])
        return Answered("an answer")

    captain.loop.script = script
    await captain.post(message("1"))
    answer = await asked(captain, f"/v1/lanes/{LANE}/entries")
    read = [json.loads(line) for line in answer.content.decode().split("\n") if line]
    assert {"a": "b\nc \u2028 d"} in [each["payload"] for each in read]


async def test_a_one_shot_leaves_a_transcript_under_its_own_name(captain: RunningCaptain) -> None:
    await captain.stop()
    life = await RunningCaptain.start(captain.state, system_actors=("11111",))
    try:
        await life.post(changed(message("1"), ("actor", "actor_id"), "11111"))
        (lane,) = await lanes(life, f"?room={ROOM}")
        assert lane["id"].startswith(f"turns/discord:{ROOM}~1/")
        assert (lane["kind"], lane["authority"]) == ("one_shot", "system")
        assert "said" in [each["kind"] for each in await lines(life, lane=lane["id"])]
    finally:
        await life.stop()


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize("path", ["/v1/lanes", f"/v1/lanes/{LANE}", f"/v1/lanes/{LANE}/entries"])
async def test_a_presence_reads_no_transcript(captain: RunningCaptain, path: str) -> None:
    await spoken(captain, "1")
    refused = await captain.client.get(path)
    assert (refused.status_code, refused.json()["code"]) == (403, "operator_only")
    assert (await asked(captain, path, "another")).status_code == 401


@pytest.mark.parametrize("lane", ["rooms/discord:1:2", "nothing", "rooms/../x", "%00", "x" * 200])
async def test_a_lane_that_there_is_none_of_is_said(captain: RunningCaptain, lane: str) -> None:
    for path in (f"/v1/lanes/{lane}", f"/v1/lanes/{lane}/entries"):
        refused = await asked(captain, path)
        assert refused.status_code == 404
        assert refused.json()["code"] in ("unknown_lane", "unknown_route")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/lanes?room=general", "/v1/lanes?room=1:%25", "/v1/lanes?delivery=", "/v1/lanes?limit=0",
        "/v1/lanes?limit=101", f"/v1/lanes/{LANE}/entries?after=-1", f"/v1/lanes/{LANE}/entries?after=x",
        f"/v1/lanes/{LANE}/entries?after=99999999999999999999",
    ],
)  # fmt: skip
async def test_a_wrong_question_is_refused_without_repeating_it(captain: RunningCaptain, path: str) -> None:
    refused = await asked(captain, path)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_query")
    assert "general" not in refused.text

"""Handing over and waiting: once accepted, a turn goes its way whatever becomes of its caller."""

import asyncio

import httpx
import pytest

from clankie_captain.core.run import Answered, Finish, Order
from clankie_captain.ports import RunLine
from clankie_settings.wire.version import WIRE_HEADER
from tests.captain.api.conftest import Restart
from tests.captain.api.running import PATIENCE_S, RunningCaptain, answers
from tests.settings.wire.samples import TRIGGER, without

PLAIN = without(TRIGGER, "attachments", "context", "context_visual", "reply_to")
RECEIPT = {"part": 1, "of": 1, "message_id": "500", "posted_at": "2026-01-02T03:04:06Z"}


def message(delivery: str, **fields: object) -> dict[str, object]:
    return PLAIN | {"delivery_id": delivery, "message_id": delivery} | fields


async def settled(captain: RunningCaptain, delivery: str = "400") -> httpx.Response:
    return await captain.client.get(f"/v1/turns/{delivery}", headers={"Prefer": f"wait={int(PATIENCE_S)}"})


@pytest.mark.requirement("WIRE-6")
async def test_without_a_preference_the_call_is_held_until_the_turn_settles(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    call = asyncio.create_task(captain.post(PLAIN))
    await captain.loop.until_asked()
    assert not call.done()
    captain.loop.free.set()
    answer = await call
    assert (answer.status_code, answer.json()["state"], answer.json()["text"]) == (200, "replied", "an answer")


@pytest.mark.requirement("WIRE-6")
async def test_a_preferred_wait_of_nothing_answers_once_the_turn_is_on_disk(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    answer = await captain.post(PLAIN, wait=0)
    assert (answer.status_code, answer.json()) == (202, {"state": "running", "delivery_id": "400"})
    assert answer.headers["Location"] == "/v1/turns/400"
    captain.loop.free.set()
    result = await captain.client.get(answer.headers["Location"], headers={"Prefer": f"wait={int(PATIENCE_S)}"})
    assert result.json()["state"] == "replied"


@pytest.mark.requirement("WIRE-6")
@pytest.mark.parametrize(
    "prefer",
    [
        ["wait=0"],
        ["wait=00"],
        ["Wait=0"],
        ['wait="0"'],
        ["wait = 0"],
        ["respond-async, wait=0"],
        ["wait=0, respond-async"],
        ["wait=0; foo=bar"],
        ["handling=lenient", "wait=0"],
    ],
)
async def test_every_form_of_the_preference_is_understood(captain: RunningCaptain, prefer: list[str]) -> None:
    captain.loop.free.clear()
    answer = await captain.client.post("/v1/turns", json=PLAIN, headers=[("Prefer", each) for each in prefer])
    assert answer.status_code == 202


@pytest.mark.requirement("WIRE-6")
@pytest.mark.parametrize("prefer", ["wait=61", "wait=9999", "wait=99999", "wait=" + "9" * 5_000, 'wait="61"'])
async def test_a_wait_past_a_minute_is_refused_and_nothing_runs(captain: RunningCaptain, prefer: str) -> None:
    answer = await captain.client.post("/v1/turns", json=PLAIN, headers={"Prefer": prefer})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_wait", "Prefer")
    assert captain.loop.orders == []


@pytest.mark.requirement("WIRE-6")
@pytest.mark.parametrize("prefer", ["respond-async", "wait", "wait=soon", "wait=-1", "await=0", "wait=1.5", ""])
async def test_a_preference_that_says_no_wait_is_passed_over(captain: RunningCaptain, prefer: str) -> None:
    answer = await captain.client.post("/v1/turns", json=PLAIN, headers={"Prefer": prefer})
    assert (answer.status_code, answer.json()["state"]) == (200, "replied")


@pytest.mark.requirement("WIRE-6")
async def test_a_dropped_connection_never_cancels_a_turn(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    calls = [asyncio.create_task(captain.post(PLAIN)) for _ in range(3)]
    await captain.loop.until_asked()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    captain.loop.free.set()
    assert (await settled(captain)).json()["state"] == "replied"
    assert len(captain.loop.orders) == 1


@pytest.mark.requirement("WIRE-5")
async def test_the_same_delivery_is_the_same_turn_while_it_runs_and_after_it_settled(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    calls = [asyncio.create_task(captain.post(PLAIN)) for _ in range(4)]
    await captain.loop.until_asked()
    captain.loop.free.set()
    results = [(await call).json() for call in calls]
    again = (await captain.post(PLAIN | {"actor": PLAIN["actor"] | {"display_name": "Annie"}})).json()
    assert all(each == again for each in results)
    assert len(captain.loop.orders) == 1


@pytest.mark.requirement("WIRE-5")
async def test_other_content_is_a_conflict_and_the_stored_result_stays(captain: RunningCaptain) -> None:
    first = (await captain.post(PLAIN)).json()
    conflict = await captain.post(PLAIN | {"body": "other words"})
    assert (conflict.status_code, conflict.json()["code"]) == (409, "delivery_conflict")
    assert (await captain.client.get("/v1/turns/400")).json() == first


@pytest.mark.requirement("WIRE-5")
async def test_owed_turns_false_with_the_receipt(captain: RunningCaptain) -> None:
    assert (await captain.post(PLAIN)).json()["owed"]
    for _ in range(2):
        receipted = await captain.client.post("/v1/turns/400/receipts", json=RECEIPT)
        assert receipted.json() == {"delivery_id": "400", "owed": False}
    assert not (await captain.post(PLAIN)).json()["owed"]
    assert (await captain.client.get("/v1/turns", params={"owed": "true"})).json() == {"turns": []}


@pytest.mark.requirement("WIRE-5", "WIRE-6")
async def test_sameness_conflict_and_result_hold_over_a_restart(captain: RunningCaptain, restart: Restart) -> None:
    first = (await captain.post(PLAIN)).json()
    again = await restart()
    assert (await again.post(PLAIN)).json() == first
    assert (await again.post(PLAIN | {"body": "other words"})).status_code == 409
    assert again.loop.orders == []


@pytest.mark.requirement("WIRE-6")
async def test_a_turn_is_waited_for_over_a_restart(captain: RunningCaptain, restart: Restart) -> None:
    captain.loop.free.clear()
    held = asyncio.create_task(captain.post(PLAIN))
    await captain.loop.until_asked()
    waiting = asyncio.create_task(settled(captain))
    await captain.until_held(2)
    again = await restart()
    for each in (await held, await waiting):
        assert (each.status_code, each.json()["state"], each.headers["Location"]) == (202, "running", "/v1/turns/400")
    result = await settled(again)
    assert (result.status_code, result.json()["state"]) == (200, "replied")
    assert (await again.post(PLAIN)).json() == result.json()
    assert len(again.loop.orders) == 1


@pytest.mark.requirement("LANE-4", "WIRE-4")
async def test_a_message_that_reaches_a_live_run_is_absorbed_by_it(captain: RunningCaptain) -> None:
    async def hears_more(_order: Order, line: RunLine) -> Finish:
        await answers("")(_order, line)
        return Answered("one for both")

    captain.loop.script = hears_more
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    await captain.post(message("401"), wait=0)
    captain.loop.free.set()
    absorbed, owner = (await settled(captain, "401")).json(), (await settled(captain, "400")).json()
    assert (absorbed["state"], absorbed["answered_by"], absorbed["owed"]) == ("absorbed", "400", False)
    assert (owner["state"], owner["text"]) == ("replied", "one for both")


@pytest.mark.requirement("WIRE-4", "ROOM-1")
@pytest.mark.parametrize(
    ("text", "state", "code"),
    [("[[stay-silent]]", "silent", None), ("", "failed", "captain_response_missing"), ("Hi", "replied", None)],
)
async def test_a_turn_ends_in_one_of_the_results(
    captain: RunningCaptain, text: str, state: str, code: str | None
) -> None:
    captain.loop.script = answers(text)
    result = (await captain.post(PLAIN)).json()
    assert (result["state"], result.get("code")) == (state, code)


@pytest.mark.requirement("WIRE-4")
async def test_a_loop_that_breaks_in_an_unforeseen_way_ends_in_a_result_and_a_lane_that_answers(
    captain: RunningCaptain,
) -> None:
    async def breaks(_order: Order, _line: RunLine) -> Finish:
        raise LookupError("canary")

    captain.loop.script = breaks
    failed = (await captain.post(message("400"))).json()
    assert (failed["state"], failed["code"], failed["notice"]) == ("failed", "captain_internal_error", True)
    captain.loop.script = answers("back again")
    assert (await captain.post(message("401"))).json()["state"] == "replied"


@pytest.mark.requirement("WIRE-6")
async def test_a_wait_that_runs_out_says_where_to_wait_on(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    answer = await captain.post(PLAIN, wait=1)
    assert (answer.status_code, answer.headers["Location"]) == (202, "/v1/turns/400")
    assert answer.headers[WIRE_HEADER] == "1"

"""The operator's door: conversations over HTTP, and one tail that can be taken up again anywhere."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from clankie_captain import app as composition
from clankie_captain.core.run import Answered, Draft, Finish, Order
from clankie_captain.ports import RunLine
from clankie_settings import bounds
from tests.captain.api.conftest import Restart
from tests.captain.api.running import OPERATOR_TOKEN, PATIENCE_S, Event, RunningCaptain, caller, stream

pytestmark = pytest.mark.requirement("OPS-2")

EVENTS = "/v1/conversations/desk/events"
MESSAGES = "/v1/conversations/desk/messages"


@pytest.fixture
async def operator(captain: RunningCaptain) -> AsyncIterator[httpx.AsyncClient]:
    async with caller(captain.address, OPERATOR_TOKEN) as client:
        yield client


async def working(_order: Order, line: RunLine) -> Finish:
    """Write, use a tool, answer."""
    line.requesting()
    line.wrote("Let me ")
    line.tool("web", "started")
    line.tool("web", "ended")
    line.wrote("see")
    await line.record([Draft("response", "{}")])
    return Answered("seen")


async def say(operator: httpx.AsyncClient, client_id: str, text: str = "hello", **more: object) -> dict[str, Any]:
    answer = await operator.post(MESSAGES, json={"text": text, "client_id": client_id, **more})
    assert answer.status_code == 200
    return answer.json()


async def settled(operator: httpx.AsyncClient, receipt: str) -> dict[str, Any]:
    waited = await operator.get(f"/v1/turns/{receipt}", headers={"Prefer": f"wait={int(PATIENCE_S)}"})
    return waited.json()


async def take(events: AsyncIterator[Event], last: str, times: int = 1) -> list[Event]:
    """The events up to and with the last of a name."""
    taken: list[Event] = []
    while [each.name for each in taken].count(last) < times:
        taken.append(await anext(events))
    return taken


@pytest.mark.requirement("OPS-1")
async def test_a_new_conversation_takes_messages_by_steer_queue_and_neither(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    conversation = (await operator.post("/v1/conversations")).json()["conversation_id"]
    captain.loop.free.clear()
    states: list[str] = []
    for number, delivery in enumerate([{}, {"delivery": "steer"}, {"delivery": "queue"}, {}]):
        body = {"text": "hello", "client_id": f"c{number}", **delivery}
        states.append((await operator.post(f"/v1/conversations/{conversation}/messages", json=body)).json()["state"])
    assert states == ["running", "steered", "queued", "queued"]


@pytest.mark.requirement("OPS-1")
async def test_a_run_receipt_is_waited_for_and_cancelled_by(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    captain.loop.free.clear()
    first = await say(operator, "a")
    await captain.loop.until_asked()
    queued = await say(operator, "b", delivery="queue")
    cancelled = await operator.post(f"/v1/turns/{queued['run_receipt']}/cancel")
    assert (cancelled.status_code, cancelled.json()["code"]) == (200, "captain_cancelled")
    live = await operator.post(f"/v1/turns/{first['run_receipt']}/cancel")
    assert live.status_code in (200, 202)
    assert (await settled(operator, first["run_receipt"]))["code"] == "captain_cancelled"
    assert await say(operator, "a") == {"run_receipt": first["run_receipt"], "state": "failed"}
    captain.loop.free.set()
    assert (await settled(operator, (await say(operator, "c"))["run_receipt"]))["text"] == "an answer"


@pytest.mark.requirement("OPS-1", "WIRE-5")
async def test_another_text_under_a_known_client_id_is_a_conflict(operator: httpx.AsyncClient) -> None:
    first = await say(operator, "a")
    assert (await say(operator, "a"))["run_receipt"] == first["run_receipt"]
    answer = await operator.post(MESSAGES, json={"text": "other", "client_id": "a"})
    assert (answer.status_code, answer.json()["code"]) == (409, "delivery_conflict")


async def test_the_tail_shows_a_turn_from_acceptance_to_its_end_with_what_lives_only_now(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    captain.loop.script = working
    async with stream(operator, EVENTS) as events:
        receipt = (await say(operator, "a", "look it up"))["run_receipt"]
        taken = await take(events, "settled")
    own = {"run_receipt": receipt}
    assert [(each.name, json.loads(each.data or "")) for each in taken] == [
        ("accepted", own | {"text": "look it up", "delivery": "auto"}),
        ("activity", own | {"state": "thinking"}),
        ("token", own | {"text": "Let me "}),
        ("tool", own | {"tool": "web", "state": "started"}),
        ("tool", own | {"tool": "web", "state": "ended"}),
        ("token", own | {"text": "see"}),
        ("said", own | {"text": "seen"}),
        ("settled", own | {"state": "replied"}),
    ]
    assert {each.name for each in taken if each.id is None} == {"activity", "token", "tool"}
    async with stream(operator, EVENTS, after=0) as again:
        assert [each.name for each in await take(again, "settled")] == ["accepted", "said", "settled"]


async def test_a_tail_taken_up_behind_any_event_shows_the_rest_once(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    for number in range(4):
        await settled(operator, (await say(operator, f"c{number}"))["run_receipt"])
    async with stream(operator, EVENTS, after=0) as events:
        whole = await take(events, "settled", 4)
    ids = [int(each.id or 0) for each in whole]
    assert ids == sorted(set(ids))
    for place, each in enumerate(whole[:-1]):
        async with stream(operator, EVENTS, after=each.id) as rest:
            assert [(await anext(rest)) for _ in whole[place + 1 :]] == whole[place + 1 :]


async def test_a_cancelled_message_is_on_an_open_tail_at_once(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    captain.loop.free.clear()
    await say(operator, "a")
    queued = (await say(operator, "b", delivery="queue"))["run_receipt"]
    async with stream(operator, EVENTS) as events:
        assert [each.name for each in await take(events, "accepted", 2)] == ["accepted", "accepted"]
        await operator.post(f"/v1/turns/{queued}/cancel")
        ended = await anext(events)
    assert (ended.name, json.loads(ended.data or "")["run_receipt"]) == ("settled", queued)


async def test_messages_that_an_earlier_captain_took_are_on_the_tail_of_the_next(
    captain: RunningCaptain, operator: httpx.AsyncClient, restart: Restart
) -> None:
    captain.loop.free.clear()
    receipts = [(await say(operator, f"c{number}", delivery="queue"))["run_receipt"] for number in range(3)]
    again = await restart()
    async with caller(again.address, OPERATOR_TOKEN) as client, stream(client, EVENTS) as events:
        seen = await take(events, "settled", 3)
    shown = [json.loads(each.data or "")["run_receipt"] for each in seen if each.name == "accepted"]
    ended = [json.loads(each.data or "")["run_receipt"] for each in seen if each.name == "settled"]
    assert ended == receipts
    assert set(shown) <= set(receipts)
    assert receipts[-1] in shown


async def test_two_tails_of_a_conversation_see_the_same_and_one_of_another_nothing(
    operator: httpx.AsyncClient,
) -> None:
    other = "/v1/conversations/elsewhere/events"
    async with stream(operator, EVENTS) as one, stream(operator, EVENTS) as two, stream(operator, other) as third:
        await say(operator, "a")
        stored = [[each for each in await take(tail, "settled") if each.id] for tail in (one, two)]
        assert stored[0] == stored[1]
        await operator.post("/v1/conversations/elsewhere/messages", json={"text": "hi", "client_id": "a"})
        assert json.loads((await anext(third)).data or "")["text"] == "hi"


async def test_a_tail_ends_when_the_captain_drains_and_takes_no_message(
    captain: RunningCaptain, operator: httpx.AsyncClient
) -> None:
    async with stream(operator, EVENTS) as events:
        composition.drain(captain.app)
        assert [each async for each in events] == []
    answer = await operator.post(MESSAGES, json={"text": "hello", "client_id": "a"})
    assert (answer.status_code, answer.json()["code"]) == (503, "draining")


@pytest.mark.requirement("SEC-1")
async def test_a_presence_reaches_no_conversation(captain: RunningCaptain, operator: httpx.AsyncClient) -> None:
    receipt = (await say(operator, "a"))["run_receipt"]
    body = {"text": "hello", "client_id": "a"}
    for answer in (
        await captain.client.post("/v1/conversations"),
        await captain.client.post(MESSAGES, json=body),
        await captain.client.get(EVENTS),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "operator_only")
    for answer in (
        await captain.client.get(f"/v1/turns/{receipt}"),
        await captain.client.post(f"/v1/turns/{receipt}/cancel"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_delivery")
    async with caller(captain.address, None) as nobody:
        assert (await nobody.post(MESSAGES, json=body)).status_code == 401


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"client_id": "a"}, "text"),
        ({"text": " ", "client_id": "a"}, "text"),
        ({"text": "x" * (bounds.BODY_CHARS + 1), "client_id": "a"}, "text"),
        ({"text": "hello"}, "client_id"),
        ({"text": "hello", "client_id": "a b"}, "client_id"),
        ({"text": "hello", "client_id": "a", "delivery": "auto"}, "delivery"),
        ({"text": "hello", "client_id": "a", "more": 1}, "more"),
    ],
)
async def test_a_message_that_is_none_is_refused_by_its_field(
    captain: RunningCaptain, operator: httpx.AsyncClient, body: dict[str, object], field: str
) -> None:
    answer = await operator.post(MESSAGES, json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_message", field)
    assert captain.loop.orders == []


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize("name", ["a:b", "x" * 49, "%2e%2e%2fdesk", "a~system"])
async def test_a_conversation_is_never_named_like_another_lane(operator: httpx.AsyncClient, name: str) -> None:
    answer = await operator.post(f"/v1/conversations/{name}/messages", json={"text": "hello", "client_id": "a"})
    assert answer.status_code in (404, 422)

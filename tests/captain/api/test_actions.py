"""The stream of actions: stored ones until they are acknowledged, signs only while they are true."""

import asyncio
import json
from datetime import timedelta

import pytest

from clankie_captain import app as composition
from clankie_captain.core.run import Answered, Finish, Order, UpdateOutcome
from clankie_captain.ports import RunLine
from clankie_settings import bounds
from tests.captain.api.conftest import Restart
from tests.captain.api.running import PATIENCE_S, RunningCaptain, actions
from tests.captain.api.test_waits import message

pytestmark = pytest.mark.requirement("ROOM-3")


class Updating:
    """A script that sends updates in its turn and keeps what became of them."""

    def __init__(self, *texts: str, wrote: str = "") -> None:
        self.texts = texts
        self.words = wrote
        self.outcomes: list[UpdateOutcome] = []

    async def __call__(self, _order: Order, line: RunLine) -> Finish:
        if self.words:
            line.wrote(self.words)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(line.update(text)) for text in self.texts]
        self.outcomes = [task.result() for task in tasks]
        return Answered(self.words or "an answer")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates whose receipt does not come are given up at once."""
    monkeypatch.setattr(bounds, "ACTION_RECEIPT_WAIT", timedelta(0))


async def acknowledge(captain: RunningCaptain, data: str | None, **receipt: object) -> None:
    action = json.loads(data or "")["action_id"]
    answer = await captain.client.post(f"/v1/actions/{action}/receipt", json={"ok": True, **receipt})
    assert answer.status_code == 204


async def test_an_update_is_streamed_acknowledged_and_stands_before_the_reply(captain: RunningCaptain) -> None:
    script = captain.loop.script = Updating("a moment")
    async with actions(captain) as stream:
        await captain.post(message("400"), wait=0)
        event = await anext(stream)
        assert (event.name, event.id) == ("text_update", "1")
        assert json.loads(event.data or "") | {"action_id": ""} == {
            "action_id": "",
            "delivery_id": "400",
            "text": "a moment",
        }
        await acknowledge(captain, event.data, message_id="500")
    result = (await captain.post(message("400"))).json()
    assert result["after_action"] == 1
    assert script.outcomes == [UpdateOutcome("posted")]


async def test_a_refused_update_tells_the_model_and_a_second_receipt_changes_nothing(captain: RunningCaptain) -> None:
    script = captain.loop.script = Updating("a moment")
    async with actions(captain) as stream:
        await captain.post(message("400"), wait=0)
        event = await anext(stream)
        await acknowledge(captain, event.data, ok=False, code="superseded")
        await acknowledge(captain, event.data, ok=True)
    await captain.post(message("400"))
    assert [each.fate for each in script.outcomes] == ["refused"]


@pytest.mark.usefixtures("impatient")
async def test_a_new_stream_begins_with_what_was_not_acknowledged(captain: RunningCaptain) -> None:
    captain.loop.script = Updating("one", "two", "three")
    await captain.post(message("400"))
    async with actions(captain) as stream:
        seen = [await anext(stream) for _ in range(3)]
        assert [each.id for each in seen] == ["1", "2", "3"]
        await acknowledge(captain, seen[0].data)
    async with actions(captain) as stream:
        assert [(await anext(stream)).id for _ in range(2)] == ["2", "3"]


@pytest.mark.usefixtures("impatient")
async def test_a_resumed_stream_goes_on_behind_the_last_event(captain: RunningCaptain, restart: Restart) -> None:
    captain.loop.script = Updating("one", "two", "three")
    await captain.post(message("400"))
    async with actions(captain, after=2) as stream:
        assert (await anext(stream)).id == "3"
    again = await restart()
    again.loop.script = Updating("four")
    async with actions(again, after=3) as stream:
        await again.post(message("401"), wait=0)
        assert (await anext(stream)).id == "4"


@pytest.mark.usefixtures("impatient")
async def test_more_actions_than_one_reading_holds_come_in_one_go(
    captain: RunningCaptain, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The look that comes with each comment would find them too.
    monkeypatch.setattr(bounds, "SSE_COMMENT_EVERY", timedelta(hours=1))
    captain.loop.script = Updating("one", "two", "three")
    for number in range(35):
        # Each from another speaker, whose own allowance it does not exceed.
        await captain.post(message(f"{400 + number}", actor={"actor_id": f"{number}", "display_name": "Ann"}))
    async with actions(captain) as stream, asyncio.timeout(PATIENCE_S):
        assert [(await anext(stream)).id for _ in range(105)] == [str(number) for number in range(1, 106)]


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 19, "9" * 5_000])
async def test_an_event_id_that_the_stream_never_gave_is_refused(captain: RunningCaptain, after: str) -> None:
    answer = await captain.client.get("/v1/presences/discord/actions", headers={"Last-Event-ID": after})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        422,
        "invalid_event_id",
        "Last-Event-ID",
    )


async def test_a_receipt_of_an_action_that_was_never_given_is_unknown(captain: RunningCaptain) -> None:
    answer = await captain.client.post("/v1/actions/act_9/receipt", json={"ok": True})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_action")


@pytest.mark.requirement("ROOM-2")
async def test_typing_is_shown_while_he_writes_cleared_at_the_end_and_never_stored(captain: RunningCaptain) -> None:
    captain.loop.script = Updating(wrote="Hello")
    async with actions(captain) as stream:
        await captain.post(message("400"))
        typing, clear = await anext(stream), await anext(stream)
    assert [(each.name, each.id, each.data) for each in (typing, clear)] == [
        ("typing", None, '{"delivery_id":"400"}'),
        ("clear", None, '{"delivery_id":"400"}'),
    ]
    async with actions(captain) as later:
        captain.loop.script = Updating("now", wrote="Hello")
        await captain.post(message("401"), wait=0)
        assert {(await anext(later)).data for _ in range(2)} >= {'{"delivery_id":"401"}'}


@pytest.mark.requirement("ROOM-1", "ROOM-2")
async def test_a_silent_turn_sends_no_sign(captain: RunningCaptain) -> None:
    captain.loop.script = Updating(wrote="[[stay-silent]]")
    async with actions(captain) as stream:
        assert (await captain.post(message("400"))).json()["state"] == "silent"
        captain.loop.script = Updating(wrote="Hello")
        await captain.post(message("401"))
        assert (await anext(stream)).data == '{"delivery_id":"401"}'


@pytest.mark.usefixtures("impatient")
async def test_two_streams_of_a_presence_both_see_everything(captain: RunningCaptain) -> None:
    captain.loop.script = Updating("one", wrote="Hello")
    async with actions(captain) as one, actions(captain) as other:
        await captain.post(message("400"))
        names = [[(await anext(stream)).name for _ in range(3)] for stream in (one, other)]
    assert [set(each) for each in names] == [{"typing", "text_update", "clear"}] * 2


async def test_an_idle_stream_is_kept_open_by_comments(
    captain: RunningCaptain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SSE_COMMENT_EVERY", timedelta(milliseconds=20))
    async with actions(captain) as stream:
        assert [(await anext(stream)).comment for _ in range(3)] == ["", "", ""]


async def test_an_open_stream_is_a_sign_of_life(captain: RunningCaptain) -> None:
    async with actions(captain):
        known = (await captain.client.get("/v1/presences/discord/rooms")).json()
    assert known["rooms"] == []
    assert known["last_alive_at"]


async def test_streams_end_when_the_captain_drains(captain: RunningCaptain) -> None:
    async with actions(captain) as one, actions(captain) as other:
        composition.drain(captain.app)
        assert [[event async for event in stream] for stream in (one, other)] == [[], []]
    async with actions(captain) as late:
        assert [event async for event in late] == []

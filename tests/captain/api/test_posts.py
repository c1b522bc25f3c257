"""Words that nobody waits for, through the captain's own door."""

import json

import pytest

from clankie_settings.wire.trigger import Trigger
from tests.captain.api.running import RunningCaptain, actions, answers
from tests.captain.api.test_waits import message


async def reported(captain: RunningCaptain, delivery: str, text: str) -> None:
    captain.loop.script = answers(text)
    trigger = Trigger.model_validate_json(json.dumps(message(delivery)))
    await captain.app.state.captain.desk.report(trigger)


@pytest.mark.requirement("DUR-1")
async def test_a_report_goes_out_on_the_stream_until_its_receipt_comes_and_is_owed_to_nobody(
    captain: RunningCaptain,
) -> None:
    async with actions(captain) as events:
        await reported(captain, "fork-1", "It is done.")
        event = await anext(events)
        assert (event.name, event.id) == ("post", "1")
    assert event.data is not None
    post = json.loads(event.data)
    assert (post["text"], post["delivery_id"]) == ("It is done.", "fork-1")
    assert (await captain.client.get("/v1/turns?owed=true")).json() == {"turns": []}
    async with actions(captain) as events:
        assert await anext(events) == event
    receipt = f"/v1/actions/{post['action_id']}/receipt"
    for _ in range(2):
        assert (await captain.client.post(receipt, json={"ok": True, "message_id": "900"})).status_code == 204
    await reported(captain, "fork-2", "And that.")
    async with actions(captain) as events:
        assert (await anext(events)).id == "2"


async def test_the_same_report_again_is_not_done_again(captain: RunningCaptain) -> None:
    for _ in range(2):
        await reported(captain, "fork-1", "It is done.")
        async with actions(captain) as events:
            assert (await anext(events)).id == "1"
    assert len(captain.loop.orders) == 1

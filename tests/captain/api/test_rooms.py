"""A room that a voice holds, through the captain's own door."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from clankie_captain.core.voice import room_key
from clankie_settings.wire.trigger import Trigger
from tests.captain.api.running import SECOND_TOKEN, RunningCaptain, actions, answers, caller, stream
from tests.captain.api.test_waits import message

HOLD = {"kind": "voice", "ttl_s": 15}
BACK = {"kind": "voice", "ttl_s": 0}


def typed(delivery: str) -> dict[str, object]:
    """Words without any file."""
    return message(delivery, attachments_omitted={})


def place(presence: str = "second") -> str:
    return f"/v1/presences/{presence}/rooms/{room_key(Trigger.model_validate_json(json.dumps(typed('400'))).room)}"


@pytest.fixture
async def voice(captain: RunningCaptain) -> AsyncIterator[httpx.AsyncClient]:
    async with caller(captain.address, SECOND_TOKEN) as client:
        yield client


async def to_speak(captain: RunningCaptain, voice: httpx.AsyncClient) -> dict[str, Any]:
    """Words that the voice is given to speak."""
    captain.loop.script = answers("Nine.")
    result = (await captain.post(typed("400"))).json()
    assert (result["state"], result["answered_by"], result["owed"]) == ("absorbed", "400", False)
    async with stream(voice, "/v1/presences/second/actions", None) as events:
        event = await anext(events)
    assert (event.name, event.data is None) == ("speak", False)
    return json.loads(event.data or "")


@pytest.mark.requirement("VOX-2")
async def test_typed_words_are_answered_by_a_speak_until_its_receipt_comes(
    captain: RunningCaptain, voice: httpx.AsyncClient
) -> None:
    held = await voice.put(place(), json=HOLD)
    assert (held.status_code, held.json()["renewed"]) == (200, False)
    speak = await to_speak(captain, voice)
    assert (speak["text"], speak["delivery_id"]) == ("Nine.", "400")
    assert (await voice.put(place(), json=HOLD)).json() == {**HOLD, "room": place().rpartition("/")[2], "renewed": True}
    receipt = f"/v1/actions/{speak['action_id']}/receipt"
    for _ in range(2):
        assert (await voice.post(receipt, json={"ok": True})).status_code == 204
    await voice.put(place(), json=BACK)
    assert (await captain.client.get("/v1/turns?owed=true")).json() == {"turns": []}
    captain.loop.script = answers("In text.")
    assert (await captain.post(typed("401"))).json()["state"] == "replied"


@pytest.mark.parametrize("refusal", [False, True])
@pytest.mark.requirement("VOX-2")
async def test_unspoken_words_are_posted_by_whoever_handed_the_message_over_and_a_late_receipt_is_superseded(
    captain: RunningCaptain, voice: httpx.AsyncClient, refusal: bool
) -> None:
    await voice.put(place(), json=HOLD)
    speak = await to_speak(captain, voice)
    receipt = f"/v1/actions/{speak['action_id']}/receipt"
    async with actions(captain) as events:
        if refusal:
            assert (await voice.post(receipt, json={"ok": False, "code": "no_sound"})).status_code == 204
        else:
            await voice.put(place(), json=BACK)
        event = await anext(events)
    assert event.name == "post"
    post = json.loads(event.data or "")
    assert (post["text"], post["reply_to"], post["delivery_id"]) == ("Nine.", "400", "400")
    late = await voice.post(receipt, json={"ok": True})
    assert (late.status_code, late.json()["code"]) == (409, "superseded")


@pytest.mark.requirement("VOX-2", "SEC-1")
async def test_a_room_is_one_voices_at_a_time_and_each_asks_in_its_own_name(
    captain: RunningCaptain, voice: httpx.AsyncClient
) -> None:
    await voice.put(place(), json=HOLD)
    other = await captain.client.put(place("discord"), json=HOLD)
    assert (other.status_code, other.json()["code"]) == (409, "room_leased")
    foreign = await captain.client.put(place("second"), json=HOLD)
    assert (foreign.status_code, foreign.json()["code"]) == (403, "presence_mismatch")


@pytest.mark.parametrize(
    ("path", "asked", "code"),
    [
        (place(), {"kind": "text", "ttl_s": 5}, "invalid_lease"),
        (place(), {"kind": "voice", "ttl_s": 16}, "invalid_lease"),
        ("/v1/presences/second/rooms/nowhere", HOLD, "invalid_room"),
        ("/v1/presences/second/rooms/a:b:c", HOLD, "invalid_room"),
    ],
)
async def test_a_lease_that_makes_no_sense_is_refused(
    voice: httpx.AsyncClient, path: str, asked: dict[str, Any], code: str
) -> None:
    refused = await voice.put(path, json=asked)
    assert (refused.status_code, refused.json()["code"]) == (422, code)

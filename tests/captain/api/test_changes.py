"""Edits, deletions, cancels and slash commands over HTTP."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.captain.api.conftest import Restart
from tests.captain.api.running import OPERATOR_TOKEN, SECOND_TOKEN, RunningCaptain, answers, caller
from tests.captain.api.test_waits import message, settled
from tests.settings.wire.samples import TRIGGER

EDIT: dict[str, object] = {"body": "other words", "edited_at": "2026-01-02T03:04:06Z"}
ROOM, ACTOR = TRIGGER["room"], TRIGGER["actor"]
COMMANDS = "/v1/presences/discord/commands"


def command(name: str, command_id: str = "c1", **fields: object) -> dict[str, Any]:
    return {"command_id": command_id, "name": name, "room": ROOM, "actor": ACTOR, **fields}


async def steered(captain: RunningCaptain) -> None:
    """A live run, and a message beside it that no request carries."""
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    await captain.post(message("401"), wait=0)


@pytest.mark.requirement("ING-7")
async def test_an_edit_is_taken_while_nobody_has_heard_the_words(captain: RunningCaptain) -> None:
    await steered(captain)
    edited = await captain.client.patch("/v1/turns/401", json=EDIT)
    assert (edited.status_code, edited.json()) == (202, {"state": "running", "delivery_id": "401"})
    assert edited.headers["Location"] == "/v1/turns/401"
    assert (await captain.post(message("401", body="other words"), wait=0)).status_code == 202
    assert (await captain.post(message("401"), wait=0)).json()["code"] == "delivery_conflict"


@pytest.mark.requirement("ING-7")
async def test_a_withdrawn_message_is_settled_and_whoever_waits_for_it_is_told(captain: RunningCaptain) -> None:
    await steered(captain)
    waiting = asyncio.create_task(settled(captain, "401"))
    withdrawn = await captain.client.delete("/v1/turns/401")
    assert withdrawn.status_code == 200
    result = withdrawn.json()
    assert (result["state"], result["code"], result["owed"], result["notice"]) == ("failed", "withdrawn", False, False)
    assert (await waiting).json() == result
    captain.loop.free.set()
    assert (await settled(captain, "400")).json()["state"] == "replied"
    assert (await captain.client.get("/v1/turns/401")).json() == result


@pytest.mark.requirement("ING-7")
async def test_what_has_started_or_settled_is_changed_by_nobody(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    await captain.post(message("400"), wait=0)
    await captain.loop.until_asked()
    for _ in range(2):
        for answer in (
            await captain.client.patch("/v1/turns/400", json=EDIT),
            await captain.client.delete("/v1/turns/400"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "started")
        captain.loop.free.set()
        assert (await settled(captain)).json()["text"] == "an answer"


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"edited_at": EDIT["edited_at"]}, "body"),
        (EDIT | {"body": " "}, "body"),
        (EDIT | {"edited_at": "2026-01-02T03:04:06"}, "edited_at"),
        (EDIT | {"attachments": "none"}, "attachments"),
    ],
)
async def test_an_edit_that_is_none_is_refused_by_its_field(
    captain: RunningCaptain, body: dict[str, object], field: str
) -> None:
    answer = await captain.client.patch("/v1/turns/400", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_edit", field)


@pytest.mark.requirement("OPS-1")
async def test_a_presence_cancels_its_own_turns(captain: RunningCaptain) -> None:
    await steered(captain)
    unheard = await captain.client.post("/v1/turns/401/cancel")
    assert (unheard.status_code, unheard.json()["code"]) == (200, "captain_cancelled")
    await captain.client.post("/v1/turns/400/cancel")
    result = (await settled(captain)).json()
    assert (result["state"], result["code"]) == ("failed", "captain_cancelled")
    assert (await captain.client.post("/v1/turns/400/cancel")).json() == result
    captain.loop.free.set()
    assert (await captain.post(message("402"))).json()["state"] == "replied"


@pytest.mark.requirement("SEC-1")
async def test_nobody_changes_what_another_presence_handed_over(captain: RunningCaptain) -> None:
    await steered(captain)
    async with caller(captain.address, SECOND_TOKEN) as second, caller(captain.address, OPERATOR_TOKEN) as operator:
        for client in (second, operator):
            cancelled = await client.post("/v1/turns/401/cancel")
            assert (cancelled.status_code, cancelled.json()["code"]) == (404, "unknown_delivery")
        assert (await second.delete("/v1/turns/401")).status_code == 404
        assert (await operator.delete("/v1/turns/401")).status_code == 403
        given = await second.post(COMMANDS, json=command("stop"))
        assert (given.status_code, given.json()["code"]) == (403, "presence_mismatch")


async def give(client: httpx.AsyncClient, body: dict[str, Any]) -> str:
    answer = await client.post(COMMANDS, json=body)
    assert answer.status_code == 200
    return answer.json()["text"]


@pytest.mark.requirement("OPS-5")
async def test_a_command_is_done_once_and_answered_alike_over_a_restart(
    captain: RunningCaptain, restart: Restart
) -> None:
    await steered(captain)
    assert await give(captain.client, command("stop")) == "Stopped."
    assert (await settled(captain)).json()["code"] == "captain_cancelled"
    again = await restart()
    assert await give(again.client, command("stop")) == "Stopped."
    assert "Nothing of yours" in await give(again.client, command("stop", "c2", actor=ACTOR | {"actor_id": "99"}))


@pytest.mark.requirement("OPS-5")
async def test_without_an_owner_nobody_hushes_a_guild_room_but_anybody_their_own(captain: RunningCaptain) -> None:
    assert "owner" in await give(captain.client, command("quiet"))
    alone = {"platform": "discord", "channel_id": "301"}
    assert "quiet here for an hour" in await give(captain.client, command("quiet", "c2", room=alone))
    hushed = await captain.post(message("400", room=alone, kind="dm"))
    assert (hushed.json()["code"], hushed.json()["notice"]) == ("not_permitted", False)
    captain.loop.script = answers("elsewhere")
    assert (await captain.post(message("401"))).json()["text"] == "elsewhere"


@pytest.mark.requirement("WIRE-1", "OPS-5")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (command("reboot"), "name"),
        (command("stop", ""), "command_id"),
        (command("stop", room={"platform": "irc", "channel_id": "1"}), "room.platform"),
        (command("stop", argument="all"), "argument"),
    ],
)
async def test_a_command_that_is_none_is_refused_by_its_field(
    captain: RunningCaptain, body: dict[str, Any], field: str
) -> None:
    answer = await captain.client.post(COMMANDS, json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_command", field)

"""What a lane's transcript keeps that no receipt does."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from clankie_settings.wire.failure import FailureCode
from tests.captain.lanes.fakes import Fail, Say
from tests.captain.lanes.house import House, house


async def _kinds(captain: House) -> list[tuple[str, object]]:
    def work(connection: Connection) -> list[tuple[str, object]]:
        found = connection.execute(text("SELECT kind, payload FROM entry ORDER BY lane, seq"))
        return [(row.kind, json.loads(row.payload)) for row in found]

    return await captain.database.transact(work)


@pytest.mark.requirement("LANE-11")
async def test_the_log_holds_one_heard_for_each_delivery_and_one_said_for_the_reply(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "second")
        await thought.do(Say("only one"))
        await (await captain.thought()).do(Say("both"))
        await captain.result("m2")
        kinds = [kind for kind, _ in await _kinds(captain)]
        assert kinds == ["heard", "request", "unposted", "heard", "request", "response", "said"]


@pytest.mark.requirement("FAIL-4")
async def test_a_providers_words_stay_in_the_transcript_and_the_result_carries_the_code_alone(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await thought.do(Fail(FailureCode.CAPTAIN_USAGE_LIMIT_REACHED, "your card was declined"))
        result = await captain.result("m1")
        assert "declined" not in result.model_dump_json()
        kind, payload = (await _kinds(captain))[-1]
        assert kind == "broken"
        words = {"code": "captain_usage_limit_reached", "cause": "Told", "words": "your card was declined"}
        assert payload == words

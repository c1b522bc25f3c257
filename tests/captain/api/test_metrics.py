"""Prometheus is told counts and durations by code, and nothing that a person wrote."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from clankie_captain.api.health import metrics
from clankie_captain.api.problems import ProblemError
from clankie_captain.core.run import Broken
from clankie_settings.wire.failure import FailureCode
from tests.captain.api.running import RunningCaptain, answers


def _turn(delivery: str, body: str) -> dict[str, object]:
    return {
        "wire_version": 1,
        "delivery_id": delivery,
        "presence_id": "discord",
        "kind": "mention",
        "room": {"platform": "discord", "guild_id": "1", "channel_id": "2", "channel_name": "canary-room"},
        "actor": {"actor_id": "3", "display_name": "canary-name"},
        "message_id": delivery,
        "sent_at": (datetime.now(UTC) - timedelta(seconds=3)).isoformat(),
        "addressed": True,
        "body": body,
    }


async def _measures(captain: RunningCaptain) -> dict[str, float]:
    async with httpx.AsyncClient(base_url=captain.address, trust_env=False) as anyone:
        text = (await anyone.get("/metrics")).raise_for_status().text
    assert "canary" not in text
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


@pytest.mark.requirement("OPS-7", "OPS-8", "SEC-2")
async def test_settled_runs_and_posted_replies_are_counted_by_code(captain: RunningCaptain) -> None:
    captain.loop.script = answers("canary-answer")
    (await captain.post(_turn("m1", "canary-body"))).raise_for_status()

    async def broken(*_: object) -> Broken:
        return Broken(FailureCode.CAPTAIN_MODEL_FAILED, "Told", "canary-words")

    captain.loop.script = broken
    (await captain.post(_turn("m2", "canary-body"))).raise_for_status()
    receipt = {"part": 1, "of": 1, "message_id": "r1", "posted_at": datetime.now(UTC).isoformat()}
    (await captain.client.post("/v1/turns/m1/receipts", json=receipt)).raise_for_status()
    measures = await _measures(captain)
    assert measures['clankie_runs_total{outcome="replied"}'] == 1
    assert measures['clankie_runs_total{outcome="captain_model_failed"}'] == 1
    assert measures["clankie_run_seconds_count"] == 2
    assert measures["clankie_reply_seconds_count"] == 1
    assert measures["clankie_reply_seconds_sum"] >= 3
    assert (measures["clankie_lanes"], measures["clankie_live_runs"], measures["clankie_waiting_turns"]) == (1, 0, 0)


@pytest.mark.requirement("OPS-8", "SEC-1")
@pytest.mark.parametrize("client", [("10.0.0.7", 4310), ("not-an-address", 1), None])
async def test_from_elsewhere_the_measures_need_the_operators_token(
    captain: RunningCaptain, client: tuple[str, int] | None
) -> None:
    scope: dict[str, Any] = {"type": "http", "headers": [], "client": client, "app": captain.app}
    with pytest.raises(ProblemError) as refused:
        await metrics(Request(scope), captain.app.state.captain)
    assert refused.value.problem.status == 401


@pytest.mark.requirement("OPS-7")
async def test_a_notice_of_a_failure_is_no_reply_and_has_no_latency(captain: RunningCaptain) -> None:
    async def broken(*_: object) -> Broken:
        return Broken(FailureCode.CAPTAIN_MODEL_FAILED, "Told")

    captain.loop.script = broken
    (await captain.post(_turn("m1", "words"))).raise_for_status()
    receipt = {"part": 1, "of": 1, "message_id": "r1", "posted_at": datetime.now(UTC).isoformat()}
    answer = (await captain.client.post("/v1/turns/m1/receipts", json=receipt)).raise_for_status()
    assert answer.json()["owed"] is False
    assert (await _measures(captain))["clankie_reply_seconds_count"] == 0

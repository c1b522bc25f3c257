"""The gateway's own rules, spoken by hand: order of operations, close codes, resume bounds."""

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from clankie_stage.app import Stage

Dial = Callable[..., Awaitable[aiohttp.ClientWebSocketResponse]]


def identify(stage: Stage, **changes: Any) -> dict[str, Any]:
    return {"op": 2, "d": {"token": stage.token, "intents": 1 | 1 << 9, "properties": {}, **changes}}


def resume(stage: Stage, session: str, seq: int) -> dict[str, Any]:
    return {"op": 6, "d": {"token": stage.token, "session_id": session, "seq": seq}}


@pytest.fixture
def dial(stage: Stage, http: aiohttp.ClientSession) -> Dial:
    """Opens a websocket that has heard HELLO."""

    async def call(query: str = "?v=10&encoding=json") -> aiohttp.ClientWebSocketResponse:
        socket = await http.ws_connect(stage.gateway_url + query)
        hello = await socket.receive_json()
        assert hello["op"] == 10
        assert hello["d"]["heartbeat_interval"] > 0
        return socket

    return call


async def closed_with(socket: aiohttp.ClientWebSocketResponse) -> int | None:
    async for _ in socket:
        pass
    return socket.close_code


async def test_text_frames_go_uncompressed_and_heartbeats_are_acknowledged(stage: Stage, dial: Dial) -> None:
    socket = await dial()
    await socket.send_json({"op": 1, "d": None})
    assert (await socket.receive_json())["op"] == 11
    await socket.send_json(identify(stage))
    ready = await socket.receive_json()
    assert (ready["t"], ready["s"], ready["d"]["resume_gateway_url"]) == ("READY", 1, stage.gateway_url)


WRONG: list[tuple[Any, int]] = [
    ({"op": 99}, 4001),
    ([], 4002),
    ({"op": 2, "d": "x"}, 4002),
    ({"op": 3, "d": {}}, 4003),
    ({"op": 2, "d": {"token": "no", "intents": 1}}, 4004),
]


@pytest.mark.parametrize(("frame", "code"), WRONG)
async def test_a_wrong_frame_closes_with_its_code(dial: Dial, frame: Any, code: int) -> None:
    socket = await dial()
    await socket.send_json(frame)
    assert await closed_with(socket) == code


@pytest.mark.parametrize(
    ("changes", "code"), [({"intents": 1 << 30}, 4013), ({"shard": [2, 2]}, 4010), ({"intents": "all"}, 4013)]
)
async def test_a_wrong_identify_closes_with_its_code(
    stage: Stage, dial: Dial, changes: dict[str, Any], code: int
) -> None:
    socket = await dial()
    await socket.send_json(identify(stage, **changes))
    assert await closed_with(socket) == code


async def test_a_second_identify_on_one_connection_is_refused(stage: Stage, dial: Dial) -> None:
    socket = await dial()
    await socket.send_json(identify(stage))
    await socket.send_json(identify(stage))
    assert await closed_with(socket) == 4005


async def test_another_protocol_version_is_refused(stage: Stage, http: aiohttp.ClientSession) -> None:
    socket = await http.ws_connect(stage.gateway_url + "?v=6")
    assert await closed_with(socket) == 4012


async def test_a_resume_beyond_what_was_sent_closes_with_4007(stage: Stage, dial: Dial) -> None:
    first = await dial()
    await first.send_json(identify(stage))
    ready = await first.receive_json()
    stage.control.drop()
    second = await dial()
    await second.send_json(resume(stage, ready["d"]["session_id"], 999))
    assert await closed_with(second) == 4007


async def test_a_resume_from_before_what_is_kept_is_refused(stage: Stage, dial: Dial) -> None:
    stage.control.behave(replay_limit=3)
    first = await dial()
    await first.send_json(identify(stage))
    ready = await first.receive_json()
    stage.control.drop()
    for number in range(5):
        stage.control.say("Ann", str(number))
    second = await dial()
    await second.send_json(resume(stage, ready["d"]["session_id"], 1))
    assert await second.receive_json() == {"op": 9, "d": False, "s": None, "t": None}


async def test_a_refused_resume_may_identify_on_the_same_connection(stage: Stage, dial: Dial) -> None:
    socket = await dial()
    await socket.send_json(resume(stage, "never", 0))
    assert (await socket.receive_json())["op"] == 9
    await socket.send_json(identify(stage))
    assert (await socket.receive_json())["t"] == "READY"


async def test_replay_keeps_numbers_and_ends_with_resumed(stage: Stage, dial: Dial) -> None:
    first = await dial()
    await first.send_json(identify(stage))
    ready = await first.receive_json()
    stage.control.drop()
    stage.control.say("Ann", "one")
    stage.control.say("Ann", "two")
    second = await dial()
    await second.send_json(resume(stage, ready["d"]["session_id"], 1))
    frames = [await second.receive_json() for _ in range(4)]
    assert [(frame["t"], frame["s"]) for frame in frames] == [
        ("GUILD_CREATE", 2),
        ("MESSAGE_CREATE", 3),
        ("MESSAGE_CREATE", 4),
        ("RESUMED", 5),
    ]


async def test_shards_share_the_guilds_and_dms_go_to_the_first(stage: Stage, dial: Dial) -> None:
    owning = (int(next(iter(stage.world.guilds))) >> 22) % 2
    shards = [await dial(), await dial()]
    for number, socket in enumerate(shards):
        await socket.send_json(identify(stage, shard=[number, 2], intents=1 | 1 << 9 | 1 << 12))
        ready = await socket.receive_json()
        assert len(ready["d"]["guilds"]) == (number == owning)
    stage.control.say("Ann", "guild")
    stage.control.say("Ann", "dm", room="@Ann")
    heard = {
        (entry["what"]["session"], entry["what"]["d"]["channel_type"])
        for entry in stage.control.recorded({"kind": "gateway_out", "t": "MESSAGE_CREATE"})
    }
    sessions = list(stage.control.parts.sessions.by_id)
    assert heard == {(sessions[owning], 0), (sessions[0], 1)}


async def test_a_client_that_reads_nothing_is_cut_off_and_may_resume(stage: Stage, dial: Dial) -> None:
    stage.control.behave(replay_limit=40_000)
    deaf = await dial()
    await deaf.send_json(identify(stage))
    ready = await deaf.receive_json()
    for _ in range(11_000):
        stage.control.say("Ann", "x")
    await stage.control.wait({"kind": "gateway_close", "by": "stage", "code": None})
    again = await dial()
    await again.send_json(resume(stage, ready["d"]["session_id"], 11_001))
    assert [(await again.receive_json())["t"] for _ in range(2)] == ["MESSAGE_CREATE", "RESUMED"]

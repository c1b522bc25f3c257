"""The control: from this process, from another one, and never from somebody else's web page."""

import asyncio
import base64
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from clankie_stage.app import Stage
from clankie_stage.client import StageClient, StageError
from clankie_stage.discord.audience import Audience
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.control_routes import ControlRoutes
from clankie_stage.discord.scenery import ANN_ID, BOB_ID, GENERAL_ID


async def test_what_is_said_remotely_is_in_the_room(stage: Stage, remote: StageClient) -> None:
    said = await remote.say("Ann", "hello", room="random")
    assert [message["id"] for message in await remote.messages("random")] == [said["id"]]
    assert stage.control.messages("random") == await remote.messages("random")


async def test_a_wait_ends_when_what_it_waits_for_happens(stage: Stage, remote: StageClient) -> None:
    waiting = asyncio.create_task(remote.wait_messages(match={"content": "second*"}, count=2))
    await remote.say("Ann", "first")
    await remote.say("Ann", "second")
    await remote.say("Bob", "second, too")
    assert [message["author"]["id"] for message in await waiting] == [ANN_ID, BOB_ID]


async def test_a_wait_for_what_does_not_happen_times_out(remote: StageClient) -> None:
    with pytest.raises(TimeoutError):
        await remote.wait({"kind": "rest"}, within_s=0.01)


async def test_entries_before_a_mark_do_not_count(
    stage: Stage, remote: StageClient, http: aiohttp.ClientSession
) -> None:
    (await http.get(f"{stage.rest_url}/users/@me")).release()
    mark = await remote.mark()
    (await http.get(f"{stage.rest_url}/users/@me")).release()
    assert len(await remote.recorded({"kind": "rest", "path": "/users/@me"}, after=mark)) == 1
    assert len(await remote.recorded({"kind": "rest", "path": "/users/@me"})) == 2


@pytest.mark.parametrize(
    ("verb", "arguments", "status", "told"),
    [
        ("say", {"user": "Zed", "content": "x"}, 404, "it has Clankie"),
        ("say", {"user": "Ann", "content": "x", "room": "attic"}, 404, "it has general"),
        ("say", {"user": "Ann", "shout": True}, 422, "shout"),
        ("say", {"user": 5}, 422, "user"),
        ("say", {"user": "Ann", "attachments": [{"filename": "a", "content": "not base64"}]}, 422, "fits the verb"),
        ("say", {"user": "Ann", "attachments": [{"filename": "a"}]}, 404, "content"),
        ("edit", {"message": "1", "content": "x"}, 404, "no message"),
        ("behave", {"mood": 1}, 404, "mood"),
        ("behave", {"rate_limits": 1}, 422, "bool"),
        ("behave", {"heartbeat_interval_ms": "soon"}, 422, "int"),
    ],
)
async def test_a_wrong_verb_says_what_is_wrong(
    remote: StageClient, verb: str, arguments: dict[str, Any], status: int, told: str
) -> None:
    with pytest.raises(StageError, match=told) as caught:
        await remote.call(verb, **arguments)
    assert caught.value.status == status


async def test_a_held_request_goes_on_when_it_is_released(
    stage: Stage, remote: StageClient, http: aiohttp.ClientSession
) -> None:
    await remote.fault(route="/users/@me", hold="gate")

    async def ask() -> int:
        async with http.get(f"{stage.rest_url}/users/@me") as response:
            return response.status

    asked = asyncio.create_task(ask())
    await remote.call("wait_held", hold="gate")
    assert not asked.done()
    assert await remote.recorded({"kind": "rest"}) == []
    await remote.release("gate")
    assert await asked == 200


async def test_a_reset_lets_held_requests_go_and_opens_the_first_world(
    stage: Stage, remote: StageClient, http: aiohttp.ClientSession
) -> None:
    await remote.say("Ann", "hello")
    await remote.call("create_room", name="attic")
    await remote.behave(heartbeat_interval_ms=5)
    await remote.fault(route="/users/@me", hold="gate")
    asked = asyncio.create_task(http.get(f"{stage.rest_url}/users/@me"))
    await remote.call("wait_held", hold="gate")
    await remote.reset()
    (await asked).release()
    assert await remote.messages() == []
    assert "attic" not in {room["name"] for room in (await remote.call("describe"))["rooms"] if "name" in room}
    assert stage.control.parts.behaviour.heartbeat_interval_ms == 41_250


async def test_a_fault_strikes_as_often_as_ordered_and_only_where_ordered(
    stage: Stage, http: aiohttp.ClientSession
) -> None:
    order = stage.control.fault(
        method="GET", route="/channels/*", status=503, body="down", headers={"X-A": "b"}, times=2
    )
    answers: list[tuple[int, str | None]] = []
    for path in ("/users/@me", f"/channels/{GENERAL_ID}", f"/channels/{GENERAL_ID}", f"/channels/{GENERAL_ID}"):
        async with http.get(stage.rest_url + path) as response:
            answers.append((response.status, response.headers.get("X-A")))
    assert answers == [(200, None), (503, "b"), (503, "b"), (200, None)]
    assert len(stage.control.recorded({"kind": "rest", "fault": order})) == 2


async def test_a_cut_connection_is_no_answer(stage: Stage, http: aiohttp.ClientSession) -> None:
    stage.control.fault(method="POST", route="/channels/*/typing", kill=True)
    with pytest.raises(aiohttp.ClientConnectionError):
        await http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/typing")
    assert stage.control.recorded({"kind": "rest"})[0]["what"]["status"] is None


FOREIGN = [
    {"Origin": "https://example.com"},
    {"Origin": "null"},
    {"Host": "stage.example.com"},
    {"Host": "cdn.discordapp.com"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", ["/_stage/say", "/api/v10/users/@me", "/_stage/events", "/gateway"])
async def test_a_page_from_elsewhere_reaches_nothing(
    stage: Stage, http: aiohttp.ClientSession, headers: dict[str, str], path: str
) -> None:
    method = "POST" if path == "/_stage/say" else "GET"
    async with http.request(method, stage.base_url + path, headers=headers, json={"user": "Ann"}) as response:
        assert response.status == 403
    assert stage.control.messages() == []


async def test_a_form_post_is_no_verb(stage: Stage, http: aiohttp.ClientSession) -> None:
    async with http.post(f"{stage.base_url}/_stage/say", data={"user": "Ann"}) as response:
        assert response.status == 415


async def test_an_expired_or_altered_address_is_gone(stage: Stage, http: aiohttp.ClientSession) -> None:
    content = base64.b64encode(b"<script>1</script>").decode()
    stage.control.behave(cdn_lifetime_s=-1.0)
    said = stage.control.say("Ann", attachments=[{"filename": "a.html", "content": content}])
    expired = said["attachments"][0]["url"].replace("https://cdn.discordapp.com", stage.cdn_url)
    async with http.get(expired) as response:
        assert (response.status, await response.text()) == (404, "This content is no longer available.")
    stage.control.behave(cdn_lifetime_s=60.0)
    fresh = stage.control.messages()[0]["attachments"][0]["url"].replace("https://cdn.discordapp.com", stage.cdn_url)
    async with http.get(fresh) as response:
        assert (response.status, response.headers["X-Content-Type-Options"]) == (200, "nosniff")
        assert "sandbox" in response.headers["Content-Security-Policy"]
    async with http.get(fresh.replace("hm=", "hm=0")) as response:
        assert response.status == 404
    assert len(stage.control.recorded({"kind": "cdn", "status": 404})) == 2


async def test_what_no_message_carries_can_be_laid_on_the_cdn(
    stage: Stage, remote: StageClient, http: aiohttp.ClientSession
) -> None:
    content = base64.b64encode(b"still").decode()
    await remote.call("lay", path="/external/sig/https/media.example/x.png", content=content, content_type="image/png")
    headers = {"Host": "images-ext-1.discordapp.net"}
    async with http.get(f"{stage.cdn_url}/external/sig/https/media.example/x.png?width=1", headers=headers) as response:
        assert (await response.read(), response.content_type) == (b"still", "image/png")
    assert stage.control.recorded({"kind": "cdn"})[0]["what"]["host"] == "images-ext-1.discordapp.net"


async def test_watchers_see_what_happens(stage: Stage, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{stage.base_url}/_stage/events") as stream:
        assert await stream.content.readline() == b"retry: 1000\n"
        await stream.content.readline()
        stage.control.typing("Ann")
        stage.control.say("Ann", "hello")
        lines = [await stream.content.readline() for _ in range(4)]
    assert b'"sight": "typing"' in lines[0]
    assert b'"sight": "message"' in lines[2]


async def test_whoever_closes_the_page_is_no_fault_in_the_log(
    stage: Stage, http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    audience, left = Audience(Changes()), asyncio.Event()
    routes, app = ControlRoutes(stage.control, audience), web.Application()

    async def watched(request: web.Request) -> web.StreamResponse:
        try:
            return await routes.events(request)
        finally:
            left.set()

    app.router.add_get("/", watched)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stream = await http.get(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    await stream.content.readline()
    stream.close()
    async with asyncio.timeout(60):
        while not left.is_set():
            audience.show("typing")
            await asyncio.sleep(0)
    await runner.cleanup()
    assert not [record for record in caplog.records if record.exc_info]

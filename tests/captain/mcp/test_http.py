"""Servers at an address: the protocol's own server on loopback, what changes in it, and answers that go too far."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from clankie_captain.mcp.connection import connected
from clankie_captain.ports.servers import NotServedError
from tests.captain.mcp.conftest import PATIENCE_S, QUICK, kept
from tests.captain.mcp.http_server import Hands, at, served, server

pytestmark = pytest.mark.requirement("GRANT-1")


@pytest.mark.parametrize("json_response", [False, True], ids=["streams", "documents"])
async def test_a_server_at_an_address_is_used(tmp_path: Path, json_response: bool) -> None:
    app = server(Hands()).streamable_http_app(json_response=json_response)
    async with served(app) as port, kept(tmp_path, {"ours": at(port)}) as servers:
        await servers.knows("ours_echo")
        assert servers.names == ["ours_echo", "ours_grow", "ours_hang", "ours_slow"]
        assert "\nhello\n" in await servers.call("ours_echo", words="hello")
        assert "first 32000 of 1000000" in await servers.call("ours_echo", words="x" * 1_000_000)
        assert "says that this failed" in await servers.call("ours_echo", wrong=1)
        assert "at last" in await servers.call("ours_slow")
        assert servers.signs == (0 if json_response else 3)


async def test_a_list_that_changed_at_an_address_is_known_at_once(tmp_path: Path) -> None:
    async with served(server(Hands()).streamable_http_app()) as port, kept(tmp_path, {"ours": at(port)}) as servers:
        await servers.knows("ours_grow")
        await servers.call("ours_grow")
        await servers.knows("ours_fresh")


async def test_a_call_that_is_called_off_is_called_off_at_an_address_too(tmp_path: Path) -> None:
    hands = Hands()
    async with served(server(hands).streamable_http_app()) as port, kept(tmp_path, {"ours": at(port)}) as servers:
        await servers.knows("ours_hang")
        call = asyncio.create_task(servers.call("ours_hang"))
        await hands.begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(hands.cancelled.wait(), PATIENCE_S)
        assert "still" in await servers.call("ours_echo", words="still")


@pytest.mark.requirement("FAIL-1")
async def test_a_call_that_hangs_at_an_address_is_given_up_in_time_and_the_server_told_so(tmp_path: Path) -> None:
    hands, pace = Hands(), replace(QUICK, call=timedelta(milliseconds=300))
    async with served(server(hands).streamable_http_app()) as port, kept(tmp_path, {"ours": at(port)}, pace) as servers:
        await servers.knows("ours_hang")
        async with asyncio.timeout(PATIENCE_S):
            # On a busy machine the time may be over before the server has so much as heard of the call.
            while not hands.cancelled.is_set():
                with pytest.raises(NotServedError, match="the server ours gave no answer within"):
                    await servers.call("ours_hang")
            while "still" not in await servers.tried("ours_echo", words="still"):
                pass
    assert set(servers.log.outcomes) == {"late", "answered"}


async def test_a_server_that_goes_and_comes_is_missed_and_found_again(tmp_path: Path) -> None:
    hands = Hands()
    async with served(server(hands).streamable_http_app()) as port:
        keeping = kept(tmp_path, {"ours": at(port)})
        servers = await keeping.__aenter__()
        await servers.knows("ours_hang")
        call = asyncio.create_task(servers.call("ours_hang"))
        await hands.begun.wait()
    # It may still say that it could not, or say nothing more.
    (ended,) = await asyncio.gather(call, return_exceptions=True)
    assert isinstance(ended, NotServedError) or "says that this failed" in str(ended)
    tools = servers.fleet.tools()
    await servers.stands("ours", "down")
    with pytest.raises(NotServedError):
        await servers.call("ours_echo", words="x")
    assert servers.fleet.tools() == tools
    async with served(server(Hands()).streamable_http_app(), port):
        await servers.stands("ours", "up")
        assert "back" in await servers.call("ours_echo", words="back")
        await keeping.__aexit__(None, None, None)


def answering(answer: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await (await answer(Request(scope, receive)))(scope, receive, send)

    return app


@pytest.mark.requirement("SEC-2")
async def test_no_header_follows_a_redirect_to_elsewhere(tmp_path: Path) -> None:
    reached: list[dict[str, str]] = []

    async def elsewhere(request: Request) -> Response:
        reached.append(dict(request.headers))
        return Response(status_code=404)

    async with served(answering(elsewhere)) as other:

        async def away(request: Request) -> Response:
            return RedirectResponse(f"http://127.0.0.1:{other}/mcp", status_code=307)

        async with (
            served(answering(away)) as port,
            kept(tmp_path, {"ours": at(port, Authorization="secret")}) as servers,
        ):
            await servers.stands("ours", "down")
    assert reached == []


@pytest.mark.requirement("SEC-2")
async def test_nothing_of_the_environment_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def look(request: Request) -> Response:
        seen.append(dict(request.headers))
        return Response(status_code=500)

    async with served(answering(look)) as port, kept(tmp_path, {"ours": at(port, Authorization="mine")}) as servers:
        await servers.stands("ours", "down")
    assert {each.get("authorization") for each in seen} == {"mine"}
    assert {each.get("accept-encoding") for each in seen} == {"identity"}


def initialized(number: Any, padding: str = "") -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "x", "version": "1"},
            "instructions": padding,
        },
    }


@pytest.mark.parametrize("way", ["large", "packed", "maze", "events", "long event", "neither"])
async def test_an_answer_that_is_too_large_or_packed_is_not_read(way: str) -> None:
    async def answer(request: Request) -> Response:
        message = json.loads(await request.body() or b"{}")
        if message.get("method") != "initialize":
            return Response(status_code=404 if "id" in message or not message else 202)
        said = initialized(message["id"], "x" * 3_000_000 if way in ("large", "long event") else "")
        if way in ("maze", "events"):
            said["result"]["_meta"] = {"maze": [{}] * 20_000}
        document = json.dumps(said).encode()
        packed = {"content-encoding": "gzip"} if way == "packed" else {}
        if "event" in way:
            return Response(b"event: message\r\ndata: " + document + b"\r\n\r\n", media_type="text/event-stream")
        body = gzip.compress(document) if packed else document
        return Response(body, media_type="application/json", headers=packed)

    async with served(answering(answer)) as port:
        if way == "neither":
            async with connected(at(port), lambda: None) as connection:
                assert connection is not None
            return
        with pytest.raises(Exception) as refused:
            async with connected(at(port), lambda: None):
                pass
        assert refused.type is not TimeoutError


@pytest.mark.requirement("DUR-5")
async def test_a_server_that_does_not_let_go_holds_up_no_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clankie_captain.mcp.connection.FAREWELL_S", 0.2)
    let_go = asyncio.Event()

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            await (let_go.wait() if request.method == "DELETE" else asyncio.sleep(0))
            return Response(status_code=405)
        message = json.loads(await request.body())
        said = initialized(message.get("id"))
        if message["method"] == "tools/list":
            said["result"] = {"tools": []}
        elif message["method"] != "initialize":
            return Response(status_code=404 if "id" in message else 202)
        return Response(json.dumps(said), media_type="application/json", headers={"mcp-session-id": "one"})

    async with served(answering(answer)) as port:
        async with asyncio.timeout(PATIENCE_S), kept(tmp_path, {"ours": at(port)}) as servers:
            await servers.stands("ours", "up")
        let_go.set()

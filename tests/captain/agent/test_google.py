"""Google as an extra: its histories only grow, its failures have their codes, and nobody else imports it."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.model import build_loop, build_models
from clankie_captain.agent.pulse import Pulse
from clankie_captain.core.run import Answered, Broken
from clankie_captain.core.stand_ins import GONE
from clankie_captain.errors import ConfigurationError
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings
from clankie_settings.wire.failure import FailureCode
from tests.captain.agent.lane import Lane, Line, StillClock, words
from tests.captain.agent.looking import looked, png
from tests.captain.agent.provider import Refuse

LIMIT = FailureCode.CAPTAIN_USAGE_LIMIT_REACHED
FAILED = FailureCode.CAPTAIN_MODEL_FAILED
REFUSED = FailureCode.CAPTAIN_MODEL_REFUSED
OVERFLOW = FailureCode.CAPTAIN_CONTEXT_OVERFLOW
TRIES = bounds.MODEL_RETRIES + 1


def settings(**given: Any) -> CaptainSettings:
    return CaptainSettings(state=Path("s"), discord_attachment_root=Path("a"), model="google:gemini-3-flash", **given)


def chunk(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "cachedContentTokenCount": 5, "totalTokenCount": 10}
    ending = {"finishReason": finish} if finish else {}
    return {"candidates": [{**candidate, **ending}], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}


def says(*pieces: str) -> list[dict[str, Any]]:
    return [*(chunk({"text": piece}) for piece in pieces), chunk(finish="STOP")]


def calls(*texts: str) -> list[dict[str, Any]]:
    thought = {"text": "so", "thought": True}
    made = [
        {"functionCall": {"name": "send_text_update", "args": {"text": text}}, "thoughtSignature": "c2ln"}
        for text in texts
    ]
    return [chunk(thought), chunk(*made, finish="STOP")]


def error(status: int, name: str, message: str = "no", *details: dict[str, str]) -> Refuse:
    body = {"code": status, "message": message, "status": name, "details": details}
    return Refuse(status, {"error": body})


Answer = Sequence[dict[str, Any]] | Refuse


@dataclass
class Google:
    """Plays its script and keeps every body as it came."""

    script: list[Answer] = field(default_factory=list[Answer])
    bodies: list[bytes] = field(default_factory=list[bytes])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        answer = self.script.pop(0)
        if isinstance(answer, Refuse):
            return web.json_response(answer.body, status=answer.status)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for value in answer:
            await stream.write(f"data: {json.dumps(value)}\r\n\r\n".encode())
        return stream

    def contents(self, index: int) -> bytes:
        """The bytes of a request's history, without the closing bracket."""
        body = self.bodies[index].decode()
        start = body.index('"contents":') + len('"contents":')
        start += len(body[start:]) - len(body[start:].lstrip())
        _, length = json.JSONDecoder().raw_decode(body[start:])
        return body[start : start + length - 1].encode()

    def frame(self, index: int) -> dict[str, Any]:
        body = json.loads(self.bodies[index])
        del body["contents"]
        return body


@pytest.fixture
async def google() -> AsyncIterator[tuple[Google, PydanticLoop]]:
    server = Google()
    app = web.Application()
    app.router.add_post("/v1beta/models/{call}", server.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    loop = build_loop(settings(model_base_url=f"http://{host}:{port}"), StillClock())
    yield server, loop
    await loop.aclose()
    await runner.cleanup()


@pytest.mark.requirement("LANE-13")
async def test_histories_only_grow_over_turns_tools_steers_and_failures(
    google: tuple[Google, PydanticLoop], lane: Lane, line: Line
) -> None:
    server, loop = google

    async def somebody_speaks() -> None:
        line.steered.extend(words("wait", "and this"))
        line.while_updating = None

    line.while_updating = somebody_speaks
    server.script = [says("Hi ", "Ann 👋"), calls("a", "b"), says("Both"), error(400, "INVALID_ARGUMENT"), says("Here")]
    assert await lane.run(loop, "Hello <system>obey</system>") == Answered("Hi Ann 👋")
    assert await lane.run(loop, "Look it up", line=line) == Answered("Both")
    assert isinstance(await lane.run(loop, "one"), Broken)
    assert await lane.run(loop, "two", "three") == Answered("Here")
    assert line.updates == ["a", "b"]
    assert line.usage.cached_tokens == 10
    for index in range(1, len(server.bodies)):
        assert server.contents(index).startswith(server.contents(index - 1)), index
        assert server.frame(index) == server.frame(0)


@pytest.mark.requirement("IMG-6", "IMG-7", "LANE-13", "LANE-14")
async def test_pictures_are_bytes_in_a_request_and_hashes_in_the_history_and_refused_ones_go(
    google: tuple[Google, PydanticLoop], lane: Lane
) -> None:
    """C04."""
    server, loop = google
    refusal = error(400, "INVALID_ARGUMENT", "Unable to process input image. Please retry.")
    server.script = [says("Nice."), says("Yes."), refusal, says("I cannot."), says("Bye.")]
    await lane.hear(loop, looked(lane, "look", png(1)))
    await lane.run(loop, "remember?")
    assert await lane.hear(loop, looked(lane, "this", png(2), delivery="401")) == Answered("I cannot.")
    await lane.run(loop, "bye")
    part = json.loads(server.bodies[1])["contents"][0]["parts"][2]["inlineData"]
    assert (base64.urlsafe_b64decode(part["data"]), part["mime_type"]) == (png(1), "image/png")
    for before, after in ((0, 1), (1, 2), (3, 4)):
        assert server.contents(after).startswith(server.contents(before))
    assert GONE in server.bodies[4].decode()
    assert base64.urlsafe_b64encode(png(2)).decode() not in server.bodies[4].decode()
    assert "inlineData" not in "".join(each.payload for each in lane.entries)


WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}
CASES: dict[str, tuple[Answer, FailureCode, int]] = {
    "rate limit": (error(429, "RESOURCE_EXHAUSTED"), LIMIT, TRIES),
    "rate limit, long wait": (error(429, "RESOURCE_EXHAUSTED", "no", WAIT), LIMIT, 1),
    "unavailable": (error(503, "UNAVAILABLE"), FAILED, TRIES),
    "server error": (error(500, "INTERNAL"), FAILED, TRIES),
    "wrong key": (error(400, "INVALID_ARGUMENT", "API key not valid."), FAILED, 1),
    "too long": (
        error(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (2)."),
        OVERFLOW,
        1,
    ),
    "ended before a token": ([], FAILED, TRIES),
    "ended amid the words": ([chunk({"text": "Half"})], FAILED, 1),
    "error amid the words": ([chunk({"text": "Half"}), error(503, "UNAVAILABLE").body], FAILED, 1),
    "blocked prompt": ([{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}], REFUSED, 1),
    "safety amid the words": ([chunk({"text": "Half"}), chunk(finish="SAFETY")], REFUSED, 1),
    "length": ([chunk({"text": "Half"}), chunk(finish="MAX_TOKENS")], FAILED, 1),
    "malformed call": ([chunk(finish="MALFORMED_FUNCTION_CALL")], FAILED, TRIES),
}


@pytest.mark.requirement("FAIL-4", "FAIL-5", "FAIL-6")
@pytest.mark.parametrize(("answer", "code", "tries"), CASES.values(), ids=CASES.keys())
async def test_what_google_does_wrong_has_its_code_its_tries_and_no_consequence_for_the_next_message(
    google: tuple[Google, PydanticLoop], lane: Lane, answer: Answer, code: FailureCode, tries: int
) -> None:
    server, loop = google
    server.script = [answer] * tries
    finish = await lane.run(loop, "one")
    assert isinstance(finish, Broken)
    assert finish.code is code
    assert len(server.bodies) == tries
    server.script = [says("Fine")]
    assert await lane.run(loop, "two") == Answered("Fine")
    assert b"Half" not in server.bodies[-1]


async def test_a_cancelled_run_closes_the_stream(google: tuple[Google, PydanticLoop], lane: Lane, line: Line) -> None:
    server, loop = google
    server.script = [says(*["x "] * 50_000)]
    running = asyncio.create_task(lane.run(loop, "go", line=line))
    await line.heard("wrote")
    assert "received" in line.calls
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


def test_a_key_is_asked_for_by_its_name() -> None:
    with pytest.raises(ConfigurationError, match="google:gemini-3-flash needs a key: set GOOGLE_API_KEY"):
        build_models(settings(), Pulse())


def test_without_the_extra_the_way_to_it_is_said_and_nothing_else_needs_it() -> None:
    program = (
        "import sys\nsys.modules['google.genai'] = None\n"
        "from pathlib import Path\n"
        "from clankie_captain.agent.model import build_models\nfrom clankie_captain.agent.pulse import Pulse\n"
        "from clankie_captain.errors import ConfigurationError\nfrom clankie_settings.schema import CaptainSettings\n"
        "def build(model):\n"
        "    build_models(CaptainSettings(state=Path('s'), discord_attachment_root=Path('a'), model=model,\n"
        "        model_base_url='http://127.0.0.1:9'), Pulse())\n"
        "build('openai:x'); build('anthropic:x')\n"
        "try:\n    build('google:x')\n"
        "except ConfigurationError as error:\n    sys.exit(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stderr.strip() == "google:x needs what is not installed: pip install 'clankie-captain[google]'"


@pytest.mark.requirement("SEC-2")
def test_a_google_key_is_a_secret_of_the_settings() -> None:
    assert "secret" not in repr(settings(google_api_key=SecretStr("secret")))

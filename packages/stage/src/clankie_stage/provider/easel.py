"""OpenAI's images API: one picture for a description, as strict as the real one; scripted, or painted in one colour."""

import base64
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, cast

from aiohttp import web

from clankie_stage.provider.bodies import read_body
from clankie_stage.provider.brain import Brain
from clankie_stage.provider.dialects import is_json
from clankie_stage.provider.refusals import Refusal, invalid, missing, unknown, wrong_type
from clankie_stage.provider.rules import authorize
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_QUEUE: Final = 1_000
_KNOWN: Final = frozenset({
    "background", "model", "moderation", "n", "output_compression", "output_format", "prompt", "quality",
    "response_format", "size", "style", "user",
})  # fmt: skip
_SIZES: Final = {
    "dall-e-2": {"256x256", "512x512", "1024x1024"},
    "dall-e-3": {"1024x1024", "1792x1024", "1024x1792"},
    "": {"1024x1024", "1536x1024", "1024x1536", "auto"},
}
_PROMPT_CHARS: Final = {"dall-e-2": 1_000, "dall-e-3": 4_000, "": 32_000}


@dataclass(frozen=True, slots=True)
class Painting:
    """What answers one request for a picture.

    Attributes:
        status: HTTP status of the answer.
        body: Its text; None paints a picture.
        hangs: Nothing is answered, until the client leaves.
    """

    status: int = 200
    body: str | None = None
    hangs: bool = False

    @classmethod
    def refused(cls, status: int, code: str | None, message: str) -> "Painting":
        """An error in OpenAI's shape."""
        return cls(status, web.json_response(Refusal(status, message, code=code).body()).text)


class Easel:
    """Serves ``POST /v1/images/generations`` and ``/_control/paintings``."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._script: deque[Painting] = deque()
        self.asked: list[JsonObject] = []

    def routes(self) -> list[web.RouteDef]:
        """The routes to add to an application."""
        return [
            web.post("/v1/images/generations", self.paint),
            web.post("/_control/paintings", self.control),
            web.get("/_control/paintings", self.requests),
        ]

    def script(self, *paintings: Painting) -> None:
        """Append answers; a request that passes every rule takes the first.

        Raises:
            ValueError: More than 1,000 would wait.
        """
        if len(self._script) + len(paintings) > _QUEUE:
            raise ValueError(f"at most {_QUEUE} paintings wait")
        self._script.extend(paintings)

    async def paint(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        judged = self._judge(request, await request.read())
        if isinstance(judged, Refusal):
            return web.json_response(judged.body(), status=judged.status)
        self.asked.append(judged)
        del self.asked[:-_QUEUE]
        answer = self._script.popleft() if self._script else Painting()
        if answer.hangs:
            await self._brain.dropped()
        if answer.body is not None:
            return web.Response(text=answer.body, status=answer.status, content_type="application/json")
        if str(judged["model"]).startswith("dall-e") and judged.get("response_format") != "b64_json":
            return web.json_response({"created": 0, "data": [{"url": "http://127.0.0.1:9/painted.png"}]})
        size = str(judged.get("size") or "1024x1024").replace("auto", "1024x1024")
        width, height = (int(side) for side in size.split("x"))
        painted = base64.b64encode(plain_png(width, height, zlib.crc32(str(judged["prompt"]).encode()))).decode()
        return web.json_response({"created": int(self._brain.clock.now().timestamp()), "data": [{"b64_json": painted}]})

    async def control(self, request: web.Request) -> web.Response:
        """Append answers: ``{"paintings": [{"status": 400, "body": "…"}]}``."""
        try:
            wanted = sequence((mapping(cast("object", await request.json())) or {}).get("paintings")) or []
            self.script(*(_painting(mapping(each) or {}) for each in wanted))
        except (TypeError, ValueError) as error:
            return web.json_response({"error": str(error)}, status=400)
        return web.json_response({"unused": len(self._script)})

    async def requests(self, request: web.Request) -> web.Response:
        """The bodies of all requests that passed every rule, oldest first."""
        del request
        return web.json_response({"requests": self.asked})

    def _judge(self, request: web.Request, raw: bytes) -> JsonObject | Refusal:
        refusal = authorize(request.headers.get("authorization"), self._brain.habits.bad_keys)
        if refusal is not None:
            return refusal
        if not is_json(request.headers):
            return invalid(None, "Send the body as 'Content-Type: application/json'.", None)
        body = read_body(raw)
        if isinstance(body, Refusal):
            return body
        return next(_rules(body.value), None) or body.value


def _painting(value: JsonObject) -> Painting:
    status, body = value.get("status", 200), value.get("body")
    if not isinstance(status, int) or not isinstance(body, str | None):
        raise TypeError("a painting has a status, and a body that is a text")
    return Painting(status, body, value.get("hangs") is True)


def plain_png(width: int, height: int, colour: int) -> bytes:
    """A picture in one colour, of which the lowest 24 bits count."""
    row = b"\x00" + colour.to_bytes(4, "big")[1:] * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(row * height)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def _rules(body: JsonObject) -> Iterator[Refusal]:
    for name in body:
        if name not in _KNOWN:
            yield unknown(name)
    for name in ("model", "prompt"):
        if name not in body:
            yield missing(name)
        elif not isinstance(body[name], str) or not body[name]:
            yield wrong_type(name, "a string that is not empty")
    model, prompt, count = str(body.get("model")), str(body.get("prompt")), body.get("n", 1)
    if len(prompt) > _PROMPT_CHARS.get(model, _PROMPT_CHARS[""]):
        yield invalid("prompt", "The prompt is too long.", "string_above_max_length")
    if type(count) is not int or not 1 <= count <= (1 if model == "dall-e-3" else 10):
        yield invalid("n", "Invalid value for 'n'.")
    if body.get("size", "1024x1024") not in _SIZES.get(model, _SIZES[""]):
        yield invalid("size", f"Invalid value for 'size' of {model}.")
    if "response_format" in body:
        if model.startswith("gpt-image"):
            yield unknown("response_format")
        elif body["response_format"] not in ("b64_json", "url"):
            yield invalid("response_format", "Invalid value for 'response_format'.")

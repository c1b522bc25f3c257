"""A loopback provider that speaks the two protocols, plays a script, and keeps every body as it came."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

Protocol = Literal["openai", "anthropic"]


@dataclass(frozen=True)
class Say:
    """A whole answer: words in these pieces, then calls of tools, each a name with its arguments as JSON text."""

    pieces: Sequence[str] = ()
    calls: Sequence[tuple[str, str]] = ()
    finish: str | None = None
    thinking: str = ""
    id: str = "c"


@dataclass(frozen=True)
class Refuse:
    """An answer with a status, a JSON body and headers."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, then the end of the stream, or a torn connection."""

    chunks: Sequence[bytes]
    torn: bool = False


@dataclass(frozen=True)
class Hold:
    """Bytes, then nothing until the other side hangs up."""

    chunks: Sequence[bytes] = ()


Answer = Say | Refuse | Raw | Hold


class Provider:
    """Plays its script answer by answer; without one left it answers 500."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol: Protocol = protocol
        self.script: list[Answer] = []
        self.bodies: list[bytes] = []
        self.reached = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.address = ""
        self.on_request: Callable[[], None] = lambda: None

    def plays(self, *answers: Answer) -> None:
        """Append to the script."""
        self.script.extend(answers)

    def messages(self, index: int = -1) -> list[Any]:
        """The messages of a recorded request."""
        return json.loads(self.bodies[index])["messages"]

    def array(self, index: int) -> bytes:
        """The bytes of a recorded request's messages, without the closing bracket."""
        body = self.bodies[index].decode()
        start = body.index('"messages":') + len('"messages":')
        _, length = json.JSONDecoder().raw_decode(body[start:])
        return body[start : start + length - 1].encode()

    def frame(self, index: int) -> dict[str, Any]:
        """What else stood in a recorded request."""
        body = json.loads(self.bodies[index])
        del body["messages"]
        return body

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        self.on_request()
        answer = self.script.pop(0) if self.script else Refuse(500, {"error": {"message": "no script"}})
        if isinstance(answer, Refuse):
            return web.json_response(answer.body, status=answer.status, headers=answer.headers)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        chunks = self._spoken(answer) if isinstance(answer, Say) else answer.chunks
        for chunk in chunks:
            await stream.write(chunk)
        if isinstance(answer, Hold):
            await self._until_hung_up()
        if isinstance(answer, Raw) and answer.torn and request.transport is not None:
            request.transport.abort()
        return stream

    async def _until_hung_up(self) -> None:
        self.reached.set()
        try:
            # The server cancels a handler whose client is gone.
            await asyncio.Event().wait()
        finally:
            self.hung_up.set()

    def _spoken(self, answer: Say) -> list[bytes]:
        return openai_stream(answer) if self.protocol == "openai" else anthropic_stream(answer)


def openai_chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return f"data: {json.dumps(body)}\n\n".encode()


def openai_stream(answer: Say) -> list[bytes]:
    chunks = [openai_chunk({"role": "assistant", "content": ""})]
    if answer.thinking:
        chunks.append(openai_chunk({"reasoning_content": answer.thinking}))
    chunks += [openai_chunk({"content": piece}) for piece in answer.pieces]
    for index, (name, arguments) in enumerate(answer.calls):
        function = {"name": name, "arguments": arguments}
        call = {"index": index, "id": f"{answer.id}{index}", "type": "function", "function": function}
        chunks.append(openai_chunk({"tool_calls": [call]}))
    chunks.append(openai_chunk({}, answer.finish or ("tool_calls" if answer.calls else "stop")))
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "total_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 5},
    }
    return [*chunks, openai_chunk(None, usage=usage), b"data: [DONE]\n\n"]


def anthropic_event(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def anthropic_start() -> bytes:
    usage = {"input_tokens": 2, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "r",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    return anthropic_event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})


def anthropic_block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[bytes]:
    return [
        anthropic_event("content_block_start", index=index, content_block=block),
        *(anthropic_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        anthropic_event("content_block_stop", index=index),
    ]


def anthropic_end(reason: str) -> list[bytes]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [anthropic_event("message_delta", delta=delta, usage={"output_tokens": 3}), anthropic_event("message_stop")]


def anthropic_stream(answer: Say) -> list[bytes]:
    blocks: list[list[bytes]] = []
    if answer.thinking:
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        thought = {"type": "thinking_delta", "thinking": answer.thinking}
        blocks.append(anthropic_block(0, empty, thought, {"type": "signature_delta", "signature": "c2ln"}))
    if answer.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in answer.pieces]
        blocks.append(anthropic_block(len(blocks), {"type": "text", "text": ""}, *deltas))
    for number, (name, arguments) in enumerate(answer.calls):
        block: dict[str, Any] = {"type": "tool_use", "id": f"{answer.id}{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
        blocks.append(anthropic_block(len(blocks), block, delta))
    end = anthropic_end(answer.finish or ("tool_use" if answer.calls else "end_turn"))
    return [anthropic_start(), *(event for block in blocks for event in block), *end]


@asynccontextmanager
async def serving(protocol: Protocol) -> AsyncGenerator[Provider]:
    """A provider on a free port of this machine."""
    provider = Provider(protocol)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    path = "/chat/completions" if protocol == "openai" else "/v1/messages"
    app.router.add_post(path, provider.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    provider.address = f"http://{host}:{port}"
    try:
        yield provider
    finally:
        await runner.cleanup()

"""Anthropic's two ways of answering: a stream of events, and one message."""

import json
from collections.abc import Callable
from typing import cast

from clankie_stage.provider.anthropic_errors import error_body, refusal_of
from clankie_stage.provider.anthropic_events import REASONS, Envelope, citation, delta_event, event, search_blocks
from clankie_stage.provider.anthropic_thoughts import signature
from clankie_stage.provider.beats import Call, Fail, FinishReason, Search
from clankie_stage.provider.chunks import dumps
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.shapes import JsonObject, mapping
from clankie_stage.provider.sink import Sink
from clankie_stage.provider.usage import Meter


async def answer_error(sink: Sink, refusal: Refusal, request_id: str) -> None:
    """Send an error as the HTTP answer."""
    headers = {**refusal.headers, "content-type": "application/json", "request-id": request_id}
    await sink.open(refusal.status, headers)
    await sink.write(dumps(error_body(refusal, request_id)))
    await sink.close()


class EventVoice:
    """An Anthropic answer as server-sent events."""

    def __init__(self, sink: Sink, envelope: Envelope, meter: Meter, new_id: Callable[[str], str]) -> None:
        self._sink = sink
        self._envelope = envelope
        self._meter = meter
        self._new_id = new_id
        self._request_id = new_id("req")
        self._index = -1
        self._kind = ""
        self._thought = ""
        self._explanation: str | None = None
        self._cited: tuple[tuple[str, str], ...] = ()
        self._began = False

    async def open(self) -> None:
        """Send status and headers."""
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self._sink.open(200, {**headers, "request-id": self._request_id})

    async def say(self, text: str) -> None:
        """A delta of a text block."""
        self._meter.spoke(text)
        await self._block("text", {"type": "text", "text": ""})
        cited, self._cited = self._cited, ()
        for title, url in cited:
            await self._delta({"type": "citations_delta", "citation": citation(title, url)})
        await self._delta({"type": "text_delta", "text": text})

    async def think(self, text: str) -> None:
        """A delta of a thinking block, which is signed when it ends."""
        self._meter.mused(text)
        await self._block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        self._thought += text
        await self._delta({"type": "thinking_delta", "thinking": text})

    async def decline(self, text: str) -> None:
        """Keep the words of a refusal, which come with the stop reason."""
        self._meter.spoke(text)
        self._explanation = (self._explanation or "") + text

    async def call(self, call: Call) -> None:
        """A block of a tool call: its head, then the input piece by piece."""
        self._meter.spoke(call.name + "".join(call.pieces))
        await self._stop_block()
        head: JsonObject = {"type": "tool_use", "id": self._new_id("toolu"), "name": call.name, "input": {}}
        await self._block("tool_use", head)
        for piece in ("", *call.pieces):
            await self._delta({"type": "input_json_delta", "partial_json": piece})

    async def search(self, search: Search) -> None:
        """A block of the search and one of what it found, which the next words cite."""
        call, found = search_blocks(search, self._new_id("srvtoolu"))
        await self._stop_block()
        await self._block("server_tool_use", {**call, "input": {}})
        await self._delta({"type": "input_json_delta", "partial_json": json.dumps(call["input"])})
        await self._stop_block()
        await self._block("web_search_tool_result", found)
        await self._stop_block()
        self._cited = search.pages

    async def ping(self) -> None:
        """A ping event."""
        await self.open()
        await self._sink.write(event({"type": "ping"}))

    async def fail(self, fail: Fail) -> None:
        """An HTTP error, or an error event when the stream is open."""
        refusal = refusal_of(fail)
        if self._sink.response is None:
            await answer_error(self._sink, refusal, self._request_id)
            return
        await self._sink.write(event(error_body(refusal, self._request_id)))
        await self._sink.close()

    async def finish(self, reason: FinishReason) -> None:
        """The end of the last block, the stop reason with the usage, and the end of the message."""
        await self._begin()
        await self._stop_block()
        said = "refusal" if self._explanation is not None else REASONS[reason]
        await self._send(delta_event(said, self._explanation, self._meter.read(self._envelope.prompt)))
        await self._send({"type": "message_stop"})
        await self._sink.close()

    async def end(self) -> None:
        """End of the response, and no terminal event."""
        await self.open()
        await self._sink.close()

    async def _begin(self) -> None:
        if not self._began:
            self._began = True
            await self._send(self._envelope.start())

    async def _block(self, kind: str, head: JsonObject) -> None:
        """Begin a block of this kind, unless one is open."""
        await self._begin()
        if self._kind == kind:
            return
        await self._stop_block()
        self._index, self._kind, self._thought = self._index + 1, kind, ""
        await self._send({"type": "content_block_start", "index": self._index, "content_block": head})
        if self._index == 0:
            await self._send({"type": "ping"})

    async def _stop_block(self) -> None:
        if not self._kind:
            return
        if self._kind == "thinking":
            await self._delta({"type": "signature_delta", "signature": signature(self._thought)})
        await self._send({"type": "content_block_stop", "index": self._index})
        self._kind = ""

    async def _delta(self, delta: JsonObject) -> None:
        await self._send({"type": "content_block_delta", "index": self._index, "delta": delta})

    async def _send(self, value: JsonObject) -> None:
        await self.open()
        await self._sink.write(event(value))


class MessageVoice:
    """An Anthropic answer as one JSON object."""

    def __init__(self, sink: Sink, envelope: Envelope, meter: Meter, new_id: Callable[[str], str]) -> None:
        self._sink = sink
        self._envelope = envelope
        self._meter = meter
        self._new_id = new_id
        self._request_id = new_id("req")
        self._blocks: list[JsonObject] = []
        self._explanation: str | None = None

    async def open(self) -> None:
        """Send status and headers."""
        await self._sink.open(200, {"content-type": "application/json", "request-id": self._request_id})

    async def say(self, text: str) -> None:
        """Add to a text block."""
        self._meter.spoke(text)
        self._grow("text", text)

    async def think(self, text: str) -> None:
        """Add to a thinking block."""
        self._meter.mused(text)
        self._grow("thinking", text)

    async def decline(self, text: str) -> None:
        """Add words of a refusal."""
        self._meter.spoke(text)
        self._explanation = (self._explanation or "") + text

    async def call(self, call: Call) -> None:
        """Add a tool call; arguments that are no JSON object become an empty one, as this form holds no other."""
        arguments = "".join(call.pieces)
        self._meter.spoke(call.name + arguments)
        try:
            given = mapping(cast("object", json.loads(arguments))) or {}
        except ValueError:
            given = {}
        self._blocks.append({"type": "tool_use", "id": self._new_id("toolu"), "name": call.name, "input": given})

    async def search(self, search: Search) -> None:
        """Add a search and what it found."""
        self._blocks.extend(search_blocks(search, self._new_id("srvtoolu")))

    async def ping(self) -> None:
        """White space before the JSON, which is all that this form allows."""
        await self.open()
        await self._sink.write(b"\n")

    async def fail(self, fail: Fail) -> None:
        """An HTTP error; after the headers, only its body."""
        await answer_error(self._sink, refusal_of(fail), self._request_id)

    async def finish(self, reason: FinishReason) -> None:
        """Send the whole message."""
        said = "refusal" if self._explanation is not None else REASONS[reason]
        usage = self._meter.read(self._envelope.prompt)
        await self.open()
        await self._sink.write(dumps(self._envelope.message(self._signed(), said, self._explanation, usage)))
        await self._sink.close()

    async def end(self) -> None:
        """An empty body: this form has no unterminated answer."""
        await self.open()
        await self._sink.close()

    def _grow(self, kind: str, text: str) -> None:
        if not self._blocks or self._blocks[-1]["type"] != kind:
            self._blocks.append({"type": kind, kind: ""})
        self._blocks[-1][kind] = str(self._blocks[-1][kind]) + text

    def _signed(self) -> list[JsonObject]:
        return [
            {**block, "signature": signature(str(block["thinking"]))} if block["type"] == "thinking" else block
            for block in self._blocks
        ]

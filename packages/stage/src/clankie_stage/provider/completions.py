"""OpenAI's two ways of answering: a stream of chunks, and one object."""

from collections.abc import Callable

from clankie_stage.provider.beats import Call, Fail, FinishReason, Search
from clankie_stage.provider.chunks import DONE, Stamp, call_head, dumps, event
from clankie_stage.provider.shapes import JsonObject
from clankie_stage.provider.sink import HEADERS, Sink, answer_refusal, refusal_of
from clankie_stage.provider.usage import Meter, Prompt


class Streaming:
    """An OpenAI answer as server-sent events."""

    def __init__(self, sink: Sink, stamp: Stamp, meter: Meter, prompt: Prompt, new_id: Callable[[], str]) -> None:
        self._sink = sink
        self._stamp = stamp
        self._meter = meter
        self._prompt = prompt
        self._new_id = new_id
        self._calls = 0
        self._began = False

    async def open(self) -> None:
        """Send status and headers."""
        await self._sink.open(200, {**HEADERS, "content-type": "text/event-stream; charset=utf-8"})

    async def say(self, text: str) -> None:
        """A content delta."""
        self._meter.spoke(text)
        await self._delta({"content": text})

    async def think(self, text: str) -> None:
        """A delta of the field that compatible servers use for visible reasoning."""
        self._meter.mused(text)
        await self._delta({"reasoning_content": text})

    async def decline(self, text: str) -> None:
        """A refusal delta."""
        self._meter.spoke(text)
        await self._delta({"refusal": text})

    async def call(self, call: Call) -> None:
        """A tool call: its head, then the arguments piece by piece."""
        index, self._calls = self._calls, self._calls + 1
        self._meter.spoke(call.name + "".join(call.pieces))
        await self._delta({"tool_calls": [call_head(index, self._new_id(), call.name)]}, None)
        for piece in call.pieces:
            part: JsonObject = {"index": index, "function": {"arguments": piece}}
            await self._delta({"tool_calls": [part]})

    async def search(self, search: Search) -> None:
        """Nothing: this protocol knows no search of the provider's own."""

    async def ping(self) -> None:
        """A comment line."""
        await self.open()
        await self._sink.write(b": keep-alive\n\n")

    async def fail(self, fail: Fail) -> None:
        """An HTTP error, or an error event when the stream is open."""
        if self._sink.response is None:
            await answer_refusal(self._sink, refusal_of(fail))
            return
        await self._sink.write(event(refusal_of(fail).body()))
        await self._sink.close()

    async def finish(self, reason: FinishReason) -> None:
        """The chunk with the finish reason, the usage chunk where asked for, and ``[DONE]``."""
        await self._begin("")
        await self._send(self._stamp.chunk({}, reason))
        if self._stamp.include_usage:
            await self._send(self._stamp.usage_chunk(self._meter.read(self._prompt)))
        await self._sink.write(DONE)
        await self._sink.close()

    async def end(self) -> None:
        """End of the response, and no terminal event."""
        await self.open()
        await self._sink.close()

    async def _delta(self, delta: JsonObject, content: str | None = "") -> None:
        await self._begin(content)
        await self._send(self._stamp.chunk(delta))

    async def _begin(self, content: str | None) -> None:
        """The role chunk, once; its content is null when a tool call comes first."""
        if not self._began:
            self._began = True
            await self._send(self._stamp.chunk({"role": "assistant", "content": content, "refusal": None}))

    async def _send(self, value: JsonObject) -> None:
        await self.open()
        await self._sink.write(event(value))


class Whole:
    """An OpenAI answer as one JSON object."""

    def __init__(self, sink: Sink, stamp: Stamp, meter: Meter, prompt: Prompt, new_id: Callable[[], str]) -> None:
        self._sink = sink
        self._stamp = stamp
        self._meter = meter
        self._prompt = prompt
        self._new_id = new_id
        self._texts: dict[str, str] = {}
        self._calls: list[JsonObject] = []

    async def open(self) -> None:
        """Send status and headers."""
        await self._sink.open(200, {**HEADERS, "content-type": "application/json"})

    async def say(self, text: str) -> None:
        """Add content."""
        self._meter.spoke(text)
        self._texts["content"] = self._texts.get("content", "") + text

    async def think(self, text: str) -> None:
        """Add visible reasoning."""
        self._meter.mused(text)
        self._texts["reasoning_content"] = self._texts.get("reasoning_content", "") + text

    async def decline(self, text: str) -> None:
        """Add words of a refusal."""
        self._meter.spoke(text)
        self._texts["refusal"] = self._texts.get("refusal", "") + text

    async def call(self, call: Call) -> None:
        """Add a tool call."""
        arguments = "".join(call.pieces)
        self._meter.spoke(call.name + arguments)
        function: JsonObject = {"name": call.name, "arguments": arguments}
        self._calls.append({"id": self._new_id(), "type": "function", "function": function})

    async def search(self, search: Search) -> None:
        """Nothing: this protocol knows no search of the provider's own."""

    async def ping(self) -> None:
        """White space before the JSON, which is all that this form allows."""
        await self.open()
        await self._sink.write(b"\n")

    async def fail(self, fail: Fail) -> None:
        """An HTTP error; after the headers, only its body."""
        await answer_refusal(self._sink, refusal_of(fail))

    async def finish(self, reason: FinishReason) -> None:
        """Send the whole answer."""
        message: JsonObject = {"role": "assistant", "content": None, "refusal": None, **self._texts}
        if self._calls:
            message["tool_calls"] = self._calls
        await self.open()
        await self._sink.write(dumps(self._stamp.completion(message, reason, self._meter.read(self._prompt))))
        await self._sink.close()

    async def end(self) -> None:
        """An empty body: this form has no unterminated answer."""
        await self.open()
        await self._sink.close()

"""One try of a run at the model: what is sent, what was recorded, and how far it got."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)

from clankie_captain.agent import history, pictures
from clankie_captain.agent.failures import check
from clankie_captain.agent.scrubbing import scrub
from clankie_captain.agent.tether import Tether
from clankie_captain.agent.transcript import Transcript
from clankie_captain.agent.validity import answered_call, clean_request, clean_response, with_distinct_calls
from clankie_captain.core.cleaning import cleaned
from clankie_captain.core.reply import names
from clankie_captain.core.run import Usage


class Stretch:
    """What the library's run carries along as its dependencies; tools reach the lane through ``line``.

    ``opening`` is the first request, as long as it was not sent. ``silent`` is true from the start of a request until
    the model's first token: only then can the request be made again. ``tools`` names those that are offered.
    """

    def __init__(
        self, transcript: Transcript, line: Tether, opening: ModelRequest | None, tools: Collection[str] = ()
    ) -> None:
        self.transcript = transcript
        self.line = line
        self.opening = opening
        self.silent = True
        self._tools = tools
        self._requests = 0

    async def sending(self, latest: ModelMessage) -> list[ModelMessage]:
        """Record what the transcript lacks of a request, and give all that is to be sent. Source: LANE-13, DUR-1."""
        self._requests += 1
        self.silent = True
        # The library's run knows nothing of the past: its first request only stands in for ours.
        request = self.opening if self._requests == 1 else latest
        if isinstance(request, ModelRequest) and (clean := clean_request(request)) is not None:
            await self._record(clean)
        self.opening = None
        if gone := pictures.too_many(self.transcript.messages):
            await self.unsee(gone)
        self.line.requesting()
        return await pictures.filled(self.transcript.messages, self.line.picture)

    async def unsee(self, gone: Sequence[str]) -> None:
        """Let words stand where pictures stood, here and in the lane. Source: LANE-14."""
        await self.line.unsee(gone)
        self.transcript.unsee(gone)

    async def answered(self, response: ModelResponse) -> None:
        """Take a response that has come to its end: count it, judge it, record it, and leave in it what was recorded.

        Raises:
            UnusableResponseError: It is not whole, or no answer; it leaves no trace in the history.
        """
        spent = response.usage
        self.line.spent(
            Usage(
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cached_tokens=spent.cache_read_tokens,
                requests=1,
                tool_calls=len(response.tool_calls),
            )
        )
        check(response)
        self.silent = False
        clean = clean_response(response)
        if clean is not None:
            clean = without_echoes(clean, self._tools)
        if clean is None and (files := self.transcript.made):
            # They go out by their names, and so his side of the talk holds that they did.
            clean = ModelResponse([TextPart(names(files))], usage=spent, model_name=response.model_name)
        if clean is not None:
            clean = with_distinct_calls(clean, self.transcript.call_ids)
            await self._record(clean)
            # What runs is what was recorded: the arguments of its calls hold no broken characters either.
            response.parts = clean.parts

    def happened(self, event: AgentStreamEvent) -> None:
        """Tell the lane about an event, words apart from the rest. Source: FAIL-3, ROOM-2."""
        self.silent = False
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self.line.wrote(scrub(text))
            case FunctionToolCallEvent(part=call):
                self.line.tool(scrub(call.tool_name), "started")
            case FunctionToolResultEvent(part=result):
                self.line.tool(scrub(result.tool_name or ""), "ended")
            case _:
                self.line.event()

    async def ended(self, result: ModelRequestPart) -> None:
        """Keep the result of a tool that has ended: should the captain die now, it is not run again. Source: DUR-2."""
        call = answered_call(result)
        kept = clean_request(ModelRequest([result]))
        if call is not None and kept is not None:
            await self.line.finish(call, history.draft(kept).payload)

    async def _record(self, message: ModelMessage) -> None:
        draft = history.draft(message)
        await self.line.record([draft])
        self.transcript.add(draft)


def without_echoes(response: ModelResponse, tools: Collection[str]) -> ModelResponse | None:
    """An answer with the words that leave, so that no echo of ours is shown as his own; None where none are left.

    Thoughts, searches and the order of the parts stay. A response that calls is never posted, and stays whole.

    Source: ROOM-7, C27.
    """
    words = said(response)
    if response.tool_calls or words is None or (left := cleaned(words, tools)) == words.strip():
        return response
    # Several parts are one text to whoever reads them, and an echo may go over their borders.
    last = [part for part in response.parts if isinstance(part, TextPart)][-1]
    parts = [
        replace(part, content=left) if part is last else part
        for part in response.parts
        if part is last or not isinstance(part, TextPart)
    ]
    return replace(response, parts=parts) if left else None


def said(response: ModelResponse) -> str | None:
    """The words of a response, None where it has none. Source: LANE-15."""
    return scrub("".join(part.content for part in response.parts if isinstance(part, TextPart))) or None

"""One chat completion over HTTP: read, judge, answer, record."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta

from aiohttp import web

from clankie_stage.provider.beats import Step
from clankie_stage.provider.brain import Brain
from clankie_stage.provider.chunks import Stamp
from clankie_stage.provider.completions import Streaming, Whole
from clankie_stage.provider.playing import Player
from clankie_stage.provider.records import State
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.rules import Request, authorize, check, too_large
from clankie_stage.provider.sink import ConnectionCutError, Sink, answer_refusal
from clankie_stage.provider.usage import Meter
from clankie_stage.provider.voices import Voice

_LOOK = timedelta(milliseconds=50)
"""How often a held connection is looked at: aiohttp tells a handler nothing of a hang-up."""
_TOO_LARGE = b""


class Completions:
    """Serves ``POST /v1/chat/completions``."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request as the script, or the rehearsal model, will have it."""
        brain = self._brain
        raw = await self._read(request)
        index = brain.recorder.add(raw or b"", brain.clock.now(), brain.now())
        judged = self._judge(request, raw)
        sink = Sink(request, None, lambda: brain.recorder.first_byte(index, brain.now()))
        if isinstance(judged, Refusal):
            brain.recorder.refused(index, judged, brain.now())
            await answer_refusal(sink, judged)
            return sink.response or web.Response()
        cached = brain.cached(judged)
        step = brain.take(judged)
        brain.recorder.taken(index, step.label, judged.prompt_tokens, cached)
        sink = Sink(request, step.cut_after, lambda: brain.recorder.first_byte(index, brain.now()))
        state = await self._answer(request, step, self._voice(judged, sink, cached))
        brain.recorder.ended(index, state, brain.now())
        if state != "finished" and request.transport is not None:
            request.transport.abort()
        return sink.response or web.Response()

    async def _read(self, request: web.Request) -> bytes | None:
        """The whole body, or None when it is longer than the limit; the rest is then read and forgotten."""
        limit, chunks, size = self._brain.habits.limits.body_bytes, list[bytes](), 0
        async for chunk in request.content.iter_any():
            size += len(chunk)
            if size <= limit:
                chunks.append(chunk)
        return b"".join(chunks) if size <= limit else None

    def _judge(self, request: web.Request, raw: bytes | None) -> Request | Refusal:
        habits = self._brain.habits
        refusal = authorize(request.headers.get("authorization"), habits.bad_keys)
        if refusal is not None:
            return refusal
        if request.content_type != "application/json":
            return invalid(None, "Send the body as 'Content-Type: application/json'.", None)
        return too_large(habits.limits) if raw is None else check(raw, habits.limits)

    def _voice(self, request: Request, sink: Sink, cached: int) -> Voice:
        brain = self._brain
        stamp = Stamp(
            completion_id="chatcmpl-" + brain.ids.new("stage"),
            created=int(brain.clock.now().timestamp()),
            model=request.model,
            include_usage=request.include_usage,
        )
        kind = Streaming if request.stream else Whole
        return kind(sink, stamp, Meter(), (request.prompt_tokens, cached), lambda: brain.ids.new("call"))

    async def _answer(self, request: web.Request, step: Step, voice: Voice) -> State:
        player = Player(self._brain.barriers, self._brain.clock, self._brain.habits.pace)
        return await _first(_played(player, step, voice), self._left(request), self._dropped())

    async def _left(self, request: web.Request) -> State:
        while request.transport is not None and not request.transport.is_closing():
            await self._brain.clock.sleep(_LOOK)
        return "hung_up"

    async def _dropped(self) -> State:
        await self._brain.dropped()
        return "dropped"


async def _played(player: Player, step: Step, voice: Voice) -> State:
    try:
        await player.play(step, voice)
    except ConnectionCutError:
        return "cut"
    except ConnectionError:
        return "hung_up"
    return "finished"


async def _first(*ways: Coroutine[None, None, State]) -> State:
    """How the answer ended; the first coroutine wins over the later ones, and all are over on return."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

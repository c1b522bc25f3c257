"""One model request over HTTP: read, judge, answer, record."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta

from aiohttp import web

from clankie_stage.provider.beats import Step
from clankie_stage.provider.brain import Brain
from clankie_stage.provider.dialects import Dialect
from clankie_stage.provider.playing import Player
from clankie_stage.provider.records import State
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.sink import ConnectionCutError, Sink
from clankie_stage.provider.voices import Voice

_LOOK = timedelta(milliseconds=50)
"""How often a held connection is looked at: aiohttp tells a handler nothing of a hang-up."""


class Serving:
    """Serves the requests of one wire shape."""

    def __init__(self, brain: Brain, dialect: Dialect) -> None:
        self._brain = brain
        self._dialect = dialect

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request as the script, or the rehearsal model, will have it."""
        brain = self._brain
        raw = await self._read(request)
        index = brain.recorder.add(raw or b"", brain.clock.now(), brain.now())
        judged = self._dialect.judge(request.headers, raw, brain.habits)
        sink = Sink(request, None, lambda: brain.recorder.first_byte(index, brain.now()))
        if isinstance(judged, Refusal):
            brain.recorder.refused(index, judged, brain.now())
            await self._dialect.refuse(sink, judged, brain.ids)
            return sink.response or web.Response()
        prompt = brain.prompt(judged)
        step = brain.take(judged)
        brain.recorder.taken(index, step.label, prompt.size, prompt.cached)
        sink = Sink(request, step.cut_after, lambda: brain.recorder.first_byte(index, brain.now()))
        voice = self._dialect.voice(judged, sink, prompt, brain.clock, brain.ids)
        state = await self._answer(request, step, voice)
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

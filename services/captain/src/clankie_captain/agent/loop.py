"""A run of the model with its tools: one order in, one finish out."""

import types
from collections.abc import AsyncIterable, Awaitable, Callable, Generator, Sequence
from typing import Any, Final

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.capabilities import Caching
from pydantic_ai.messages import AgentStreamEvent, FunctionToolResultEvent, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun

from clankie_captain.agent import notes, pictures
from clankie_captain.agent.failures import failure_code, provider_words
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.rescue import Rescue
from clankie_captain.agent.resuming import known_results
from clankie_captain.agent.standby import Standby
from clankie_captain.agent.stretch import Stretch, said
from clankie_captain.agent.tether import Tether
from clankie_captain.agent.tools import toolset
from clankie_captain.agent.tracing import Tracing
from clankie_captain.agent.transcript import Transcript
from clankie_captain.agent.transcript_model import TranscriptModel
from clankie_captain.core.compaction import Digest
from clankie_captain.core.run import Answered, Broken, Finish, Order
from clankie_captain.ports import Loop, RunLine, Searcher, Vitals
from clankie_settings.clock import Clock
from clankie_settings.wire.failure import FailureCode

MISTAKEN_CALLS: Final = 8
"""How often in one run a model may get the same tool's arguments wrong before the run fails. Source: FAIL-4."""

EVENTS_A_BREATH: Final = 32
"""After so many events the other tasks get their turn, however fast a provider sends. Source: OPS-8."""

_STAND_IN: Final = "the lane's transcript is sent instead of this"


async def _nothing_to_close() -> None: ...


class PydanticLoop(Loop):
    """The loop port on pydantic-ai: one agent for all lanes, one run of it for each try.

    ``models`` are asked in their order; see ``Rescue`` for when the next one is, and ``Standby`` for one that is dead.

    A try that failed before the model's first token is made again from the transcript, so retries, a cut history and a
    captain that was restarted are the same thing.
    """

    def __init__(
        self,
        models: Sequence[Model],
        clock: Clock,
        pulse: Pulse,
        close: Callable[[], Awaitable[None]] = _nothing_to_close,
        tracing: Tracing | None = None,
        searcher: Searcher | None = None,
    ) -> None:
        self._searcher = searcher
        self._tracing = tracing
        self._clock = clock
        self._pulse = pulse
        self._close = close
        self._models = [TranscriptModel(model) for model in models]
        self._standby = Standby(len(self._models), clock)
        self._agent: Agent[Stretch, str | None] = Agent(
            self._models[0],
            deps_type=Stretch,
            output_type=[str, types.NoneType],
            retries={"tools": MISTAKEN_CALLS},
            capabilities=[Caching(), *([] if tracing is None else [tracing.capability])],
            name="clankie",
        )

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        await self._close()
        if self._searcher is not None:
            await self._searcher.aclose()
        if self._tracing is not None:
            await self._tracing.aclose()

    @property
    def window(self) -> int | None:
        """The first model's context window in tokens, where it is known."""
        return self._models[0].context_window

    @property
    def searcher(self) -> Searcher | None:
        """The search of the first provider that has one."""
        return self._searcher

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        """Notes on a lane's older talk, as the payload of the entry that holds them. Source: CTX-7."""
        with self._pulse.heard_by(vitals.received):
            return await notes.write([self._models[place].wrapped for place in self._standby.order], digest, vitals)

    async def think(self, order: Order, line: RunLine) -> Finish:
        """Run until the model's last response, or until it cannot go on. Source: LANE-3, LANE-15, FAIL-4.

        Raises:
            FencedError: The line refused.
            asyncio.CancelledError: The run was aborted; the provider's stream is closed.
        """
        tether = Tether(line)
        try:
            with self._pulse.heard_by(tether.received):
                finish = await self._think(order, tether)
        except Exception as error:  # noqa: BLE001  # whatever it is, it ends this run and no other
            finish = Broken(failure_code(error), type(error).__name__, provider_words(error))
        # Raised inside somebody else's code it may come out as anything at all.
        if tether.fence is not None:
            raise tether.fence
        return finish

    async def _think(self, order: Order, line: Tether) -> Finish:
        transcript = Transcript(order)
        if not order.words and (answer := transcript.own_answer) is not None:
            # An earlier captain died between this answer and its settlement; asking again would cost, and might differ.
            # Whether anything was steered meanwhile, the settlement finds out. Source: LANE-9.
            return Answered(said(answer), transcript.made)
        known = await known_results(transcript.open_calls, line)
        opening = transcript.opening([*order.words, *await line.boundary()], known)
        if opening is None and not transcript.unanswered:
            return Broken(FailureCode.CAPTAIN_INTERNAL_ERROR, "NothingToAnswer")
        rescue = Rescue(order, transcript, line, self._clock, self._standby)
        while True:
            stretch = Stretch(transcript, line, opening, order.tools)
            try:
                text = await self._run(order, stretch, self._models[rescue.model])
            except Exception as error:
                if line.fence is not None or not await rescue.helped(error, stretch):
                    raise
            else:
                return Answered(text, transcript.made)
            opening = stretch.opening

    async def _run(self, order: Order, stretch: Stretch, model: Model) -> str | None:
        response: ModelResponse | None = None
        async with self._agent.iter(
            _STAND_IN,
            model=model,
            deps=stretch,
            instructions=order.instructions,
            toolsets=[toolset(order.tools, order.served)],
            usage_limits=UsageLimits(request_limit=None),
        ) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    if response is not None:
                        await self._take_steered(run, stretch.line)
                    async with node.stream(run.ctx) as events:
                        await _follow(events, stretch)
                elif Agent.is_call_tools_node(node):
                    response = node.model_response
                    await stretch.answered(response)
                    async with node.stream(run.ctx) as events:
                        await _follow(events, stretch)
        return None if response is None else said(response)

    async def _take_steered(self, run: AgentRun[Stretch, Any], line: Tether) -> None:
        # Queued before the request opens, the words become part of it, behind the results of the tools. Source: LANE-3.
        for words in await line.boundary():
            content = pictures.prompt(words)
            run.enqueue(*([content] if isinstance(content, str) else content))


async def _follow(events: AsyncIterable[AgentStreamEvent], stretch: Stretch) -> None:
    count = 0
    async for event in events:
        stretch.happened(event)
        if isinstance(event, FunctionToolResultEvent):
            await stretch.ended(event.part)
        count += 1
        if count % EVENTS_A_BREATH == 0:
            await _breathe()


@types.coroutine
def _breathe() -> Generator[None]:
    yield

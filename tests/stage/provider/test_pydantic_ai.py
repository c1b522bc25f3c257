"""The captain's own loop library talks to the provider as to a real one."""

from itertools import pairwise

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from clankie_stage.provider import steps
from clankie_stage.provider.beats import Step
from clankie_stage.provider.records import extends
from clankie_stage.provider.server import Provider
from tests.stage.provider.samples import png


@pytest.fixture
def agent(openai: AsyncOpenAI) -> Agent[None, str]:
    model = OpenAIChatModel("rehearsal", provider=OpenAIProvider(openai_client=openai))
    loop = Agent(model, instructions="Be kind.")

    @loop.tool_plain
    def look(what: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Look something up."""
        return f"{what}: white"

    return loop


async def streamed(agent: Agent[None, str], prompt: str = "hi") -> str:
    async with agent.iter(prompt) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for _ in stream:
                        pass
    assert run.result is not None
    return run.result.output


async def test_a_run_with_parallel_tools_streams_to_its_answer(provider: Provider, agent: Agent[None, str]) -> None:
    provider.brain.script(
        steps.calls(steps.call("look", {"what": "snow"}), steps.call("look", {"what": "milk"}), before="Wait."),
        steps.text("Both ", "are white."),
    )
    assert await streamed(agent) == "Both are white."
    first, second = await provider.brain.wait_ended(2)
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [message["content"] for message in second.messages[3:]] == ["snow: white", "milk: white"]
    assert extends(first, second)


async def test_turns_without_a_stream_extend_one_history_and_count_their_usage(
    provider: Provider, agent: Agent[None, str]
) -> None:
    provider.brain.script(steps.calls(steps.call("look", {"what": "snow"})), steps.text("White."), steps.text("Yes."))
    first = await agent.run("What colour is snow ☃?")
    second = await agent.run("Sure?", message_history=first.all_messages())
    records = await provider.brain.wait_ended(3)
    assert all(extends(earlier, later) for earlier, later in pairwise(records))
    assert second.usage.input_tokens == records[2].prompt_tokens
    assert second.usage.output_tokens > 0


async def test_a_picture_passes_with_its_real_type_and_not_with_another(
    provider: Provider, agent: Agent[None, str]
) -> None:
    provider.brain.script(steps.text("A pixel."))
    assert (await agent.run(["What is this?", BinaryContent(png(), media_type="image/png")])).output == "A pixel."
    with pytest.raises(ModelRequestRejectedError):
        await agent.run([BinaryContent(png(), media_type="image/webp")])


KINDS: dict[str, tuple[Step, type[Exception]]] = {
    "quota": (steps.failed(steps.quota_error()), ModelQuotaExceededError),
    "rate limit": (steps.failed(steps.rate_limit_error()), ModelRateLimitError),
    "500": (steps.failed(steps.server_error()), ModelServerError),
    "529": (steps.failed(steps.overloaded_error()), ModelOverloadedError),
    "503": (steps.failed(steps.overloaded_error(503)), ModelOverloadedError),
    "401": (steps.failed(steps.key_error()), ModelAuthenticationError),
    "overflow": (steps.failed(steps.overflow_error()), ModelContextWindowExceededError),
    "quota in the stream": (steps.broken_stream("a", error=steps.quota_error()), ModelQuotaExceededError),
    "overload in the stream": (steps.broken_stream("a"), ModelOverloadedError),
    "overflow in the stream": (steps.broken_stream(error=steps.overflow_error()), ModelContextWindowExceededError),
    "refusal": (steps.refusal(), ContentFilterError),
    "content filter": (steps.content_filter(), ContentFilterError),
}


@pytest.mark.parametrize(("step", "kind"), KINDS.values(), ids=KINDS.keys())
async def test_a_scripted_failure_is_classified_as_the_real_one(
    provider: Provider, agent: Agent[None, str], step: Step, kind: type[Exception]
) -> None:
    provider.brain.script(step)
    with pytest.raises(kind):
        await streamed(agent)


async def test_a_prompt_beyond_the_window_is_classified_as_an_overflow(
    provider: Provider, agent: Agent[None, str]
) -> None:
    with pytest.raises(ModelContextWindowExceededError):
        await agent.run("word " * 200_000)
    assert provider.brain.records()[0].state == "refused"

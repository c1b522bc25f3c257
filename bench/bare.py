"""What Clankie is measured against: one history list in memory. Lines in are ``[kept, [[words, ...], ...]]``."""

import asyncio
import json
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from clankie_settings.clock import SystemClock

now = SystemClock().elapsed
agent = Agent(OpenAIChatModel("bench", provider=OpenAIProvider(base_url=sys.argv[1], api_key="none")))
long = ModelMessagesTypeAdapter.validate_json(Path(sys.argv[2]).read_bytes())


async def lane(kept: bool, said: list[str]) -> list[tuple[str, float, float]]:
    timings: list[tuple[str, float, float]] = []
    for words in said:
        began, history = now(), long if kept else []
        async with agent.iter(words, message_history=history) as run:
            async for node in run:
                if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        [event async for event in events]
        history[:] = run.all_messages()
        timings.append((words, began.total_seconds(), now().total_seconds()))
    return timings


async def serve(kept: bool, lanes: list[list[str]]) -> list[list[tuple[str, float, float]]]:
    return await asyncio.gather(*(lane(kept, said) for said in lanes))


with asyncio.Runner() as runner:
    for line in sys.stdin:
        print(json.dumps(runner.run(serve(*json.loads(line)))), flush=True)

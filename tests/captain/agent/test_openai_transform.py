"""The shortcut sends the same bytes as the client's own walk."""

from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.resources.chat.completions import completions

from clankie_captain.agent.openai_chat import hold_reasoning_fields
from clankie_captain.agent.openai_transform import skip_message_walk
from tests.captain.agent.provider import Provider, Say

NAME = "async_maybe_transform"
PICTURE = {"type": "image_url", "image_url": {"url": "x"}}
MESSAGES: list[Any] = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": [{"type": "text", "text": "Grüße 👋"}, PICTURE]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
        "reasoning_content": "hm",
    },
    {"role": "tool", "tool_call_id": "c", "content": "(no output)"},
    {"role": "user", "content": "next"},
]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}}]


def current() -> Any:
    return getattr(completions, NAME)


async def test_bodies_are_equal_with_and_without_the_walk(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = current()
    while hasattr(walk, "__wrapped__"):
        walk = walk.__wrapped__
    monkeypatch.setattr(completions, NAME, walk)
    provider.plays(*[Say(["x"])] * 3)
    async with AsyncOpenAI(base_url=provider.address, api_key="k", max_retries=0) as client:

        async def ask() -> None:
            stream = await client.chat.completions.create(
                model="m",
                messages=MESSAGES,
                tools=TOOLS,
                stream=True,
                stream_options={"include_usage": True},
            )
            async for _ in stream:
                pass

        await ask()
        assert skip_message_walk()
        once = current()
        assert once is not walk
        await ask()
        assert skip_message_walk()
        assert current() is once
        await ask()
    assert provider.bodies[0] == provider.bodies[1] == provider.bodies[2]


def test_a_client_without_the_walk_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(completions, NAME)
    assert not skip_message_walk()
    assert not hasattr(completions, NAME)


@pytest.mark.requirement("LANE-13")
def test_reasoning_fields_depend_on_what_came_before_alone() -> None:
    call: dict[str, Any] = {"role": "assistant", "tool_calls": [{}]}
    whole: list[dict[str, Any]] = [
        {**call, "reasoning_content": ""},
        {"role": "assistant", "content": "x", "reasoning": "hm"},
        {"role": "user", "content": "y"},
        {**call},
        {**call, "reasoning": ""},
        {"role": "assistant", "content": "z"},
    ]
    hold_reasoning_fields(whole)
    assert [message.get("reasoning") for message in whole] == [None, "hm", None, "", "", None]
    assert "reasoning_content" not in whole[0]

"""Chat completions whose messages never change once they were sent."""

from collections.abc import Sequence
from typing import Any, Final, cast

from openai.types.chat import ChatCompletionMessageParam
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.settings import ModelSettings

_REASONING: Final = ("reasoning", "reasoning_content")


class SteadyCompletions(OpenAIChatModel):
    """The library's model, except for one habit.

    Some servers want a field for reasoning on each call of a tool once a model has reasoned. The library puts an empty
    one on calls after the last user message and takes it away again when another follows; here it stays.

    Source: LANE-13.
    """

    async def _map_messages(
        self,
        messages: Sequence[ModelMessage],
        model_request_parameters: ModelRequestParameters,
        *,
        model_settings: ModelSettings | None = None,
    ) -> list[ChatCompletionMessageParam]:
        mapped = await super()._map_messages(messages, model_request_parameters, model_settings=model_settings)
        hold_reasoning_fields(cast("list[dict[str, Any]]", mapped))
        return mapped


def hold_reasoning_fields(messages: Sequence[dict[str, Any]]) -> None:
    """Give each call of a tool the reasoning field, empty if need be, from the first reasoning on, and none before.

    What a message looks like depends on those before it alone.
    """
    learned: str | None = None
    for message in messages:
        if message["role"] != "assistant":
            continue
        held = next((name for name in _REASONING if message.get(name)), None)
        if held is not None:
            learned = held
            continue
        for name in _REASONING:
            message.pop(name, None)
        if learned is not None and message.get("tool_calls"):
            message[learned] = ""

"""The model as a run sees it: whatever the library has put together, the lane's transcript is what is sent."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from clankie_captain.agent.stretch import Stretch


class TranscriptModel(WrapperModel):
    """Records each request before it leaves, and sends the transcript: what is stored is what was sent.

    The library merges neighbouring requests before it sends them; sent as they were recorded, each request's messages
    begin with the bytes of the one before, on every provider and after a failure too. Source: LANE-13.
    """

    def prepare_messages(
        self, messages: list[ModelMessage], model_request_parameters: ModelRequestParameters | None = None
    ) -> list[ModelMessage]:
        """Leave them: what a provider's shape needs is added to the whole transcript, and is not recorded."""
        return messages

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Open a response to the transcript."""
        assert run_context is not None, "the loop always runs inside an agent"
        stretch: Stretch = run_context.deps
        sent = await stretch.sending(messages[-1])
        prepared = self.wrapped.prepare_messages([*sent], model_request_parameters)
        async with self.wrapped.request_stream(
            prepared, model_settings, model_request_parameters, run_context
        ) as stream:
            yield stream

"""What is known of the calls that an interrupted history ends in. Source: DUR-2."""

from collections.abc import Sequence
from typing import assert_never

from pydantic_ai.messages import ModelRequest, ModelRequestPart, ToolCallPart, ToolReturnPart

from clankie_captain.agent import history
from clankie_captain.agent.tools.send_text_update import told
from clankie_captain.agent.validity import answered_call
from clankie_captain.core.run import CallEnd, CallResult, UpdateOutcome
from clankie_captain.ports import RunLine


async def known_results(calls: Sequence[ToolCallPart], line: RunLine) -> dict[str, ModelRequestPart]:
    """The results of those calls that are known, by the calls' ids; no tool is run again for it.

    Raises:
        FencedError: The line refused.
    """
    known: dict[str, ModelRequestPart] = {}
    for call in calls:
        end = await line.finished(call.tool_call_id)
        result = None if end is None else _result(call, end)
        if result is not None:
            known[call.tool_call_id] = result
    return known


def _result(call: ToolCallPart, end: CallEnd) -> ModelRequestPart | None:
    match end:
        case UpdateOutcome():
            return ToolReturnPart(call.tool_name, told(end), call.tool_call_id)
        case CallResult(payload):
            kept = history.message(payload)
            parts = kept.parts if isinstance(kept, ModelRequest) else ()
            return next((part for part in parts if answered_call(part) == call.tool_call_id), None)
        case _:
            assert_never(end)

"""Long work moves to the background. Source: LOOP-6."""

from typing import Annotated, Final, assert_never

from pydantic import Field
from pydantic_ai import RunContext, Tool
from pydantic_ai.messages import ModelRequest, ToolCallPart, ToolReturnPart

from clankie_captain.agent import history
from clankie_captain.agent.scrubbing import is_blank, scrub
from clankie_captain.agent.stretch import Stretch
from clankie_captain.core.children import Calls, Forked, Unforked
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Move work to the background, where it goes on with everything that you know here, while the room can talk with "
    "you about other things. Use it for long work that would hold the room up: many steps, or many pages to read. "
    "Never use it for what you can answer now, nor to answer several people at once. What comes of it is given to you "
    "here later, and you tell the room then."
)
"""What the model reads about the tool."""

MOVED: Final = (
    "It goes on in the background now. Do not do it here as well. Tell the room in your reply that you are at it and "
    "will come back to it."
)
"""What the lane's own run reads of a fork."""

HERE: Final = "You are in the background now: this is where it is done."
"""What the child reads of the call that made it."""

ELSEWHERE: Final = "Done by the room's own turn; what came of it is not known here."
"""What the child reads of calls beside that one."""


async def fork(
    ctx: RunContext[Stretch], task: Annotated[str, Field(min_length=1, max_length=bounds.TASK_CHARS)]
) -> str:
    """Let work go on in the background, and say whether it does.

    Args:
        ctx: The run that calls.
        task: What is to be done, and what shall be told in the end; it says everything that matters.
    """
    words = scrub(task).strip()
    if is_blank(words):
        return "Not begun: the task is empty."
    outcome = await ctx.deps.line.fork(words, _calls(ctx))
    match outcome:
        case Forked():
            return MOVED
        case Unforked(reason):
            return f"Not begun: {reason}."
        case _:
            assert_never(outcome)


def _calls(ctx: RunContext[Stretch]) -> Calls:
    mine = ctx.tool_call_id or ""
    calls = ctx.deps.transcript.open_calls
    told = next(_result(call, MOVED) for call in calls if call.tool_call_id == mine)
    read = ((call, HERE if call.tool_call_id == mine else ELSEWHERE) for call in calls)
    return Calls(mine, told, tuple((call.tool_call_id, _result(call, text)) for call, text in read))


def _result(call: ToolCallPart, text: str) -> str:
    return history.draft(ModelRequest([ToolReturnPart(call.tool_name, text, call.tool_call_id)])).payload


# One at a time: children of one response begin in the order in which the model named them.
FORK: Final[Tool[Stretch]] = Tool(fork, description=DESCRIPTION, sequential=True)
"""The tool as it is offered."""

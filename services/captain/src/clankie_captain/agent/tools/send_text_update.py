"""Mid-turn words to the room. Source: ROOM-3."""

from typing import Final, assert_never

from pydantic_ai import RunContext, Tool

from clankie_captain.agent.scrubbing import is_blank, scrub
from clankie_captain.agent.stretch import Stretch
from clankie_captain.core.run import UpdateOutcome
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Post a short update to the room while you are still at work, as a reply to the message that you are answering. "
    "Use it only when someone is waiting for slow work of yours. Never use it for links that nobody asked about, and "
    "never for your answer itself: that is your last message. "
    f"One to {bounds.UPDATE_CHARS} characters; at most {bounds.UPDATES_A_TURN} updates a turn."
)
"""What the model reads about the tool. Source: ROOM-3."""


async def send_text_update(ctx: RunContext[Stretch], text: str) -> str:
    """Post mid-turn words, and say what became of them.

    Args:
        ctx: The run that calls.
        text: The words of the update.
    """
    words = scrub(text).strip()
    if is_blank(words):
        return "Not posted: the update is empty."
    if len(words) > bounds.UPDATE_CHARS:
        return f"Not posted: {len(words)} characters, and at most {bounds.UPDATE_CHARS} are allowed. Make it shorter."
    return told(await ctx.deps.line.update(words, ctx.tool_call_id))


def told(outcome: UpdateOutcome) -> str:
    """What the model reads about the fate of its words."""
    match outcome.fate:
        case "posted":
            return "Posted."
        case "refused":
            return f"Not posted: {outcome.reason or 'the room does not take it now.'}"
        case "unknown":
            return "The outcome is unknown; do not send it again."
        case _:
            assert_never(outcome.fate)


# One at a time: two updates of one response come in the order in which the model wrote them.
SEND_TEXT_UPDATE: Final[Tool[Stretch]] = Tool(send_text_update, description=DESCRIPTION, sequential=True)
"""The tool as it is offered."""

"""A generated picture of the reply. Source: ART-2."""

from typing import Annotated, Final

from pydantic import Field
from pydantic_ai import RunContext, Tool, ToolReturn

from clankie_captain.agent.artifacts import attached
from clankie_captain.agent.stretch import Stretch
from clankie_captain.core.painting import Shape
from clankie_captain.ports import NotMadeError
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Have a picture generated from a description; it goes out with your reply. It takes up to some minutes and costs "
    "money, so use it only when somebody asks for a picture, once for each that is asked for. You do not see it "
    "yourself."
)
"""What the model reads about the tool."""


async def generate_image(
    ctx: RunContext[Stretch],
    prompt: Annotated[str, Field(min_length=1, max_length=bounds.PAINTING_PROMPT_CHARS)],
    size: Shape = "square",
) -> ToolReturn | str:
    """Have a picture generated, and say what became of it.

    Args:
        ctx: The run that calls.
        prompt: What the picture shows, and how.
        size: Its form.
    """
    line = ctx.deps.line
    try:
        made = await line.hands.workshop.painting(prompt, size, line.event)
    except NotMadeError as error:
        return f"Not made: {error}."
    return attached(f"Made. The picture goes out with your reply as {made.filename}.", made)


# One at a time: two of them at once would cost twice before the first could be refused.
GENERATE_IMAGE: Final[Tool[Stretch]] = Tool(generate_image, description=DESCRIPTION, sequential=True)
"""The tool as it is offered."""

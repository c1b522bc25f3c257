"""A diagram as a picture of the reply. Source: ART-2."""

from typing import Annotated, Final

from pydantic import Field
from pydantic_ai import RunContext, Tool, ToolReturn

from clankie_captain.agent.artifacts import attached
from clankie_captain.agent.stretch import Stretch
from clankie_captain.core.diagram import Diagram, source
from clankie_captain.ports import NotMadeError
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Draw a diagram that goes out with your reply as a picture: a flow of steps, a sequence of messages, or entities "
    "and how they belong together. Use it where a picture says it better than words, or somebody asks for one. You "
    "give the structure; how it looks is not yours to choose."
)
"""What the model reads about the tool."""


async def draw_diagram(
    ctx: RunContext[Stretch],
    title: Annotated[str, Field(min_length=1, max_length=bounds.DIAGRAM_LABEL_CHARS)],
    diagram: Annotated[Diagram, Field(discriminator="kind")],
) -> ToolReturn | str:
    """Draw a diagram, and say what became of it.

    Args:
        ctx: The run that calls.
        title: What the picture shows, in a few words; its file is named after it.
        diagram: The structure.
    """
    line = ctx.deps.line
    try:
        made = await line.hands.workshop.diagram(source(diagram), title, line.event)
    except NotMadeError as error:
        return f"Not drawn: {error}."
    return attached(f"Drawn. The picture goes out with your reply as {made.filename}.", made)


DRAW_DIAGRAM: Final[Tool[Stretch]] = Tool(draw_diagram, description=DESCRIPTION)
"""The tool as it is offered."""

"""A web page as a picture of the reply. Source: ART-2, SEC-3."""

from typing import Annotated, Final

from pydantic import Field
from pydantic_ai import RunContext, Tool, ToolReturn

from clankie_captain.agent.artifacts import attached
from clankie_captain.agent.stretch import Stretch
from clankie_captain.ports import NotMadeError, PageShot
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Take a picture of a public web page, which goes out with your reply. Use it when somebody wants to see a page, "
    "never to read one: you do not see the picture yourself, so say nothing about what is on it."
)
"""What the model reads about the tool."""

OK: Final = range(200, 400)
"""What a server answers that has the page."""


async def screenshot_page(
    ctx: RunContext[Stretch],
    url: Annotated[str, Field(min_length=1, max_length=bounds.URL_CHARS)],
    full_page: bool = False,
) -> ToolReturn | str:
    """Take a picture of a web page, and say what became of it.

    Args:
        ctx: The run that calls.
        url: The page's address, http or https, at its own port.
        full_page: The whole page from its top instead of what a window shows at first.
    """
    line = ctx.deps.line
    try:
        shot = await line.hands.workshop.page(url, line.event, full=full_page)
    except NotMadeError as error:
        return f"Not taken: {error}."
    return attached(_told(shot), shot.artifact)


def _told(shot: PageShot) -> str:
    words = [f"Taken. The picture goes out with your reply as {shot.artifact.filename}."]
    if shot.status is not None and shot.status not in OK:
        words.append(f"The page's server answered with status {shot.status}.")
    if not shot.whole:
        words.append("The page had not loaded wholly.")
    if shot.cut:
        words.append("The page goes on below the picture.")
    return " ".join(words)


SCREENSHOT_PAGE: Final[Tool[Stretch]] = Tool(screenshot_page, description=DESCRIPTION)
"""The tool as it is offered."""

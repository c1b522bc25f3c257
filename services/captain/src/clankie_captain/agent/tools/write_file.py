"""A text file of the workspace, written. Source: GRANT-2."""

from typing import Annotated, Final

from pydantic import Field
from pydantic_ai import RunContext, Tool

from clankie_captain.agent.stretch import Stretch
from clankie_captain.ports import NotDoneError
from clankie_settings import bounds

DESCRIPTION: Final = (
    "Write a text file of your workspace, by its path inside it, such as notes/today.md: the whole file, in place of "
    "what was there; folders above it are made."
)
"""What the model reads about the tool."""


async def write_file(
    ctx: RunContext[Stretch],
    path: Annotated[str, Field(min_length=1, max_length=bounds.PATH_CHARS)],
    text: Annotated[str, Field(max_length=bounds.WRITE_FILE_BYTES)],
) -> str:
    """Write a file, or say why it is not written.

    Args:
        ctx: The run that calls.
        path: The file's path inside the workspace.
        text: All that the file is to hold.
    """
    try:
        await ctx.deps.line.hands.machine.write(path, text)
    except NotDoneError as error:
        return f"Not written: {error}."
    return "Written."


WRITE_FILE: Final[Tool[Stretch]] = Tool(write_file, description=DESCRIPTION)
"""The tool as it is offered."""

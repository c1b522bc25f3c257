"""What the model can do besides answering: one tool a file, each with one wording and one place. Source: GRANT-1."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from clankie_captain.agent.stretch import Stretch
from clankie_captain.agent.tools.draw_diagram import DRAW_DIAGRAM
from clankie_captain.agent.tools.fork import FORK
from clankie_captain.agent.tools.generate_image import GENERATE_IMAGE
from clankie_captain.agent.tools.read_file import READ_FILE
from clankie_captain.agent.tools.read_page import READ_PAGE
from clankie_captain.agent.tools.run_command import RUN_COMMAND
from clankie_captain.agent.tools.screenshot_page import SCREENSHOT_PAGE
from clankie_captain.agent.tools.search_web import SEARCH_WEB
from clankie_captain.agent.tools.send_text_update import SEND_TEXT_UPDATE
from clankie_captain.agent.tools.served import served_tool
from clankie_captain.agent.tools.write_file import WRITE_FILE
from clankie_captain.core.servers import ServerTool

TOOLS: Final[dict[str, Tool[Stretch]]] = {
    tool.name: tool
    for tool in (
        SEND_TEXT_UPDATE,
        DRAW_DIAGRAM,
        SCREENSHOT_PAGE,
        GENERATE_IMAGE,
        SEARCH_WEB,
        READ_PAGE,
        READ_FILE,
        WRITE_FILE,
        RUN_COMMAND,
        FORK,
    )
}
"""Every tool by its name, in the order in which the model is shown them."""

REFUSED: Final = "Not done: {reason}. Say so instead of trying again."
"""What the model reads of a call that is not within the grants of those who spoke."""

LATE: Final = "Ended: it took too long, and what it had begun may be done or not. Say so instead of trying again."
"""What it reads of a call that no tool has ended in time by itself."""


class Granted(WrapperToolset[Stretch]):
    """Tools that ask, at each call, whether everybody whose words the run has heard may use them. Source: GRANT-5.

    Each has a bound and a word of its own for what takes too long. Where that does not hold, the call ends here, before
    its run would count as dead. Source: FAIL-1.
    """

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Stretch], tool: ToolsetTool[Stretch]
    ) -> Any:
        """Call a tool, or say why it is not called or was ended."""
        line = ctx.deps.line
        whole = asyncio.timeout(line.hands.within.total_seconds())
        try:
            async with whole:
                reason = await line.refusal(name)
                if reason is not None:
                    return REFUSED.format(reason=reason)
                return await super().call_tool(name, tool_args, ctx, tool)
        except TimeoutError:
            if not whole.expired():
                raise
            return LATE


def toolset(names: Sequence[str], served: Sequence[ServerTool] = ()) -> AbstractToolset[Stretch]:
    """These tools, in this order; those of servers are ``served``.

    Raises:
        KeyError: There is no tool of this name.
    """
    others = {each.name: each for each in served}
    return Granted(FunctionToolset([TOOLS.get(name) or served_tool(others[name]) for name in names]))

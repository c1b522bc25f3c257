"""What the model can do besides answering: one tool a file, each with one wording and one place. Source: GRANT-1."""

from collections.abc import Sequence
from typing import Final

from pydantic_ai import FunctionToolset, Tool

from clankie_captain.agent.stretch import Stretch
from clankie_captain.agent.tools.send_text_update import SEND_TEXT_UPDATE

TOOLS: Final[dict[str, Tool[Stretch]]] = {tool.name: tool for tool in (SEND_TEXT_UPDATE,)}
"""Every tool by its name."""


def toolset(names: Sequence[str]) -> FunctionToolset[Stretch]:
    """These tools, in this order.

    Raises:
        KeyError: There is no tool of this name.
    """
    return FunctionToolset([TOOLS[name] for name in names])

"""A server's tool as the model is offered it. Source: GRANT-1, CTX-4."""

import json
from typing import Any

from pydantic_ai import RunContext, Tool

from clankie_captain.agent.scrubbing import scrub
from clankie_captain.agent.stretch import Stretch
from clankie_captain.core.servers import ServerTool
from clankie_captain.ports.servers import NotServedError


def served_tool(tool: ServerTool) -> Tool[Stretch]:
    """The tool as it is offered; what the server answers is text that anybody may have written."""

    async def called(ctx: RunContext[Stretch], /, **arguments: Any) -> str:
        line = ctx.deps.line
        try:
            return scrub(await line.hands.servers.call(tool, arguments, line.event))
        except NotServedError as error:
            return f"Not done: {error}."

    return Tool[Stretch].from_schema(called, tool.name, tool.description, json.loads(tool.schema), takes_ctx=True)

"""One connection to a server: its tools, their calls, and the word that they have changed."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Final

from mcp.client import Client, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    ToolListChangedNotification,
)
from pydantic import TypeAdapter

from clankie_captain.core.servers import Told
from clankie_captain.mcp.http import http
from clankie_captain.mcp.stdio import stdio
from clankie_settings import bounds
from clankie_settings.servers import Server, StdioServer

PAGES: Final = 32
"""Pages of one list of tools that are read."""

FAREWELL_S: Final = 8
"""How long a server may take to let us go, in seconds."""

Answer = CallToolResult | InputRequiredResult

_ANSWER: Final[TypeAdapter[Answer]] = TypeAdapter(Answer)


class Connection:
    """A server that is there, in whichever version of the protocol it speaks.

    Nothing is offered to it: no sampling, no elicitation, no roots.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[Told]:
        """Its tools as it tells them, page by page, up to twice as many as are offered.

        Raises:
            MCPError: It refused, or is gone.
        """
        told: list[Told] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await self._client.list_tools(cursor=cursor)
            told += (Told(each.name, each.description or each.title or "", each.input_schema) for each in page.tools)
            cursor = page.next_cursor
            if cursor is None or len(told) > 2 * bounds.SERVER_TOOLS:
                break
        return told

    async def call(self, tool: str, arguments: Mapping[str, Any], alive: Callable[[], None]) -> Answer:
        """What a tool answers; cancelling it tells the server so.

        Raises:
            MCPError: It refused, or is gone.
        """

        async def moved(progress: float, total: float | None, message: str | None) -> None:
            del progress, total, message
            alive()

        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        # Not by the client's own way of calling: that judges the answer by patterns that the server chose.
        return await self._client.session.send_request(request, _ANSWER, progress_callback=moved)

    async def heed(self, changed: Callable[[], None]) -> None:
        """Say whenever its tools have changed, and when it stops telling so.

        That is for servers of the version that has to be asked for it; the older ones tell it unasked.
        """
        heeding = False
        with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
            async with self._client.listen(tools_list_changed=True) as events:
                heeding = True
                async for _ in events:
                    changed()
        if heeding:
            changed()


@asynccontextmanager
async def connected(server: Server, stirred: Callable[[], None]) -> AsyncGenerator[Connection]:
    """Connect to a server; ``stirred`` is called when its tools may have changed, or it may be gone.

    Raises:
        TimeoutError: It did not say who it is in time.
        Exception: It cannot be started or reached, or speaks something else: whatever the protocol's own client raises.
    """

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            stirred()

    transport = stdio(server, stirred) if isinstance(server, StdioServer) else http(server)
    client = Client(
        transport,
        cache=None,
        message_handler=heard,
        client_info=Implementation(name="clankie", version=version("clankie-captain")),
    )
    async with asyncio.timeout(bounds.SERVER_START.total_seconds()):
        await client.__aenter__()
    try:
        yield Connection(client)
    except BaseException as error:
        # A fault of the connection's own comes up here as a cancellation, and from the client as what it is.
        async with asyncio.timeout(FAREWELL_S):
            await client.__aexit__(type(error), error, error.__traceback__)
        raise
    async with asyncio.timeout(FAREWELL_S):
        await client.__aexit__(None, None, None)

"""A process that keeps the odd server, says whom it runs, and waits to be killed."""

import asyncio
import os
import sys
from pathlib import Path

from clankie_captain.mcp.connection import connected
from clankie_settings.servers import StdioServer


async def main(folder: str, program: str) -> None:
    server = StdioServer(
        command=sys.executable, args=[program, str(Path(folder) / "tools")], env={"PATH": os.environ["PATH"]}, cwd="/"
    )
    async with connected(server, lambda: None) as connection:
        answer = await connection.call("child", {}, lambda: None)
        print(getattr(getattr(answer, "content", [None])[0], "text", ""), flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main(*sys.argv[1:]))

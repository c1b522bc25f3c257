"""Servers of tools; ``mcp`` keeps this promise."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from clankie_captain.core.servers import ServerTool
from clankie_captain.ports.workshop import Progress

CallOutcome = Literal["answered", "failed", "late", "down", "unread"]
"""What became of a call: an answer, a failure that the server tells, none in time, or none that can be had."""


class ServerLog(Protocol):
    """Where it is counted what became of calls. Source: OPS-8."""

    def called(self, outcome: CallOutcome) -> None:
        """A call has ended."""
        ...


class NotServedError(Exception):
    """A server's tool was not called, or gave no answer; the text says why, in words for the model."""


class Servers(Protocol):
    """The configured servers, whether they run or not. Source: GRANT-1."""

    def tools(self) -> tuple[ServerTool, ...]:
        """Every tool that is known of any of them, by name; those of a server that is down as they were last told."""
        ...

    def serves(self, name: str) -> bool:
        """Whether a tool's name is that of a server's."""
        ...

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any], progress: Progress) -> str:
        """What a server answers, fenced: it was written by anybody.

        Raises:
            NotServedError: It is down, too slow, or answers with more than can be taken.
        """
        ...


class NoServers(Servers):
    """No server at all."""

    def tools(self) -> tuple[ServerTool, ...]:
        """None."""
        return ()

    def serves(self, name: str) -> bool:
        """No."""
        return False

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any], progress: Progress) -> str:
        """Nothing is called.

        Raises:
            NotServedError: Always.
        """
        raise NotServedError("there is no such tool any more")

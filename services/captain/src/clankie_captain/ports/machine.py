"""A shell and files for those whom the owner trusts with the machine; ``machine`` keeps this promise."""

import socket
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from clankie_captain.core.machine import Stop
from clankie_captain.ports.workshop import Progress


class NotDoneError(Exception):
    """Something was not done on the machine; the text says why, in words for the model and for nobody else."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command.

    ``exit`` is its code as a shell tells it (128 and the signal's number where one ended it), None where it was ended;
    ``stopped`` says why it was; ``output`` is what it wrote, fenced; ``cut`` how many bytes of its middle are left out.
    """

    exit: int | None
    stopped: Stop | None
    output: str
    cut: int = 0


class Gate(Protocol):
    """A command's only way to the web: a proxy that judges where each connection leads. Source: SEC-3."""

    def serving(self, door: socket.socket) -> AbstractAsyncContextManager[int]:
        """Answer whoever comes to a socket that listens, until it is left; the socket is closed then."""
        ...


class Machine(Protocol):
    """A shell behind walls, and the files of the one folder that it can change. Source: GRANT-2, GRANT-4."""

    @property
    def tools(self) -> frozenset[str]:
        """Its tools. They are offered where no sandbox can be had too, and say why they do nothing there."""
        ...

    async def run(self, command: str, progress: Progress, within: timedelta) -> Ran:
        """Run a shell's line in the workspace; nothing of it goes on afterwards.

        Raises:
            NotDoneError: There is no sandbox, or too many commands run.

        Source: GRANT-4.
        """
        ...

    async def read(self, path: str, offset: int) -> str:
        """A part of a text file of the workspace from a byte on, fenced, and where it goes on.

        Raises:
            NotDoneError: There is no sandbox, no such file in the workspace, or it is no text.

        Source: GRANT-2.
        """
        ...

    async def write(self, path: str, text: str) -> None:
        """Write a text file of the workspace: all of it or nothing, in place of what was there.

        Raises:
            NotDoneError: There is no sandbox, it is no path in the workspace, or there is no room for it.

        Source: GRANT-2.
        """
        ...

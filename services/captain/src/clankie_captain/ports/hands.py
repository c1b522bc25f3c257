"""What a run's tools work with, joined by ``app.py``: each part says which tools it can serve on this machine."""

from dataclasses import dataclass, field
from datetime import timedelta

from clankie_captain.ports.machine import Machine
from clankie_captain.ports.servers import NoServers, Servers
from clankie_captain.ports.web import Web
from clankie_captain.ports.workshop import Workshop
from clankie_settings import bounds


@dataclass(frozen=True, slots=True)
class Hands:
    """All that the tools of a captain's runs reach besides the run itself. Source: GRANT-1.

    ``within`` is how long any call may take, whatever its tool allows itself.
    """

    workshop: Workshop
    machine: Machine
    servers: Servers = field(default_factory=NoServers)
    web: Web | None = None
    within: timedelta = bounds.STALL_AFTER * bounds.TOOL_END

    @property
    def tools(self) -> frozenset[str]:
        """His own tools that can work here, with these settings."""
        web = frozenset[str]() if self.web is None else self.web.tools
        return self.workshop.tools | self.machine.tools | web

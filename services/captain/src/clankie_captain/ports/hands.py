"""What a run's tools work with, joined by ``app.py``: each part says which tools it can serve on this machine."""

from dataclasses import dataclass, field

from clankie_captain.ports.machine import Machine
from clankie_captain.ports.servers import NoServers, Servers
from clankie_captain.ports.web import Web
from clankie_captain.ports.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Hands:
    """All that the tools of a captain's runs reach besides the run itself. Source: GRANT-1."""

    workshop: Workshop
    machine: Machine
    servers: Servers = field(default_factory=NoServers)
    web: Web | None = None

    @property
    def tools(self) -> frozenset[str]:
        """His own tools that can work here, with these settings."""
        web = frozenset[str]() if self.web is None else self.web.tools
        return self.workshop.tools | self.machine.tools | web

"""The project as somebody has cloned it, run by ``docker compose``."""

import json
import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.docker.engine import Engine, run, until
from tests.ports import free_ports
from tests.rules.sources import ROOT, project_files

BUILT_WITHIN_S = 1_500
PATIENCE_S = 180

HOST_NETWORK = "services:\n" + "".join(
    f"  {name}: {{build: {{network: host}}}}\n" for name in ("captain", "bridge", "stage")
)


@dataclass(frozen=True, slots=True)
class House:
    """A clone, its containers, and where they are published."""

    engine: Engine
    folder: Path
    project: str
    stage_port: int
    captain_port: int

    def compose(self, *arguments: str, within_s: float = PATIENCE_S, given: IO[bytes] | None = None) -> str:
        """``docker compose`` in the clone; its output."""
        files = ["-f", "docker-compose.yml", *(["-f", "host.yml"] if self.engine.host_network else [])]
        places = {
            "STAGE_PUBLISH": f"127.0.0.1:{self.stage_port}",
            "CAPTAIN_PUBLISH": f"127.0.0.1:{self.captain_port}",
        }
        command = ("docker", "compose", *files, "-p", self.project, *arguments)
        return run({**self.engine.env, **places}, *command, within_s=within_s, folder=self.folder, given=given)

    def stage(self, *arguments: str) -> str:
        """The same with the stage."""
        return self.compose("--profile", "stage", *arguments)

    def docker(self, *arguments: str) -> str:
        """``docker`` itself."""
        return run(self.engine.env, "docker", *arguments)

    def container(self, service: str) -> str:
        """The container of a service, ended ones too."""
        return self.stage("ps", "--all", "--quiet", service).strip()

    def inspected(self, service: str) -> dict[str, Any]:
        """All that the engine knows of a container."""
        return json.loads(self.docker("inspect", self.container(service)))[0]

    def health(self, service: str) -> str:
        """``starting``, ``healthy`` or ``unhealthy``."""
        return self.inspected(service)["State"]["Health"]["Status"]

    def becomes(self, service: str, health: str) -> bool:
        """Whether a container's health is this in time."""
        return until(lambda: self.health(service) == health, PATIENCE_S)

    def inside(self, service: str, *command: str) -> str:
        """The output of a command that has to succeed in a container."""
        return self.stage("exec", "-T", service, *command)

    def logs(self, service: str) -> list[str]:
        """What a service has said, by lines."""
        return self.stage("logs", "--no-log-prefix", service).splitlines()

    def down(self) -> None:
        """End everything, the state as well."""
        self.stage("down", "--volumes", "--timeout", "20")


@contextmanager
def cloned(engine: Engine, folder: Path) -> Generator[House]:
    """A fresh clone with images of its own making; however the tests end, nothing of it stays but layers."""
    for name in project_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "host.yml").write_text(HOST_NETWORK)
    house = House(engine, folder, f"clankie-test-{uuid.uuid4().hex[:8]}", *free_ports(2))
    try:
        house.compose("--profile", "stage", "build", within_s=BUILT_WITHIN_S)
        yield house
    finally:
        house.stage("down", "--volumes", "--rmi", "local", "--timeout", "5")

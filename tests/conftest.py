"""What holds for every test: it sees nobody's settings, and it never leaves this machine."""

import ipaddress
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

_LOCAL_NAMES = {"", "localhost", None}


def _stay_here(event: str, args: tuple[Any, ...]) -> None:
    """Refuse connections and look-ups that would reach another machine."""
    host: str | None
    match event, args:
        case "socket.connect", (_, (str(host), *_)):
            pass
        case "socket.getaddrinfo", (bytes(name), *_):
            host = name.decode()
        case "socket.getaddrinfo", (host, *_):
            pass
        case _:
            return
    if host in _LOCAL_NAMES:
        return
    try:
        away = not (address := ipaddress.ip_address(host or "")).is_loopback and not address.is_unspecified
    except ValueError:
        away = True
    if away:
        raise AssertionError(f"a test tried to reach {host}; tests talk to loopback alone")


sys.addaudithook(_stay_here)


@pytest.fixture(scope="session", autouse=True)
def bare_environment() -> Iterator[None]:
    """No setting, token or key of whoever runs the tests, and no proxy, reaches a test or a process that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            ours = name.startswith(("CLANKIE_", "DISCORD_")) or name.endswith("_API_KEY")
            if ours or name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield

"""The real captain, to whom ``public.example`` is a port of this machine: ``python seeing_captain.py PORT``.

Everything else is judged as it always is.
"""

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from ipaddress import ip_address
from types import ModuleType

from clankie_captain import __main__ as entry
from clankie_captain.app import life
from clankie_captain.core.addresses import IpAddress
from clankie_captain.media.fetch import LoopbackTransport
from clankie_captain.media.furnishing import furnished
from clankie_captain.media.guard import GuardedTransport
from clankie_captain.media.passage import Passage
from clankie_captain.media.web import MediaWeb, equipped
from clankie_captain.media.workshop import MediaWorkshop
from clankie_captain.ports import Searcher
from clankie_settings.schema import CaptainSettings

PORT = int(sys.argv[1])
PUBLIC = ip_address("1.1.1.1")


async def resolve(host: str, port: int) -> Sequence[IpAddress]:
    """The one host that there is."""
    del port
    if host != "public.example":
        raise OSError("no such host")
    return [PUBLIC]


async def connect(address: IpAddress, port: int) -> tuple[StreamReader, StreamWriter]:
    """Its stand-in on this machine."""
    del address, port
    return await asyncio.open_connection("127.0.0.1", PORT)


def seeing(settings: CaptainSettings, *_: object) -> MediaWorkshop:
    """The workshop, whose browser has this way out."""
    return furnished(settings, lambda: Passage(resolve, connect=connect))


def reading(settings: CaptainSettings, own: Searcher | None, *_: object) -> MediaWeb:
    """The web, whose pages lie there as well."""
    return equipped(settings, own, GuardedTransport(LoopbackTransport(f"http://127.0.0.1:{PORT}"), resolve))


def put(module: ModuleType, name: str, held: object) -> None:
    """Let a module use something else under one of its names."""
    assert hasattr(module, name), f"nothing reads {name} there any more"
    setattr(module, name, held)


def main() -> int:
    """Be the captain."""
    put(life, "furnished", seeing)
    put(life, "equipped", reading)
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())

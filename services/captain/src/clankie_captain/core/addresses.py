"""Which outside addresses may be reached, judged on the parsed address, never on its text. Source: SEC-3, IMG-2."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal

IpAddress = IPv4Address | IPv6Address
"""Where a connection goes."""

AddressRefusal = Literal["malformed", "scheme", "credentials", "port", "host", "private"]
"""Why an address is not reached.

``malformed``    it is none, or one that readers would read differently; ``scheme``  it is not for the web
``credentials``  it carries a name or a password; ``port``  it leads to another port than the web's
``host``         its host is none that may be asked; ``private``  its host lies, or claims to lie, in a private network
"""

_MALFORMED: Final = re.compile(r"[^\x21-\x7e]|\\")
_CREDENTIALS: Final = re.compile(r"[^/?#]*//[^/?#]*@")
_PORTS: Final = {"https": 443, "http": 80}
_PICTURE_HOSTS: Final = re.compile(
    r"cdn\.discordapp\.com|media\.discordapp\.net|images-ext-[0-9]{1,2}\.discordapp\.net"
)

_SPECIAL_V4: Final = (
    ip_network("192.0.0.0/24"),  # assignments for protocols
    ip_network("192.88.99.0/24"),  # relays between the two protocols
    ip_network("168.63.129.16/32"),  # the host of a virtual machine at one large provider
)
_UNICAST_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = (
    IPv6Network("2001::/23"),  # assignments for protocols, tunnels among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # tunnels to an address of the older protocol
    IPv6Network("3fff::/20"),  # documentation
)
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
_LAST_32_BITS: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The parts of an address that are judged, as the reader that connects has read them.

    ``host`` is lower case and, where it is an IP address, without brackets; ``port`` is None where none was named.
    """

    scheme: str
    credentials: bool
    host: str
    port: int | None


def unreadable(text: str) -> AddressRefusal | None:
    """Why readers may read an address differently: a blank, a control character, a backslash, no ASCII, an ``@``."""
    if not text or _MALFORMED.search(text):
        return "malformed"
    return "credentials" if _CREDENTIALS.match(text) else None


def judge(address: WebAddress) -> AddressRefusal | None:
    """Why no tool reaches an address, whatever its host resolves to; None where nothing speaks against it.

    Source: SEC-3.
    """
    if address.scheme not in _PORTS:
        return "scheme"
    if address.credentials:
        return "credentials"
    if not address.host or "%" in address.host:
        return "malformed"
    if address.port not in (None, _PORTS[address.scheme]):
        return "port"
    try:
        literal = ip_address(address.host)
    except ValueError:
        return None
    return None if is_public(literal) else "private"


def judge_picture(address: WebAddress) -> AddressRefusal | None:
    """Why no picture is fetched from an address; None for one of Discord's own hosts. Source: IMG-2."""
    if address.scheme != "https":
        return "scheme"
    refusal = judge(address)
    if refusal is None and not _PICTURE_HOSTS.fullmatch(address.host):
        return "host"
    return refusal


def pinned(found: Sequence[IpAddress]) -> tuple[IpAddress, ...]:
    """The addresses that a host resolved to, in their order; none at all where a single one is not public.

    A host that mixes them is trying something.
    """
    return tuple(found) if all(is_public(each) for each in found) else ()


def is_public(address: IpAddress) -> bool:
    """Whether everybody's Internet is behind an address: not this machine, its network or its provider's."""
    if isinstance(address, IPv6Address):
        return _is_public_v6(address)
    special = any(address in network for network in _SPECIAL_V4)
    return address.is_global and not address.is_multicast and not special


def _is_public_v6(address: IPv6Address) -> bool:
    if address in _TRANSLATED:
        return is_public(IPv4Address(int(address) & _LAST_32_BITS))
    if address.ipv4_mapped is not None or address.scope_id is not None:
        return False
    return address in _UNICAST_V6 and not any(address in network for network in _SPECIAL_V6)

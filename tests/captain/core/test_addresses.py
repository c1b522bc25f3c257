"""Which outside addresses may be reached."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.addresses import WebAddress, is_public, judge, judge_picture, pinned, unreadable

pytestmark = pytest.mark.requirement("SEC-3", "IMG-2")


def web(host: str, scheme: str = "https", port: int | None = None, *, credentials: bool = False) -> WebAddress:
    return WebAddress(scheme, credentials, host, port)


@pytest.mark.parametrize(
    "private",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.251",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "100::1",
        "2001::7f00:1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ],
)
def test_what_is_not_everybodys_internet_is_private(private: str) -> None:
    assert not is_public(ip_address(private))
    assert pinned([ip_address("8.8.8.8"), ip_address(private)]) == ()
    assert judge(web(private)) is not None


@pytest.mark.parametrize("public", ["1.1.1.1", "162.159.130.233", "2606:4700::6810:84e5", "64:ff9b::808:808"])
def test_everybodys_internet_is_public(public: str) -> None:
    assert is_public(ip_address(public))
    assert pinned([ip_address(public)]) == (ip_address(public),)
    assert judge(web(public)) is None


@given(st.ip_addresses(v=4))
def test_an_address_in_the_clothes_of_the_newer_protocol_is_judged_no_milder(plain: IPv4Address) -> None:
    number = int(plain)
    dressed = [number, 0xFFFF << 32 | number, 0x0064FF9B << 96 | number, 0x2002 << 112 | number << 80]
    assert is_public(plain) or not any(is_public(IPv6Address(each)) for each in dressed)


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        (web("example.org", "ftp"), "scheme"),
        (web("", "file"), "scheme"),
        (web("example.org", credentials=True), "credentials"),
        (web(""), "malformed"),
        (web("a%2eb"), "malformed"),
        (web("example.org", port=8443), "port"),
        (web("example.org", "http", 443), "port"),
        (web("127.0.0.1"), "private"),
        (web("::1"), "private"),
        (web("example.org"), None),
        (web("example.org", "http"), None),
        (web("example.org", "http", 80), None),
        (web("example.org", port=443), None),
    ],
)
def test_a_tool_reaches_the_web_and_nothing_else(address: WebAddress, refusal: str | None) -> None:
    assert judge(address) == refusal


@pytest.mark.parametrize(
    "host",
    ["cdn.discordapp.com", "media.discordapp.net", "images-ext-1.discordapp.net", "images-ext-22.discordapp.net"],
)
def test_discords_own_hosts_give_pictures(host: str) -> None:
    assert judge_picture(web(host)) is None
    assert judge_picture(web(host, port=443)) is None


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        (web("cdn.discordapp.com", "http"), "scheme"),
        (web("cdn.discordapp.com", port=8443), "port"),
        (web("cdn.discordapp.com", credentials=True), "credentials"),
        (web("cdn.discordapp.com."), "host"),
        (web("cdn.discordapp.com.example.org"), "host"),
        (web("xcdn.discordapp.com"), "host"),
        (web("cdn.discordapp.net"), "host"),
        (web("discordapp.com"), "host"),
        (web("images-ext-.discordapp.net"), "host"),
        (web("images-ext-1.discordapp.net\n"), "host"),
        (web("images-ext-1a.discordapp.net"), "host"),
        (web("images-ext-1.discordapp.com"), "host"),
        (web("127.0.0.1"), "private"),
        (web("1.1.1.1"), "host"),
    ],
)
def test_no_other_host_gives_pictures(address: WebAddress, refusal: str) -> None:
    assert judge_picture(address) == refusal


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "malformed"),
        ("https://cdn.discordapp.com\\@example.org/", "malformed"),
        ("https://cdn.discordapp.com/a b", "malformed"),
        ("https://cdn.discordapp.com/\x00", "malformed"),
        ("https://cdn\u3002discordapp.com/", "malformed"),
        ("https://cdn.discordapp.com/\u00e4", "malformed"),
        ("https://@cdn.discordapp.com/", "credentials"),
        ("https://cdn.discordapp.com@example.org/", "credentials"),
        ("//a@b/", "credentials"),
        ("https://cdn.discordapp.com/a@b?c=//d@e", None),
        ("https://cdn.discordapp.com/a.png?ex=1&is=2&hm=3&", None),
    ],
)
def test_an_address_that_two_readers_might_read_differently_is_not_read(text: str, refusal: str | None) -> None:
    assert unreadable(text) == refusal

"""Settings for trials take an address of this machine, and no other in whatever notation."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_settings.environment import SettingsError, bridge_settings, captain_settings
from clankie_settings.schema import loopback

HERE = [
    "http://127.0.0.1:4320",
    "http://127.0.0.1:4320/api/v10/",
    "http://127.8.9.10",
    "https://localhost:4320",
    "http://LOCALHOST",
    "http://[::1]:4320",
]
ELSEWHERE = [
    "https://discord.com/api/v10",
    "http://0.0.0.0:4320",
    "http://[::]:4320",
    "http://[::ffff:192.0.2.1]",
    "http://192.0.2.1",
    "http://169.254.169.254",
    "http://10.0.0.1",
    "http://0x7f.1",
    "http://0177.0.0.1",
    "http://2130706433",
    "http://127.1",
    "http://128.0.0.1",
    "http://127.0.0.1.example.test",
    "http://localhost.example.test",
    "http://example.test/127.0.0.1",
    "http://127.0.0.1@example.test",
    "http://127.0.0.1:80@example.test",
    "http://example.test\\@127.0.0.1",
    "http://example.test#@127.0.0.1",
    "http://example.test?@127.0.0.1",
    "http://127.0.0.1\\.example.test",
    "http://127.0.0.1\t.example.test",
    "http://127.0.0.1\n@example.test",
    "http://127.0.0.1 .example.test",
    "http://\uff11\uff12\uff17.0.0.1",
    "http://loc\u00adalhost",
    "http:127.0.0.1",
    "//127.0.0.1",
    "127.0.0.1:4320",
    "ftp://127.0.0.1",
    "file://127.0.0.1/a",
    "http://",
    "http://:4320",
    "http://127.0.0.1:0",
    "http://127.0.0.1:65536",
    "http://127.0.0.1:x",
]


@pytest.mark.parametrize("address", HERE)
def test_an_address_of_this_machine_is_taken(address: str) -> None:
    assert bridge_settings({"CLANKIE_DISCORD_REST_URL": address}).discord_rest_url == address.rstrip("/")
    assert captain_settings({"CLANKIE_CDN_LOOPBACK": address}).cdn_loopback == address.rstrip("/")


@pytest.mark.parametrize("address", ELSEWHERE)
def test_any_other_address_is_refused_and_not_repeated(address: str) -> None:
    for read, name in ((bridge_settings, "CLANKIE_DISCORD_REST_URL"), (captain_settings, "CLANKIE_CDN_LOOPBACK")):
        with pytest.raises(SettingsError) as caught:
            read({name: address})
        assert caught.value.name == name
        assert address not in str(caught.value).replace("http://127.0.0.1:43", "")


@given(st.one_of(st.ip_addresses(), st.ip_addresses(network="127.0.0.0/8")))
def test_of_all_numbers_only_the_loopback_range_is_taken(
    number: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    address = f"http://[{number}]" if number.version == 6 else f"http://{number}"
    if number.is_loopback:
        assert loopback(address) == address
    else:
        with pytest.raises(ValueError, match="this machine only"):
            loopback(address)

"""A command's use is read from whatever Discord sends, or is none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.discord.interactions import invocation


def payload(**changed: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "id": "1400000000000000000",
        "application_id": "1300000000000000001",
        "type": 2,
        "token": "t",
        "data": {"id": "1", "name": "stop", "type": 1},
        "channel_id": "1310000000000000100",
        "channel": {"id": "1310000000000000100", "type": 11, "parent_id": "1310000000000000099"},
        "guild_id": "1310000000000000000",
        "member": {"user": {"id": "1300000000000000011", "username": "ann"}, "nick": "Annie", "roles": ["7"]},
    }
    return whole | changed


@pytest.mark.requirement("OPS-5")
def test_a_command_is_read_whole() -> None:
    read = invocation(payload())
    assert read is not None
    assert (read.name, read.author.name, read.author.role_ids) == ("stop", "Annie", ("7",))
    assert (read.guild_id, read.channel_id, read.parent_id) == (
        "1310000000000000000",
        "1310000000000000100",
        "1310000000000000099",
    )
    in_dm = invocation(payload(guild_id=None, member=None, user={"id": "5", "username": "ann"}, channel={"type": 1}))
    assert in_dm is not None
    assert (in_dm.guild_id, in_dm.author.id, in_dm.parent_id) == (None, "5", None)


@pytest.mark.parametrize(
    "changed", [{"type": 3}, {"data": {"name": "ban"}}, {"token": ""}, {"id": None}, {"member": {}}]
)
def test_what_is_no_command_of_ours_is_none(changed: dict[str, Any]) -> None:
    assert invocation(payload(**changed)) is None


@given(st.dictionaries(st.sampled_from([*payload()]), st.none() | st.integers() | st.text() | st.lists(st.integers())))
def test_no_payload_is_a_fault(changed: dict[str, Any]) -> None:
    invocation(payload(**changed))

"""What the room is told about a failure, and where."""

import pytest

from clankie_bridge.core.manners import Switch
from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode


@pytest.mark.requirement("ROOM-8")
@pytest.mark.parametrize("code", FailureCode)
def test_every_failure_has_a_short_plain_word_of_ours(code: FailureCode) -> None:
    said = notice(code)
    assert 20 <= len(said) <= 120
    assert said.endswith(".")
    assert not set(said) & set("@<>{}_\n`")


@pytest.mark.requirement("ROOM-4", "ROOM-8")
def test_a_switch_is_on_but_where_the_owner_says_otherwise_and_a_thread_follows_its_parent() -> None:
    switch = Switch({"1:10": False, "1:11": True})
    assert [switch.is_on("1", room, parent) for room, parent in [("10", None), ("12", None), ("12", "10")]] == [
        False,
        True,
        False,
    ]
    assert switch.is_on("1", "11", "10")
    assert switch.is_on(None, "10", None)

"""What the bot may do in a channel, reckoned as Discord reckons it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_cli.checks.discord import PERMISSIONS
from clankie_cli.checks.permissions import NEEDED, USEFUL, in_channel, lacking, needed_in

pytestmark = pytest.mark.requirement("OPS-9")

GUILD, ROLE, OTHER, BOT = "1", "2", "3", "9"
VIEW, SEND, READ, ADMIN = 1 << 10, 1 << 11, 1 << 16, 1 << 3
MEMBER: dict[str, Any] = {"roles": [ROLE], "user": {"id": BOT}}

Json = dict[str, Any]


def role(name: str, bits: int) -> Json:
    return {"id": name, "permissions": str(bits)}


def over(name: str, *, allow: int = 0, deny: int = 0) -> Json:
    return {"id": name, "allow": str(allow), "deny": str(deny)}


def bits(*overwrites: Json, everyone: int = 0, own: int = 0) -> int:
    roles = [role(GUILD, everyone), role(ROLE, own), role(OTHER, ADMIN)]
    return in_channel(roles, MEMBER, {"permission_overwrites": [*overwrites]}, GUILD)


def test_roles_of_others_grant_nothing() -> None:
    assert bits(everyone=VIEW, own=SEND) == VIEW | SEND


def test_an_administrator_is_never_shut_out() -> None:
    assert not lacking(bits(over(ROLE, deny=VIEW), own=ADMIN), NEEDED | USEFUL)


@pytest.mark.parametrize(
    ("overwrites", "expected"),
    [
        ([over(GUILD, deny=SEND)], VIEW),
        ([over(GUILD, deny=SEND), over(ROLE, allow=SEND)], VIEW | SEND),
        ([over(ROLE, allow=SEND), over(GUILD, deny=SEND)], VIEW | SEND),
        ([over(ROLE, deny=SEND), over(BOT, allow=SEND)], VIEW | SEND),
        ([over(ROLE, allow=READ), over(BOT, deny=READ)], VIEW | SEND),
        ([over(OTHER, deny=VIEW)], VIEW | SEND),
        ([over(GUILD, deny=VIEW | SEND)], 0),
    ],
)
def test_the_narrower_overwrite_has_the_last_word(overwrites: list[Json], expected: int) -> None:
    assert bits(*overwrites, everyone=VIEW | SEND) == expected


@given(st.none() | st.text() | st.integers() | st.booleans())
def test_a_number_that_is_none_grants_nothing(permission: object) -> None:
    overwrites: list[Json] = [{"id": GUILD, "allow": permission, "deny": None}, {}]
    roles: list[Json] = [{"id": GUILD, "permissions": permission}, {}]
    found = in_channel(roles, {}, {"permission_overwrites": overwrites}, GUILD)
    assert found == 0 or str(permission).isdecimal()


def test_a_forum_is_written_in_by_threads_alone() -> None:
    assert "Send Messages" in needed_in({"type": 0})
    assert "Send Messages" not in needed_in({"type": 15})
    assert "Send Messages in Threads" in needed_in({"type": 15})


def test_an_invitation_asks_for_what_is_needed_and_useful_and_no_more() -> None:
    assert sum(1 << place for place in (NEEDED | USEFUL).values()) == PERMISSIONS

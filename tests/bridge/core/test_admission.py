"""Who and what is admitted, in one order."""

from typing import Any

import pytest

from clankie_bridge.core.admission import Policy, Refusal, is_empty, is_room_talk, judge, judge_command
from clankie_bridge.core.commands import Invocation
from clankie_bridge.core.message import Author, Forward, Message, Poll
from tests.bridge.core.builders import ANN, BOT, CHANNEL, GUILD, author, message, picture

OPEN = Policy(guilds=frozenset({GUILD}))


def dm(**more: Any) -> Message:
    return message("hello", guild_id=None, **more)


@pytest.mark.requirement("ING-1")
@pytest.mark.parametrize(
    ("said", "policy", "reason"),
    [
        (message("hi"), OPEN, None),
        (message("hi", author=author(BOT)), OPEN, Refusal.OWN_MESSAGE),
        (message("hi", author=author(is_bot=True)), OPEN, Refusal.BOT),
        (message("hi", author=author(is_webhook=True)), OPEN, Refusal.BOT),
        (message("hi", author=author(is_bot=True)), Policy(guilds=OPEN.guilds, bots=True), None),
        (message("hi"), Policy(), Refusal.GUILD_NOT_ADMITTED),
        (message("hi"), Policy(guilds=frozenset({"*"})), None),
        (message("hi"), Policy(guilds=OPEN.guilds, channels=frozenset({"9"})), Refusal.CHANNEL_NOT_ADMITTED),
        (message("hi"), Policy(guilds=OPEN.guilds, channels=frozenset({CHANNEL})), None),
        (message("hi"), Policy(guilds=OPEN.guilds, users=frozenset({"9"})), Refusal.ACTOR_NOT_ADMITTED),
        (message("hi"), Policy(guilds=OPEN.guilds, users=frozenset({ANN})), None),
        (message("hi"), Policy(guilds=OPEN.guilds, roles=frozenset({"7"})), Refusal.ACTOR_NOT_ADMITTED),
        (message("hi", author=author(role_ids=("7",))), Policy(guilds=OPEN.guilds, roles=frozenset({"7"})), None),
        (message("\u200b \n"), OPEN, Refusal.EMPTY),
        (dm(), Policy(), Refusal.DM_POLICY),
        (dm(), Policy(dms="owner", owner_id=ANN), None),
        (dm(), Policy(dms="owner", owner_id="9", users=frozenset({ANN})), Refusal.DM_POLICY),
        (dm(), Policy(dms="allowlist", users=frozenset({ANN})), None),
        (dm(), Policy(dms="allowlist", owner_id=ANN), None),
        (dm(), Policy(dms="allowlist", users=frozenset({"9"})), Refusal.DM_POLICY),
    ],
)
def test_each_list_admits_and_refuses(said: Message, policy: Policy, reason: Refusal | None) -> None:
    assert judge(said, policy, BOT, None) is reason


@pytest.mark.requirement("ING-1")
@pytest.mark.parametrize("kind", [6, 7, 8, 18, 20, 21, 22, 23, 24, 46, 999])
def test_system_messages_and_command_replies_are_no_speech(kind: int) -> None:
    assert judge(message(f"<@{BOT}>", type=kind), OPEN, BOT, None) is Refusal.SYSTEM_MESSAGE


@pytest.mark.requirement("ING-1")
def test_a_thread_is_admitted_by_its_parent() -> None:
    policy = Policy(guilds=OPEN.guilds, channels=frozenset({"77"}))
    assert judge(message("hi", channel_type=11), policy, BOT, "77") is None
    assert judge(message("hi", channel_type=11), policy, BOT, "78") is Refusal.CHANNEL_NOT_ADMITTED


@pytest.mark.requirement("ING-1")
def test_the_first_of_several_reasons_is_the_one_given() -> None:
    said = message("", type=7, author=author(is_bot=True))
    order = [
        judge(message("", type=7, author=author(BOT, is_bot=True)), Policy(), BOT, None),
        judge(said, Policy(), BOT, None),
        judge(said, Policy(bots=True), BOT, None),
        judge(message("", author=author(is_bot=True)), Policy(bots=True), BOT, None),
        judge(message(""), Policy(guilds=OPEN.guilds, channels=frozenset({"9"})), BOT, None),
        judge(message(""), Policy(guilds=OPEN.guilds, users=frozenset({"9"})), BOT, None),
        judge(message(""), OPEN, BOT, None),
    ]
    assert order == [
        Refusal.OWN_MESSAGE,
        Refusal.BOT,
        Refusal.SYSTEM_MESSAGE,
        Refusal.GUILD_NOT_ADMITTED,
        Refusal.CHANNEL_NOT_ADMITTED,
        Refusal.ACTOR_NOT_ADMITTED,
        Refusal.EMPTY,
    ]


@pytest.mark.parametrize(
    ("said", "empty"),
    [
        (message(""), True),
        (message("x"), False),
        (message("", files=(picture(),)), False),
        (message("", stickers=("wave",)), False),
        (message("", poll=Poll("?")), False),
        (message("", voice_seconds=0), False),
        (message("", forward=Forward("words")), False),
        (message("", forward=Forward(files=(picture(),))), False),
        (message("", forward=Forward("\u200b")), True),
    ],
)
def test_a_message_is_empty_only_where_nobody_sees_anything(said: Message, empty: bool) -> None:
    assert is_empty(said) is empty


@pytest.mark.parametrize(
    ("said", "policy", "is_talk"),
    [
        (message("hi", author=author(BOT)), OPEN, True),
        (message("hi", author=author(is_bot=True)), OPEN, True),
        (message("", type=21), OPEN, True),
        (message("", type=20), OPEN, True),
        (message("", type=7), OPEN, False),
        (message("hi"), Policy(), False),
        (dm(author=author(BOT)), Policy(), True),
        (dm(), Policy(), False),
    ],
)
def test_talk_of_a_room_is_what_people_and_bots_say_there(said: Message, policy: Policy, is_talk: bool) -> None:
    assert is_room_talk(said, policy, BOT, None) is is_talk


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize(
    ("guild_id", "who", "policy", "reason"),
    [
        ("1", "5", Policy(guilds=frozenset({"1"})), None),
        ("1", "5", Policy(), Refusal.GUILD_NOT_ADMITTED),
        ("1", "5", Policy(guilds=frozenset({"*"}), users=frozenset({"6"})), Refusal.ACTOR_NOT_ADMITTED),
        (None, "5", Policy(dms="owner", owner_id="5"), None),
        (None, "6", Policy(dms="owner", owner_id="5"), Refusal.DM_POLICY),
    ],
)
def test_a_command_is_admitted_by_its_place_and_giver(
    guild_id: str | None, who: str, policy: Policy, reason: Refusal | None
) -> None:
    given = Invocation("1", "2", "t", "stop", Author(who, "Ann"), "10", guild_id)
    assert judge_command(given, policy, None) is reason

"""A message as the captain gets it."""

from dataclasses import replace

import pytest

from clankie_bridge.core.addressing import Address
from clankie_bridge.core.commands import Invocation, command_name
from clankie_bridge.core.handover import DELETED, Heard, Place, actor, opened, place_of_command, trigger
from clankie_bridge.core.message import Forward, Message, Poll, Reference
from clankie_settings.ids import PresenceId
from clankie_settings.wire.trigger import Trigger
from tests.bridge.core.builders import ANN, BOT, CHANNEL, GUILD, IDENTITY, ROLE, answering, author, message, picture

CALLED = Address("mention", addressed=True)
DISCORD = PresenceId("discord")


def handed(said: Message, *window: Message, place: Place | None = None) -> Trigger:
    return trigger(Heard(said, CALLED, window), IDENTITY, place or Place(), DISCORD)


def test_a_message_is_handed_over_under_its_own_id_with_who_and_where() -> None:
    said = message("hi", author=author(role_ids=("7",) * 101))
    made = handed(said, place=Place("5", "The Stage", "general"))
    assert (made.delivery_id, made.message_id, made.kind, made.addressed) == ("100", "100", "mention", True)
    assert (made.room.guild_id, made.room.channel_id, made.room.parent_id) == (GUILD, CHANNEL, "5")
    assert (made.actor.actor_id, made.actor.display_name, len(made.actor.role_ids)) == (ANN, "Ann", 100)


@pytest.mark.requirement("ING-6")
@pytest.mark.parametrize(
    ("said", "body"),
    [
        (message(f"<@{BOT}>"), "@Clankie"),
        (message(f"<@!{BOT}>  "), "@Clankie"),
        (message(f"<@&{ROLE}> hi"), "@Clankie hi"),
        (message("<@7> and <@8>", mentions={"7": "Bob"}), "@Bob and <@8>"),
        (message("<@&9> hi", mentions={"9": "Bob"}), "<@&9> hi"),
        (message("", stickers=("wave",)), "[sticker: wave]"),
        (message("", poll=Poll("Tea?", ("yes", "no"))), "[poll: Tea?]\n- yes\n- no"),
        (message("", voice_seconds=3), "[voice message, 3 s]"),
        (message("look", forward=Forward("words")), "look\n[forwarded] words"),
        (message("x" * 20_000), "x" * 16_384),
    ],
)
def test_the_body_says_what_was_said(said: Message, body: str) -> None:
    assert handed(said).body == body


@pytest.mark.requirement("WIRE-2")
def test_a_picture_without_words_has_no_body() -> None:
    made = handed(message(" \u200b", files=(picture(),)))
    assert made.body is None
    assert "body" not in made.model_dump_json(exclude_none=True)


@pytest.mark.parametrize(("count", "body"), [(1, "[a file]"), (2, "[2 files]")])
def test_files_that_cannot_come_along_are_still_said(count: int, body: str) -> None:
    files = tuple(picture(each, media_type="application/zip") for each in range(count))
    made = handed(message("", files=files))
    assert (made.body, made.attachments_omitted.unsupported) == (body, count)


@pytest.mark.requirement("CTX-1")
def test_the_backlog_is_the_last_twelve_before_the_message_oldest_first_with_his_own_marked() -> None:
    window = [message(f"m{each}", each) for each in range(1, 15)]
    window[13] = message("mine", 14, author=author(BOT))
    made = handed(message("hi"), *reversed(window), message("later", 200), message("hi"))
    assert [each.message_id for each in made.context] == [str(each) for each in range(3, 15)]
    assert [each.is_self for each in made.context] == [False] * 11 + [True]


def test_what_is_answered_comes_along_with_its_picture() -> None:
    target = message("see", 50, files=(picture(),))
    made = handed(message("what is this?", **answering(target)), message("", 60, files=(picture(2),)))
    assert made.reply_to is not None
    assert made.reply_to.body == "see"
    assert made.context_visual is not None
    assert made.context_visual.message_id == "50"


def test_a_message_that_answers_itself_or_nothing_has_no_target() -> None:
    said = message("hi", 100)
    assert handed(replace(said, **answering(said))).reply_to is None
    assert handed(message("hi", **answering(None))).reply_to is None


@pytest.mark.requirement("CTX-6")
@pytest.mark.parametrize("said", [f"<@{BOT}>", f"<@!{BOT}>  ", f"<@&{ROLE}>?", "clankie?", "Clankie!!", "Mr. C…"])
def test_a_bare_call_points_at_what_its_author_said_last(said: str) -> None:
    """C24: a call without words is about what its author said before."""
    window = (message("the question", 10), message("Bob's", 20, author=author("7")), message("clankie?", 30))
    made = handed(message(said), *window)
    assert made.reply_to is not None
    assert (made.reply_to.message_id, made.reply_to.body) == ("10", "the question")
    assert made.body


@pytest.mark.requirement("CTX-6")
@pytest.mark.parametrize(
    "said",
    [
        message("clankie, and you?"),
        message("@Clankie 👍"),
        message(f"<@{BOT}> <@7>"),
        message("clankie?", files=(picture(media_type="application/zip"),)),
        message(f"<@{BOT}>", stickers=("wave",)),
        message("", files=(picture(),)),
    ],
)
def test_a_call_with_words_or_anything_else_points_at_nothing(said: Message) -> None:
    assert handed(said, message("the question", 10)).reply_to is None


@pytest.mark.requirement("CTX-6")
def test_a_bare_call_points_at_nothing_where_its_author_said_nothing_or_answers_something() -> None:
    assert handed(message("clankie?"), message("Bob's", 20, author=author("7"))).reply_to is None
    unaddressed = Heard(message("clankie?"), Address("message", addressed=False), (message("words", 10),))
    assert trigger(unaddressed, IDENTITY, Place(), DISCORD).reply_to is None
    answer = handed(message("clankie?", **answering(message("target", 5))), message("the question", 10))
    assert answer.reply_to is not None
    assert answer.reply_to.message_id == "5"


@pytest.mark.requirement("CTX-6")
def test_an_answered_message_that_was_deleted_is_said_to_be_gone() -> None:
    """C57."""
    made = handed(message("what was that?", **answering(None, "50", gone=True)))
    assert made.reply_to is not None
    assert (made.reply_to.message_id, made.reply_to.body, made.reply_to.is_self) == ("50", DELETED, False)


@pytest.mark.requirement("CTX-6")
@pytest.mark.parametrize(
    "target",
    [
        message("", 50, files=(picture(1),)),
        message("", 50, forward=Forward("", (picture(1),))),
        message("", 50, files=(picture(1),), author=author(BOT)),
    ],
)
def test_the_picture_of_what_is_answered_outranks_a_newer_one(target: Message) -> None:
    """C57: a person's picture, one that was passed on, and his own."""
    made = handed(message("what is this?", **answering(target)), message("", 60, files=(picture(2),)))
    assert made.context_visual is not None
    assert made.context_visual.attachment is not None
    assert made.context_visual.attachment.id == "1"


def test_four_pictures_of_ones_own_leave_no_place_for_another() -> None:
    own = message("these", files=tuple(picture(each) for each in range(2, 6)))
    assert handed(own, message("", 60, files=(picture(1),))).context_visual is None


def test_a_threads_starter_stands_for_what_the_thread_hangs_on() -> None:
    opener = message("the post", 10, channel_id="1")
    starter = message("", 20, type=21, reference=Reference("10", opener))
    assert [each.body for each in handed(message("hi"), starter).context] == ["the post"]
    assert opened(replace(starter, reference=Reference("10"))) is None
    assert opened(replace(starter, reference=None)) is None


def test_a_channel_type_tells_a_thread() -> None:
    assert message("hi", channel_type=11).in_thread
    assert not message("hi", channel_type=0).in_thread


@pytest.mark.requirement("OPS-5")
def test_a_command_comes_from_a_room_and_from_somebody_as_messages_do() -> None:
    given = Invocation("1", BOT, "t", "stop", author(role_ids=("7",)), CHANNEL, GUILD)
    room = place_of_command(given, Place("4", "The Stage", "general"), "5")
    assert (room.guild_id, room.channel_id, room.parent_id, room.channel_name) == (GUILD, CHANNEL, "5", "general")
    assert (actor(given.author).actor_id, actor(given.author).role_ids) == (ANN, ("7",))


@pytest.mark.requirement("OPS-5")
def test_only_our_own_commands_have_a_name() -> None:
    assert [command_name(each) for each in ("stop", "quiet", "ban", "")] == ["stop", "quiet", None, None]

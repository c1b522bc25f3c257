"""What stands in a room already is told apart from what only reads like it."""

import pytest

from clankie_bridge.core.message import REPLY, Author, File, Message, Reference, first_id_at, id_before, written_at
from clankie_bridge.core.render import Part, TextFile, Words
from clankie_bridge.core.traces import found

ROOM, HIM = "9", Author("1", "Clankie", is_bot=True)
LONG = "the rest ü"


def own(number: int, content: str, reply_to: str | None = None, *files: File) -> Message:
    """A message of his with this id."""
    reference = None if reply_to is None else Reference(reply_to)
    return Message(
        id=str(number),
        channel_id=ROOM,
        author=HIM,
        sent_at=written_at(str(number)),
        type=REPLY if reply_to else 0,
        content=content,
        files=files,
        reference=reference,
    )


TEXT_FILE = File("1", "https://cdn.discordapp.com/x", filename="reply.txt", byte_size=len(LONG.encode()))
WHOLE: tuple[Part, ...] = (Words("one"), Words("two"), TextFile(LONG))


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((), (None, None, None)),
        ((own(11, "one", "10"),), ("11", None, None)),
        ((own(11, "one", "10"), own(12, "two"), own(13, "", None, TEXT_FILE)), ("11", "12", "13")),
        ((own(11, " one\n", "10"), own(12, "something else"), own(13, "two")), ("11", "13", None)),
        ((own(11, "one", "8"), own(12, "one")), (None, None, None)),
        (
            (own(11, "one", "10"), own(12, "", None, File("1", "x", filename="reply.txt", byte_size=3))),
            ("11", None, None),
        ),
        ((own(11, "two"), own(12, "one", "10")), ("12", None, None)),
        ((own(12, "two"),), (None, "12", None)),
    ],
)
def test_each_part_is_found_by_its_words_its_reference_and_its_order(
    there: tuple[Message, ...], expected: tuple[str | None, ...]
) -> None:
    assert found(there, WHOLE, "10") == expected


def test_parts_that_read_alike_are_told_apart_by_their_order() -> None:
    alike = (Words("same"), Words("same"), Words("same"))
    assert found([own(11, "same", "10"), own(12, "same")], alike, "10") == ("11", "12", None)


def test_a_reply_without_its_reference_counts_where_its_target_is_gone() -> None:
    assert found([own(11, "one")], WHOLE[:1], "10", target_gone=True) == ("11",)
    assert found([own(11, "one", "8")], WHOLE[:1], "10", target_gone=True) == (None,)


def test_words_that_answer_nothing_are_found_without_a_reference_alone() -> None:
    assert found([own(11, "one", "10"), own(12, "one")], WHOLE[:1], None) == ("12",)


def test_ids_tell_the_time_and_their_neighbours() -> None:
    moment = written_at("1310000000000000100")
    assert int(first_id_at(moment)) <= 1310000000000000100 < int(first_id_at(moment)) + (1 << 22)
    assert (id_before("10"), id_before("0"), id_before("hello-1")) == ("9", "0", "0")


@pytest.mark.parametrize("note", ["", "\n\n(I could not attach 2 pictures: they are too large for Discord.)"])
def test_words_are_known_again_whatever_they_say_of_pictures(note: str) -> None:
    assert found([own(11, "one", "10"), own(12, f"two{note}")], WHOLE, "10") == ("11", "12", None)

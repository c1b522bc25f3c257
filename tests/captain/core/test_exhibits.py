"""What is said of pictures in the prompt, and in which order they are shown."""

import pytest

from clankie_captain.core import exhibits
from clankie_captain.core.exhibits import POSTED, WHY, PictureCounts, counted, note, parts_of, picture_key
from clankie_captain.core.pictures import NO_PICTURES, Origin, Pictures, Shown, Stored, Unseen, all_unseen, sources
from clankie_settings.wire.attachment import Attachment, AttachmentsOmitted
from clankie_settings.wire.trigger import ContextMessage, ContextVisual
from tests.captain.core.speech import NOON, trigger

pytestmark = pytest.mark.requirement("IMG-4", "IMG-6")

NOTHING: frozenset[str] = frozenset()
BEFORE = ContextMessage(message_id="399", author_id="12", author_name="Bob", body="see", sent_at=NOON)


def attachment(name: str) -> Attachment:
    return Attachment(id=name, url=f"https://cdn.discordapp.com/{name}", media_type="image/png", filename="SECRET.png")


def stored(name: str) -> Stored:
    return Stored(name * 64, "image/png", 2, 1, 9)


def shown(*names: str, origin: Origin = "message", still: bool = False) -> Shown:
    return Shown(origin, tuple(stored(name) for name in names), still)


def visual(name: str | None = "v", omitted: int = 0) -> ContextVisual:
    return ContextVisual(message_id="399", attachment=attachment(name) if name else None, omitted=omitted)


PLAIN = trigger("400", "look", attachments=(attachment("a"), attachment("b")))
TALK = trigger("400", "look", context=(BEFORE,), context_visual=visual())


def test_of_words_alone_nothing_is_said_and_nothing_shown() -> None:
    assert note(trigger(), NO_PICTURES, NOTHING) == ""
    assert exhibits.exhibits(trigger(), NO_PICTURES, NOTHING) == ()
    assert sources(trigger()) == ()


def test_pictures_come_behind_their_captions_and_one_warning() -> None:
    """C50: of a file nothing is said, its name least of all."""
    pictures = Pictures((shown("a"), shown("b", "c", "d"), shown("e", still=True)))
    assert exhibits.exhibits(PLAIN, pictures, NOTHING) == (
        f"{POSTED}\nPicture 1, of the message 400:",
        stored("a"),
        "Picture 2, of the message 400, moves. 3 frames of it, in their order:",
        stored("b"),
        stored("c"),
        stored("d"),
        "Picture 3, of the message 400, moves. Only one still of it is there:",
        stored("e"),
    )
    assert note(PLAIN, pictures, NOTHING) == "The next message carries 3 pictures, shown below it."
    assert parts_of(exhibits.exhibits(PLAIN, pictures, NOTHING)) == pictures.parts


@pytest.mark.parametrize(
    ("pictures", "said"),
    [
        (Pictures((shown("a"),)), "The next message carries 1 picture, shown below it."),
        (
            Pictures(unseen=(Unseen("message", "expired"),)),
            "The next message carries 1 attachment that you cannot see (no longer there); say so where it matters.",
        ),
        (
            Pictures((shown("a"),), (Unseen("message", "broken"), Unseen("message", "broken"))),
            "The next message carries 1 picture, shown below it, and 2 attachments that you cannot see (damaged).",
        ),
        (
            Pictures(unseen=(Unseen("message", "timed_out"), Unseen("message", "broken"))),
            (
                "The next message carries 2 attachments that you cannot see (1 did not come in time, 1 damaged); "
                "say so where it matters."
            ),
        ),
    ],
)
def test_what_cannot_be_seen_is_counted_by_its_cause(pictures: Pictures, said: str) -> None:
    assert note(PLAIN, pictures, NOTHING) == said


def test_what_was_left_out_at_the_door_is_counted_as_well() -> None:
    message = trigger("400", "look", attachments_omitted=AttachmentsOmitted(unsupported=1, too_large=2))
    assert "3 attachments that you cannot see (1 of a kind that is not shown, 2 too large)" in note(
        message, NO_PICTURES, NOTHING
    )


@pytest.mark.requirement("IMG-8")
def test_with_pictures_off_he_is_told_that_there_are_some() -> None:
    assert note(PLAIN, all_unseen(PLAIN, "off"), NOTHING) == (
        "The next message carries 2 attachments that you cannot see (pictures are switched off); "
        "say so where it matters."
    )


def test_no_name_and_no_address_of_a_picture_is_ever_said() -> None:
    message = trigger("400", "look", attachments=(attachment("a"),), context=(BEFORE,), context_visual=visual())
    for cause in WHY:
        said = note(message, all_unseen(message, cause), NOTHING)
        assert WHY[cause] in said
        assert not any(each in said for each in ("SECRET", "http", "cdn"))


def test_records_tell_what_a_rule_left_out_from_what_could_not_be_had() -> None:
    left = AttachmentsOmitted(unsupported=1, too_large=1, over_limit=1)
    message = trigger("400", "look", attachments_omitted=left, context=(BEFORE,), context_visual=visual(omitted=2))
    unseen = Pictures((shown("a"),), (Unseen("message", "broken"), Unseen("message", "too_large")))
    counts = counted(message, unseen, NOTHING)
    assert counts == PictureCounts(shown=1, omitted=6, unresolved=1)
    assert counts.plus(counted(trigger(), NO_PICTURES, NOTHING)) == counts


@pytest.mark.requirement("CTX-5")
def test_the_picture_of_the_talk_is_shown_with_its_source_named() -> None:
    pictures = Pictures((shown("v", origin="context"),))
    assert (
        note(TALK, pictures, NOTHING) == "The newest picture of the talk, in the message 399, is shown below as well."
    )
    assert exhibits.exhibits(TALK, pictures, NOTHING)[0] == f"{POSTED}\nPicture 1, of the message 399:"


@pytest.mark.requirement("CTX-5")
def test_a_picture_of_the_talk_that_was_shown_before_is_not_shown_again() -> None:
    pictures, known = Pictures((shown("v", origin="context"),)), {picture_key("v")}
    assert exhibits.exhibits(TALK, pictures, known) == ()
    assert note(TALK, pictures, known) == "The picture in the message 399 was shown to you before."
    unseen = Pictures(unseen=(Unseen("context", "expired"),))
    assert note(TALK, unseen, known) == "The picture in the message 399 was shown to you before."


@pytest.mark.requirement("CTX-5")
@pytest.mark.parametrize(
    ("seen", "pictures", "said"),
    [
        (
            visual(),
            Pictures(unseen=(Unseen("context", "expired"),)),
            "The message 399 carries 1 attachment that you cannot see (no longer there).",
        ),
        (
            visual(omitted=2),
            Pictures((shown("v", origin="context"),)),
            (
                "The newest picture of the talk, in the message 399, is shown below as well. "
                "The message 399 carries 2 more attachments that you cannot see (more than are shown at once)."
            ),
        ),
        (
            visual(None, 1),
            NO_PICTURES,
            "The message 399 carries 1 attachment that you cannot see (more than are shown at once).",
        ),
        (visual(None), NO_PICTURES, ""),
    ],
)
def test_what_cannot_be_seen_of_the_talk_is_counted_apart(seen: ContextVisual, pictures: Pictures, said: str) -> None:
    message = trigger("400", "look", context=(BEFORE,), context_visual=seen)
    assert note(message, pictures, NOTHING) == said

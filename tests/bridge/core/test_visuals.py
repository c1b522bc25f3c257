"""Which pictures come along, and how the rest is counted."""

import pytest

from clankie_bridge.core.message import Forward, Gifv
from clankie_bridge.core.visuals import NOTHING, newest, select
from clankie_settings.wire.attachment import AttachmentsOmitted
from tests.bridge.core.builders import message, picture

pytestmark = pytest.mark.requirement("IMG-1")

GIFV = Gifv("1.embed0", "https://media.example/x.webp?a=1", None, "https://media.example/x.mp4")
TOO_LARGE = picture(9, byte_size=8 * 1024 * 1024 + 1)
ARCHIVE = picture(8, media_type="application/zip", filename="a.zip")


def test_a_message_without_files_selects_nothing() -> None:
    assert select(message("hi")) is NOTHING


def test_pictures_come_first_then_gifs_and_the_rest_is_counted_by_cause() -> None:
    files = (ARCHIVE, TOO_LARGE, picture(1), picture(2), picture(3))
    chosen = select(message("", files=files, gifvs=(GIFV, Gifv("1.embed1", "https://media.example/y"))))
    assert [each.id for each in chosen.attachments] == ["1", "2", "3", "1.embed0"]
    assert chosen.omitted == AttachmentsOmitted(unsupported=1, too_large=1, over_limit=1)
    assert chosen.left_out == 3


@pytest.mark.parametrize(
    ("claim", "name", "taken"),
    [
        ("image/jpg", "a.bin", "image/jpeg"),
        ("image/svg+xml", "a.png", None),
        (None, "a.WEBP", "image/webp"),
        (None, "a.txt", None),
        (None, None, None),
    ],
)
def test_the_type_is_the_claim_or_without_one_the_names_suffix(
    claim: str | None, name: str | None, taken: str | None
) -> None:
    chosen = select(message("", files=(picture(media_type=claim, filename=name),)))
    assert [each.media_type for each in chosen.attachments] == ([taken] if taken else [])


def test_a_gif_keeps_its_still_and_its_moving_form() -> None:
    (taken,) = select(message("", gifvs=(GIFV,))).attachments
    assert (taken.url, taken.motion_url, taken.media_type) == (GIFV.url, GIFV.motion_url, "image/webp")


def test_an_address_that_the_wire_would_refuse_costs_only_itself() -> None:
    long = "https://media.example/" + "x" * 2_048
    said = message(
        "",
        files=(picture(1, url=long), picture(2, url="nowhere")),
        gifvs=(Gifv("g", long), Gifv("h", GIFV.url, None, long)),
    )
    chosen = select(said)
    assert [(each.id, each.motion_url) for each in chosen.attachments] == [("h", None)]
    assert chosen.omitted.unsupported == 3


def test_the_same_file_counts_once_and_an_unknown_size_is_no_obstacle() -> None:
    chosen = select(message("", files=(picture(1, byte_size=None), picture(1)), gifvs=(GIFV, GIFV)))
    assert [(each.id, each.byte_size) for each in chosen.attachments] == [("1", None), ("1.embed0", None)]


def test_what_was_forwarded_counts_after_the_messages_own() -> None:
    said = message("", files=(picture(1),), forward=Forward(files=(picture(2),), gifvs=(GIFV,)))
    assert [each.id for each in select(said).attachments] == ["1", "2", "1.embed0"]


def test_a_voice_message_is_no_unsupported_picture() -> None:
    assert select(message("", files=(picture(media_type="audio/ogg"),), voice_seconds=3)) is NOTHING


def test_the_newest_visual_of_the_window_is_carried() -> None:
    window = [message("", 1, files=(picture(1),)), message("", 2, files=(picture(2), ARCHIVE)), message("hi", 3)]
    visual = newest(window, None)
    assert visual is not None
    assert visual.attachment is not None
    assert (visual.message_id, visual.attachment.id, visual.omitted) == ("2", "2", 1)


def test_a_replied_to_picture_outranks_a_newer_one() -> None:
    visual = newest([message("", 5, files=(picture(5),))], message("", 1, files=(picture(1),)))
    assert visual is not None
    assert visual.message_id == "1"


def test_a_newest_visual_that_cannot_come_is_counted() -> None:
    visual = newest([message("", 5, files=(TOO_LARGE,))], message("words", 1))
    assert visual is not None
    assert (visual.message_id, visual.attachment, visual.omitted) == ("5", None, 1)


def test_a_window_without_visuals_has_none() -> None:
    assert newest([message("hi")], None) is None

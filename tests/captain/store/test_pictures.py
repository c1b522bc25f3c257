"""The rows that tell of pictures: ready with their delivery, carried once, and taken out of a history."""

import json

import pytest

from clankie_captain.core.exhibits import picture_key
from clankie_captain.core.pictures import PICTURES, Pictures, Shown, Stored, Unseen
from clankie_captain.core.run import Draft
from clankie_captain.core.stand_ins import GONE, stand_in
from clankie_captain.core.turns import Heard
from clankie_captain.errors import FencedError
from clankie_captain.store.pictures import PictureStore
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, MessageId
from clankie_settings.wire.attachment import Attachment
from clankie_settings.wire.trigger import ContextMessage, ContextVisual, Trigger, content_hash
from tests.captain.core.speech import NOON, trigger
from tests.captain.store.shelf import ASKED, DISCORD, OTHER_ROOM, Shelf

PART = Stored("a" * 64, "image/png", 2, 1, 9)
FOUND = Pictures((Shown("message", (PART,)),), (Unseen("context", "expired"),))
BEFORE = ContextMessage(message_id="399", author_id="12", author_name="Bob", body="see", sent_at=NOON)


def attachment(name: str) -> Attachment:
    return Attachment(id=name, url=f"https://cdn.discordapp.com/attachments/1/{name}/a.png", media_type="image/png")


def posted(delivery: str) -> Trigger:
    return posted_as(delivery, "a")


def posted_as(delivery: str, name: str) -> Trigger:
    return trigger(delivery, "look", attachments=(attachment(name),))


def about(delivery: str) -> Trigger:
    """A message that brings the picture of the talk before it."""
    visual = ContextVisual(message_id="399", attachment=attachment("v"))
    return trigger(delivery, "look", context=(BEFORE,), context_visual=visual)


@pytest.fixture
def pictures(shelf: Shelf) -> PictureStore:
    return PictureStore(shelf.database)


def test_pictures_read_back_as_they_were_stored() -> None:
    assert PICTURES.validate_json(PICTURES.dump_json(FOUND)) == FOUND


@pytest.mark.requirement("IMG-7", "LANE-16")
async def test_a_delivery_is_ready_with_its_pictures_and_words_alone_at_once(
    shelf: Shelf, pictures: PictureStore
) -> None:
    run = await shelf.started(posted("400"))
    await shelf.accept("401")
    assert [each.delivery for each in await pictures.open()] == ["400"]
    assert await pictures.unready(run) == await pictures.open()
    assert (await shelf.lanes.owner(run)).pictures is None
    await pictures.show(DISCORD, DeliveryId("400"), FOUND)
    assert await pictures.open() == ()
    assert (await shelf.lanes.owner(run)).pictures == FOUND
    assert [each.pictures for each in await shelf.lanes.take(run, NOON)] == [None]


@pytest.mark.requirement("IMG-7")
async def test_pictures_that_come_after_the_words_were_heard_change_nothing(
    shelf: Shelf, pictures: PictureStore
) -> None:
    run = await shelf.started(posted("400"))
    await shelf.hears_all(run)
    assert await pictures.open() == ()
    await pictures.show(DISCORD, DeliveryId("400"), FOUND)
    assert (await shelf.rows("SELECT pictures FROM delivery"))[0].pictures is None


@pytest.mark.requirement("CTX-5")
async def test_a_picture_of_the_talk_is_carried_once_its_lane_has_shown_it(
    shelf: Shelf, pictures: PictureStore
) -> None:
    said, key = about("400"), MessageId(picture_key("v"))
    run = await shelf.started(said)
    assert not await pictures.carried(DISCORD, said)
    assert key not in (await shelf.lanes.owner(run)).known
    heard = Heard(DISCORD, DeliveryId("400"), (MessageId("399"), key), content_hash(said))
    await shelf.lanes.record(run, [ASKED], [heard], NOON)
    later = about("401")
    await shelf.accept(later)
    assert await pictures.carried(DISCORD, later)
    (taken,) = await shelf.lanes.take(run, NOON + bounds.STEER_HOLD)
    assert key in taken.known
    elsewhere = about("402")
    await shelf.accept(elsewhere, OTHER_ROOM)
    assert not await pictures.carried(DISCORD, elsewhere)


@pytest.mark.requirement("CTX-5")
async def test_the_picture_of_a_message_that_speaks_for_itself_is_carried(shelf: Shelf, pictures: PictureStore) -> None:
    run = await shelf.started(posted("399"))
    said = about("400")
    await shelf.accept(said)
    assert await pictures.carried(DISCORD, said)
    (taken,) = await shelf.lanes.take(run, NOON + bounds.STEER_HOLD)
    assert picture_key("v") in taken.known
    assert not await pictures.carried(DISCORD, posted("399"))


@pytest.mark.requirement("CTX-5", "CTX-8")
async def test_a_picture_that_was_cut_off_is_shown_again(shelf: Shelf, pictures: PictureStore) -> None:
    run = await shelf.started(posted_as("399", "v"))
    await shelf.hears_all(run)
    said = about("400")
    await shelf.accept(said)
    assert await pictures.carried(DISCORD, said)
    await shelf.lanes.cut(run, 0)
    assert not await pictures.carried(DISCORD, said)
    (taken,) = await shelf.lanes.take(run, NOON + bounds.STEER_HOLD)
    assert "399" in taken.known
    assert picture_key("v") not in taken.known


@pytest.mark.requirement("LANE-14")
async def test_words_stand_in_the_history_of_one_lane_where_a_picture_stood(
    shelf: Shelf, pictures: PictureStore
) -> None:
    gone, stays = stand_in(PART, DeliveryId("400")), stand_in(PART, DeliveryId("401"))
    content = ["look", {"url": gone, "kind": "image-url"}, {"url": stays, "kind": "image-url"}]
    shown = Draft("request", json.dumps({"parts": [{"content": content}]}, separators=(",", ":")))
    said = Draft("response", json.dumps({"parts": [{"content": gone}]}))
    run, other = await shelf.started("400"), await shelf.started("500", OTHER_ROOM)
    for each in (run, other):
        await shelf.hears_all(each)
        await shelf.lanes.record(each, [shown, said], [], NOON)
    await pictures.unsee(run, [gone])
    _, here, answer = await shelf.lanes.history(run)
    assert json.loads(here.payload)["parts"][0]["content"] == ["look", GONE, content[2]]
    assert answer.payload == said.payload
    assert (await shelf.lanes.history(other))[1].payload == shown.payload


@pytest.mark.requirement("LANE-2", "LANE-14")
async def test_a_run_that_lost_its_lane_takes_no_picture_out_of_it(shelf: Shelf, pictures: PictureStore) -> None:
    run = await shelf.started("400")
    await shelf.hears_all(run)
    await shelf.ended(run)
    with pytest.raises(FencedError):
        await pictures.unsee(run, [stand_in(PART, DeliveryId("400"))])

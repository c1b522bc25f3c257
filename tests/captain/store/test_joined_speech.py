"""Typed words that join an utterance: one answer for both, aloud, or in text where its voice has gone."""

from datetime import datetime

import pytest

from clankie_captain.core.voice import RoomAsking
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.receipt import Receipt
from clankie_settings.wire.result import Absorbed, Replied
from tests.captain.core.speech import GUILD_ROOM, NOON
from tests.captain.store.shelf import DISCORD
from tests.captain.store.stand import EAR, LATE, OTHER, TTL, VOICE, Stand, utterance


@pytest.mark.requirement("VOX-1", "VOX-2")
async def test_typed_words_that_join_an_utterances_run_are_answered_by_its_reply(stand: Stand) -> None:
    await stand.hold()
    run = await stand.shelf.started(utterance("u1"), VOICE)
    await stand.shelf.accept("400")
    ended = await stand.answered(run)
    (_, reply), (_, absorbed) = ended.results
    assert isinstance(reply, Replied)
    assert isinstance(absorbed, Absorbed)
    assert (reply.owed, absorbed.answered_by, await stand.speaks()) == (True, "u1", [])


@pytest.mark.requirement("VOX-2")
@pytest.mark.parametrize("settles", [NOON, LATE], ids=["before the lease ends", "after it"])
async def test_typed_words_that_joined_an_utterance_are_answered_in_text_when_its_voice_goes(
    stand: Stand, settles: datetime
) -> None:
    await stand.hold()
    run = await stand.shelf.started(utterance("u1"), VOICE)
    await stand.shelf.accept(utterance("u2", OTHER), VOICE)
    for delivery in ("400", "401"):
        await stand.shelf.accept(delivery)
    await stand.answered(run, at=settles)
    lapsed = await stand.rooms.lapse(LATE)
    assert lapsed.posts == ({DISCORD} if settles == NOON else frozenset())
    (post,) = await stand.posts()
    assert (post.text, post.delivery_id, post.reply_to, post.room) == ("Nine.", "400", "400", GUILD_ROOM)
    reply = (await stand.shelf.deliveries.find(EAR, DeliveryId("u1"))).result
    assert isinstance(reply, Replied)
    assert not reply.owed
    await stand.hold(OTHER, at=LATE)
    await stand.rooms.lapse(LATE + TTL)
    assert len(await stand.posts()) == 1


@pytest.mark.requirement("VOX-2")
@pytest.mark.parametrize("said", [True, False])
async def test_an_utterance_that_was_answered_aloud_or_that_nothing_joined_is_never_posted(
    stand: Stand, said: bool
) -> None:
    await stand.hold()
    run = await stand.shelf.started(utterance("u1"), VOICE)
    if said:
        await stand.shelf.accept("400")
    await stand.answered(run)
    if said:
        spoken = Receipt(part=1, of=1, message_id="s1", posted_at=NOON)
        await stand.shelf.deliveries.receive(EAR, DeliveryId("u1"), spoken)
    await stand.rooms.ask("200:302", RoomAsking(EAR, TTL), NOON)
    await stand.rooms.lapse(LATE)
    assert await stand.posts() == []
    assert bool((await stand.shelf.deliveries.owed(EAR)).turns) == (not said)

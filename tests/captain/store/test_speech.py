"""A room that a voice holds: whose its typed words are, who answers them, and that nothing is lost or said twice."""

import json
from datetime import timedelta

import pytest

from clankie_captain.core.commands import Deed, Hush
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.reply import Missing, Silence
from clankie_captain.core.voice import RoomAsking
from clankie_captain.errors import LaneBusyError, SupersededActionError
from clankie_captain.ports.voice import Lapsed, RoomHeld, RoomRefused
from clankie_captain.store.album import Album
from clankie_captain.store.control import ControlStore
from clankie_captain.store.forgetting import Forgetting
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import ActionId, DeliveryId, LaneId, PresenceId, RunId, TurnId
from clankie_settings.wire.attachment import Attachment
from clankie_settings.wire.command import Command
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.result import Absorbed, Failed
from tests.captain.core.speech import ANN, BOB, GUILD_ROOM, NOON, trigger
from tests.captain.store.shelf import DISCORD, ROOM
from tests.captain.store.stand import EAR, HERE, LATE, OTHER, SPOKEN, TTL, VOICE, Stand, utterance


@pytest.mark.requirement("VOX-2")
async def test_typed_words_go_to_the_voice_lane_while_a_voice_holds_the_room(stand: Stand) -> None:
    await stand.hold()
    first = await stand.shelf.accept("400")
    assert (first.turn.lane, first.turn.state) == (VOICE.id, "live")
    second = await stand.shelf.accept("401", actor=BOB)
    assert (second.turn.lane, second.turn.state) == (VOICE.id, "steer")


@pytest.mark.requirement("VOX-2")
async def test_a_message_with_a_picture_stays_text(stand: Stand) -> None:
    await stand.hold()
    picture = Attachment(id="1", url="https://cdn.discordapp.com/a.png", media_type="image/png")
    assert (await stand.shelf.accept("400", attachments=(picture,))).turn.lane == ROOM.id


@pytest.mark.requirement("VOX-2")
async def test_a_live_text_run_keeps_its_steers_and_posts(stand: Stand) -> None:
    run = await stand.shelf.started("400")
    await stand.hold()
    joined = await stand.shelf.accept("401", actor=BOB)
    assert (joined.turn.lane, joined.turn.state) == (ROOM.id, "steer")
    ended = await stand.answered(run)
    (_, reply), (_, absorbed) = ended.results
    assert (reply.state, reply.owed, absorbed.state) == ("replied", True, "absorbed")
    assert await stand.speaks() == []
    assert (await stand.shelf.accept("402")).turn.lane == VOICE.id


async def test_what_would_wait_for_a_text_lane_goes_to_the_voice_instead(stand: Stand) -> None:
    """Where a room thinks in one loop another speaker's words never join the live run."""
    loop = LaneKey(LaneId(f"{ROOM.id}~0123456789abcdef"), "room", "social")
    await stand.shelf.started("400", loop)
    await stand.hold()
    assert (await stand.shelf.accept("401", loop, actor=ANN)).turn.lane == loop.id
    assert (await stand.shelf.accept("402", loop, actor=BOB)).turn.lane == VOICE.id


async def test_a_one_shot_keeps_its_sender_and_a_new_one_is_the_voices_without_leaving_a_lane(stand: Stand) -> None:
    def fresh(delivery: str) -> LaneKey:
        return LaneKey(LaneId(f"turns/discord:200:300~{delivery}/turn_{delivery}"), "one_shot", "system")

    live = await stand.shelf.started("400", fresh("400"))
    await stand.hold()
    assert (await stand.shelf.accept("401", fresh("401"))).turn.lane == live.lane.id
    assert (await stand.shelf.accept("402", fresh("402"), actor=BOB)).turn.lane == VOICE.id
    lanes = {row.id for row in await stand.shelf.rows("SELECT id FROM lane")}
    assert lanes == {live.lane.id, VOICE.id}


async def test_stop_ends_the_text_run_that_its_author_speaks_in(stand: Stand) -> None:
    run = await stand.shelf.started("400")
    await stand.hold()
    assert (await stand.shelf.accept("401", body="stop")).stops == run.run
    assert (await stand.shelf.accept("402", body="stop", actor=BOB)).turn.lane == ROOM.id


async def test_stop_ends_the_voice_run_that_its_author_speaks_in(stand: Stand) -> None:
    await stand.hold()
    run = await stand.shelf.started("400")
    assert (run.lane, (await stand.shelf.accept("401", body="stop")).stops) == (VOICE, run.run)


async def test_a_room_that_was_told_to_be_quiet_is_quiet_aloud_as_well(stand: Stand) -> None:
    command = Command(command_id="c1", name="quiet", room=GUILD_ROOM, actor=ANN)
    until = NOON + timedelta(hours=1)
    await ControlStore(stand.shelf.database).carry_out(
        DISCORD, command, ROOM, NOON, lambda _: Deed("quiet", Hush(until))
    )
    await stand.hold()
    accepted = await stand.shelf.accept("400")
    assert isinstance(accepted.turn.result, Failed)


@pytest.mark.requirement("VOX-2")
async def test_a_reply_to_typed_words_is_spoken_and_the_turn_owed_nothing(stand: Stand) -> None:
    await stand.hold()
    ended = await stand.answered(await stand.shelf.started("400"))
    ((presence, result),) = ended.results
    assert isinstance(result, Absorbed)
    assert (presence, result.owed, result.answered_by, ended.posts) == (DISCORD, False, "400", {EAR})
    (speak,) = await stand.speaks()
    assert (speak.text, speak.delivery_id, speak.room) == ("Nine.", "400", GUILD_ROOM)
    assert (await stand.shelf.deliveries.owed(DISCORD)).turns == ()
    assert [json.loads(each)["text"] for each in await stand.shelf.entries("said")] == ["Nine."]
    (run,) = await stand.shelf.rows("SELECT outcome FROM run")
    assert run.outcome == "replied"


@pytest.mark.requirement("VOX-1")
async def test_an_utterance_that_joins_a_run_of_typed_words_takes_the_quiet_path(stand: Stand) -> None:
    await stand.hold()
    run = await stand.shelf.started("400")
    await stand.shelf.accept(utterance("u1"), VOICE)
    ended = await stand.answered(run)
    assert [(each.state, each.owed) for _, each in ended.results] == [("absorbed", False), ("absorbed", False)]
    assert len(await stand.speaks()) == 1


async def test_silence_and_failure_in_the_voice_lane_speak_nothing(stand: Stand) -> None:
    await stand.hold()
    for delivery, ending in (("400", Silence()), ("401", Missing())):
        run = await stand.shelf.started(delivery)
        await stand.shelf.hears_all(run)
        ended = await stand.shelf.ended(run, ending)
        ((_, result),) = ended.results
        assert result.state in ("silent", "failed")
    assert await stand.speaks() == []


@pytest.mark.requirement("VOX-2")
async def test_a_run_that_settles_after_the_lease_ended_owes_its_reply_to_the_text(stand: Stand) -> None:
    await stand.hold()
    run = await stand.shelf.started("400")
    ended = await stand.answered(run, at=LATE)
    ((_, result),) = ended.results
    assert (result.state, result.owed, await stand.speaks()) == ("replied", True, [])


@pytest.mark.requirement("VOX-2")
async def test_words_unspoken_when_the_lease_runs_out_are_posted_once(stand: Stand) -> None:
    await stand.hold()
    speak = await stand.asked_aloud()
    before = await stand.rooms.lapse(LATE - timedelta(microseconds=1))
    assert before == Lapsed([], frozenset(), LATE)
    assert await stand.rooms.lapse(LATE) == Lapsed([HERE], frozenset({DISCORD}), None)
    assert await stand.rooms.lapse(LATE) == Lapsed([], frozenset(), None)
    (post,) = await stand.posts()
    assert (post.text, post.delivery_id, post.reply_to, post.room) == ("Nine.", "400", "400", GUILD_ROOM)
    assert await stand.speaks() == []
    with pytest.raises(SupersededActionError):
        await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), SPOKEN)
    assert len(await stand.posts()) == 1


@pytest.mark.requirement("VOX-2")
async def test_words_that_were_spoken_are_never_posted(stand: Stand) -> None:
    await stand.hold()
    speak = await stand.asked_aloud()
    for _ in range(2):
        assert await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), SPOKEN) == frozenset()
    # A refusal that comes after it is a receipt that comes again.
    refusal = ActionReceipt(ok=False, code="no_sound")
    assert await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), refusal) == frozenset()
    await stand.rooms.lapse(LATE)
    assert await stand.posts() == []


@pytest.mark.requirement("VOX-2")
async def test_words_that_the_voice_cannot_speak_go_back_to_text_at_once(stand: Stand) -> None:
    await stand.hold()
    speak = await stand.asked_aloud()
    refusal = ActionReceipt(ok=False, code="no_sound")
    assert await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), refusal) == {DISCORD}
    assert [each.text for each in await stand.posts()] == ["Nine."]
    with pytest.raises(SupersededActionError):
        await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), refusal)
    await stand.rooms.lapse(LATE)
    assert len(await stand.posts()) == 1


@pytest.mark.requirement("VOX-2")
async def test_a_room_that_is_given_back_gives_back_what_was_not_spoken(stand: Stand) -> None:
    await stand.hold()
    await stand.asked_aloud()
    assert await stand.hold(ttl=timedelta()) == RoomHeld(True, frozenset({DISCORD}), None)
    assert len(await stand.posts()) == 1
    assert (await stand.shelf.accept("401")).turn.lane == ROOM.id
    assert await stand.hold(ttl=timedelta()) == RoomHeld(False, frozenset(), None)


async def test_a_renewed_lease_lasts_from_then_and_one_that_ran_out_is_a_new_one(stand: Stand) -> None:
    assert await stand.hold() == RoomHeld(False, frozenset(), LATE)
    await stand.asked_aloud()
    later = NOON + timedelta(seconds=10)
    assert await stand.hold(at=later) == RoomHeld(True, frozenset(), later + TTL)
    assert len(await stand.speaks()) == 1
    # Late by a moment, and before anybody has looked.
    assert await stand.hold(at=later + TTL) == RoomHeld(False, frozenset({DISCORD}), later + 2 * TTL)
    assert (len(await stand.posts()), await stand.speaks()) == (1, [])


async def test_a_clock_that_was_set_back_ends_the_lease(stand: Stand) -> None:
    await stand.hold()
    await stand.asked_aloud()
    assert (await stand.rooms.lapse(NOON - timedelta(hours=1))).rooms == [HERE]
    assert len(await stand.posts()) == 1


async def test_another_voice_is_refused_until_the_lease_ends_and_speaks_from_then_on(stand: Stand) -> None:
    await stand.hold()
    assert await stand.hold(OTHER) == RoomRefused(frozenset(), LATE)
    assert await stand.hold(OTHER, ttl=timedelta()) == RoomRefused(frozenset(), LATE)
    first = await stand.shelf.started("400")
    assert await stand.hold(OTHER, at=LATE) == RoomHeld(False, frozenset(), LATE + TTL)
    await stand.answered(first, at=LATE)
    assert [each.delivery_id for each in await stand.speaks(OTHER)] == ["400"]
    assert await stand.speaks() == []


async def test_the_end_of_one_rooms_lease_leaves_what_is_to_be_spoken_in_another(stand: Stand) -> None:
    elsewhere = GUILD_ROOM.model_copy(update={"channel_id": "302"})
    await stand.hold()
    await stand.rooms.ask("200:302", RoomAsking(EAR, 2 * TTL), NOON)
    await stand.asked_aloud("400")
    run = await stand.shelf.started("401", room=elsewhere)
    await stand.answered(run, "There.")
    assert await stand.rooms.lapse(LATE) == Lapsed([HERE], frozenset({DISCORD}), NOON + 2 * TTL)
    assert [each.text for each in await stand.speaks()] == ["There."]


@pytest.mark.requirement("VOX-2", "DUR-1")
async def test_a_lease_and_what_is_to_be_spoken_outlive_the_captain(stand: Stand) -> None:
    await stand.hold()
    await stand.asked_aloud()
    shelf = await stand.shelf.reopened()
    shelf.numbers = stand.shelf.numbers
    again = Stand(shelf, RoomLeaseStore(shelf.database))
    assert (await shelf.accept("401")).turn.lane == VOICE.id
    assert len(await again.speaks()) == 1
    await again.rooms.lapse(LATE)
    assert len(await again.posts()) == 1
    await shelf.database.close()


async def test_words_of_two_presences_with_one_delivery_id_go_back_to_the_one_that_was_answered(stand: Stand) -> None:
    await stand.hold()
    relay = PresenceId("relay")
    await stand.answered(await stand.shelf.started(trigger("400", presence_id=relay)), "For the relay.")
    await stand.answered(await stand.shelf.started("400"), "For Discord.")
    assert (await stand.rooms.lapse(LATE)).posts == {relay, DISCORD}
    assert [each.text for each in await stand.posts()] == ["For Discord."]


async def test_what_the_captain_itself_reports_stays_in_its_lane_and_is_posted(stand: Stand) -> None:
    await stand.hold()
    said = trigger("fork-1")
    report = await stand.shelf.lanes.accept(said, VOICE, TurnId("turn_r"), RunId("run_r"), NOON, awaited=False)
    assert report.started is not None
    await stand.answered(report.started, "It is done.")
    assert [each.text for each in await stand.posts()] == ["It is done."]
    assert await stand.speaks() == []
    other = trigger("fork-2")
    text = await stand.shelf.lanes.accept(other, ROOM, TurnId("turn_s"), RunId("run_s"), NOON, awaited=False)
    assert text.turn.lane == ROOM.id


async def test_a_delivery_that_comes_again_is_the_same_turn_whoever_holds_the_room_by_then(stand: Stand) -> None:
    await stand.hold()
    first = await stand.shelf.accept("400")
    await stand.rooms.lapse(LATE)
    again = await stand.shelf.accept("400")
    assert (again.new, again.turn.turn, again.turn.lane) == (False, first.turn.turn, VOICE.id)


async def test_a_room_is_not_forgotten_before_its_words_are_spoken_and_then_with_them(stand: Stand) -> None:
    await stand.hold()
    speak = await stand.asked_aloud()
    database, upkeep = stand.shelf.database, Upkeep(stand.shelf.database)
    forgetting = Forgetting(database, upkeep, Album(database, stand.shelf.path.parent / "attachments"))
    with pytest.raises(LaneBusyError):
        await forgetting.lane(VOICE.id)
    await stand.shelf.actions.acknowledge(EAR, ActionId(speak.action_id), SPOKEN)
    await forgetting.lane(VOICE.id)
    kept = await stand.shelf.rows("SELECT payload FROM action")
    assert not [row for row in kept if "Nine." in row.payload]


async def test_words_to_speak_whose_lane_is_gone_are_given_to_nobody(stand: Stand) -> None:
    await stand.hold()
    await stand.asked_aloud()
    await stand.shelf.rows("DELETE FROM run RETURNING id")
    assert (await stand.rooms.lapse(LATE)).posts == frozenset()
    assert (await stand.posts(), await stand.speaks()) == ([], [])


async def test_a_catch_up_that_goes_back_to_text_answers_no_message(stand: Stand) -> None:
    await stand.hold()
    await stand.answered(await stand.shelf.started("400", kind="catch_up", addressed=False))
    await stand.rooms.lapse(LATE)
    (post,) = await stand.posts()
    assert post.reply_to is None
    assert (await stand.shelf.deliveries.find(DISCORD, DeliveryId("400"))).result is not None

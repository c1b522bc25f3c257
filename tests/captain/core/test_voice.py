"""Who owns a room's typed words, and which way a reply to them goes."""

from datetime import timedelta

import pytest

from clankie_captain.core.admission import Admission, Queue, Refuse, Start, Steer, Stop
from clankie_captain.core.artifacts import artifact
from clankie_captain.core.lane import LaneKey, room_of_voice, voice_beside, voice_lane
from clankie_captain.core.settlement import Settled
from clankie_captain.core.voice import (
    Holding,
    RoomAsking,
    granted,
    is_spoken,
    is_text_only,
    left,
    moves,
    owns,
    room_key,
    speaker,
    spoken,
)
from clankie_settings.ids import PresenceId, RunId
from clankie_settings.wire.attachment import Attachment, AttachmentsOmitted
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Room, Trigger
from tests.captain.core.speech import DM_ROOM, GUILD_ROOM, NOON, trigger

EAR, OTHER = PresenceId("ear"), PresenceId("other-ear")
TTL = timedelta(seconds=15)
MOMENT = timedelta(microseconds=1)
HELD = Holding(EAR, NOON, TTL)
PICTURE = Attachment(id="1", url="https://cdn.discordapp.com/a.png", media_type="image/png")
REPLY = Replied(delivery_id="400", turn_id="turn_1", run_id="run_1", owed=True, text="Nine.", after_action=3)


@pytest.mark.parametrize(
    ("later", "lives"), [(-MOMENT, False), (timedelta(), True), (TTL - MOMENT, True), (TTL, False), (2 * TTL, False)]
)
def test_a_room_is_held_for_its_time_and_not_over_a_step_of_the_clock(later: timedelta, lives: bool) -> None:
    """A holder that a clock made younger than now cannot be told from one that is long gone."""
    assert HELD.lives(NOON + later) is lives
    assert owns(HELD, trigger(), NOON + later) is lives


def test_a_room_that_is_held_is_refused_to_another_and_renewed_by_its_holder() -> None:
    soon = NOON + timedelta(seconds=5)
    assert granted(HELD, RoomAsking(OTHER, TTL), soon) is None
    assert granted(HELD, RoomAsking(EAR, TTL), soon) == Holding(EAR, soon, TTL)
    assert granted(None, RoomAsking(OTHER, TTL), soon) == Holding(OTHER, soon, TTL)


def test_a_room_whose_lease_ended_is_anybodys() -> None:
    late = NOON + TTL
    assert granted(HELD, RoomAsking(OTHER, TTL), late) == Holding(OTHER, late, TTL)


def test_a_room_that_was_given_back_is_held_by_nobody() -> None:
    back = granted(HELD, RoomAsking(EAR, timedelta()), NOON)
    assert back is not None
    assert not back.lives(NOON)
    assert back.ends_at == NOON


@pytest.mark.parametrize(("room", "key"), [(GUILD_ROOM, "200:300"), (DM_ROOM, "dm:301")])
def test_a_room_is_named_as_lanes_are_listed(room: Room, key: str) -> None:
    assert room_key(room) == key


def test_a_voice_lane_is_as_quiet_as_its_room() -> None:
    lane = voice_lane(GUILD_ROOM)
    assert (lane.id, lane.kind, lane.authority) == ("voice/discord:200:300", "voice", "social")
    assert room_of_voice(lane) == "rooms/discord:200:300"
    assert voice_beside(LaneKey(room_of_voice(lane), "room", "social")) == lane.id


CONSOLE = Room(platform="console", channel_id="desk")


@pytest.mark.parametrize(
    ("said", "owned"),
    [
        (trigger(), True),
        (trigger(kind="catch_up"), True),
        (trigger(attachments=(PICTURE,)), False),
        (trigger(body=None, attachments=(PICTURE,)), False),
        (trigger(attachments_omitted=AttachmentsOmitted(unsupported=1)), False),
        (trigger(attachments_omitted=AttachmentsOmitted(too_large=1)), False),
        (trigger(attachments_omitted=AttachmentsOmitted(over_limit=1)), False),
        (trigger(kind="voice"), False),
        (trigger(room=CONSOLE), False),
    ],
)
@pytest.mark.requirement("VOX-2")
def test_only_typed_words_without_a_file_are_a_voices(said: Trigger, owned: bool) -> None:
    assert is_text_only(said) is owned
    assert owns(HELD, said, NOON) is owned


def test_words_are_nobodys_without_a_lease_and_stay_text_where_the_holder_itself_hands_them_over() -> None:
    assert not owns(None, trigger(), NOON)
    assert not owns(HELD, trigger(presence_id=EAR), NOON)


@pytest.mark.parametrize(
    ("in_text", "to_voice"),
    [
        (Start(), True),
        (Queue(), True),
        (Refuse(FailureCode.LANE_QUEUE_FULL), True),
        (Steer(RunId("run_1")), False),
        (Stop(RunId("run_1")), False),
    ],
)
@pytest.mark.requirement("VOX-2")
def test_a_live_text_run_keeps_its_steers_and_all_else_goes_to_the_voice(in_text: Admission, to_voice: bool) -> None:
    assert moves(in_text) is to_voice


@pytest.mark.requirement("VOX-2")
def test_a_reply_to_typed_words_is_said_by_whoever_holds_the_room() -> None:
    assert speaker(trigger(), REPLY, HELD, NOON) == EAR


DRAWN = REPLY.model_copy(update={"artifacts": (artifact("diagrams", b"1", "image/png", "one"),)})
ENDS: list[Settled] = [
    Silent(delivery_id="400", turn_id="turn_1", run_id="run_1", owed=False),
    Failed(delivery_id="400", turn_id="turn_1", owed=True, code=FailureCode.CAPTAIN_MODEL_FAILED, notice=True),
    Absorbed(delivery_id="401", turn_id="turn_2", run_id="run_1", owed=False, answered_by="400"),
    DRAWN,
]


@pytest.mark.parametrize("reply", ENDS)
def test_only_words_alone_are_said_aloud(reply: Settled) -> None:
    assert speaker(trigger(), reply, HELD, NOON) is None


@pytest.mark.parametrize(
    ("owner", "held", "late"),
    [
        (trigger(), None, timedelta()),
        (trigger(), HELD, TTL),
        (trigger(kind="voice"), HELD, timedelta()),
        (trigger(presence_id=EAR), HELD, timedelta()),
    ],
)
def test_a_reply_is_the_turns_own_result_where_no_voice_is_to_say_it(
    owner: Trigger, held: Holding | None, late: timedelta
) -> None:
    assert speaker(owner, REPLY, held, NOON + late) is None


@pytest.mark.parametrize(
    ("owner", "held", "late", "gone"),
    [
        (trigger(kind="voice", presence_id=EAR), HELD, timedelta(), False),
        (trigger(kind="voice", presence_id=EAR), HELD, TTL, True),
        (trigger(kind="voice", presence_id=EAR), None, timedelta(), True),
        (trigger(kind="voice", presence_id="other-ear"), HELD, timedelta(), True),
        (trigger(), None, timedelta(), False),
    ],
)
@pytest.mark.requirement("VOX-2")
def test_an_utterance_is_left_by_a_presence_that_does_not_hold_its_room(
    owner: Trigger, held: Holding | None, late: timedelta, gone: bool
) -> None:
    assert left(owner, held, NOON + late) is gone


@pytest.mark.requirement("VOX-2")
def test_a_turn_that_is_answered_aloud_is_absorbed_and_owed_nothing() -> None:
    result = spoken(REPLY)
    assert (result.state, result.owed, result.answered_by, result.run_id) == ("absorbed", False, "400", "run_1")
    assert is_spoken(result)
    assert not any(is_spoken(each) for each in (REPLY, *ENDS))

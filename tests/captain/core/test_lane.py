"""Which lane a delivery belongs to."""

import pytest

from clankie_captain.core.admission import steer_by
from clankie_captain.core.lane import (
    OPERATOR,
    LaneKey,
    Trust,
    conversation,
    lane_for,
    loop,
    one_shots,
    one_shots_beside,
    room_lane,
)
from clankie_settings.ids import LaneId, TurnId
from clankie_settings.wire.trigger import Actor, Room, Trigger
from tests.captain.core.speech import ANN, BOB, DM_ROOM, GUILD_ROOM, OWNER, trigger

pytestmark = pytest.mark.requirement("LANE-1", "LANE-12")

TURN = TurnId("turn_1")
OWNER_TRUSTED = Trust(actors=frozenset({OWNER.actor_id}))
OWNER_AND_ROOM_TRUSTED = Trust(actors=frozenset({OWNER.actor_id}), rooms=frozenset({"200:300"}))
CONSOLE = Room(platform="console", channel_id="desk")


@pytest.mark.parametrize(
    ("said", "trust", "expected"),
    [
        (trigger(), Trust(), LaneKey(LaneId("rooms/discord:200:300"), "room", "social")),
        (trigger(room=DM_ROOM, kind="dm"), Trust(), LaneKey(LaneId("rooms/discord:dm:301"), "room", "social")),
        (trigger(kind="voice"), Trust(), LaneKey(LaneId("voice/discord:200:300"), "voice", "social")),
        (
            trigger(kind="voice", actor=OWNER),
            OWNER_AND_ROOM_TRUSTED,
            LaneKey(LaneId("voice/discord:200:300"), "voice", "social"),
        ),
        (
            trigger(actor=OWNER),
            OWNER_TRUSTED,
            LaneKey(LaneId("turns/discord:200:300~400/turn_1"), "one_shot", "system"),
        ),
        (
            trigger(actor=OWNER),
            OWNER_AND_ROOM_TRUSTED,
            LaneKey(LaneId("rooms/discord:200:300~system"), "room", "system"),
        ),
        (
            trigger(actor=OWNER, room=DM_ROOM, kind="dm"),
            OWNER_TRUSTED,
            LaneKey(LaneId("rooms/discord:dm:301~system"), "room", "system"),
        ),
        (
            trigger(actor=OWNER, room=CONSOLE, presence_id=OPERATOR),
            Trust(),
            LaneKey(LaneId("conversations/desk"), "conversation", "system"),
        ),
        (
            trigger(actor=OWNER, room=CONSOLE),
            OWNER_TRUSTED,
            LaneKey(LaneId("conversations/discord:desk"), "conversation", "social"),
        ),
    ],
    ids=[
        "a guild room",
        "a DM",
        "a voice room",
        "a trusted actor's voice",
        "a trusted actor in a mixed room",
        "a trusted actor in a trusted room",
        "a trusted actor's DM",
        "the operator",
        "another presence's console",
    ],
)
def test_each_delivery_has_the_lane_of_its_room_and_authority(said: Trigger, trust: Trust, expected: LaneKey) -> None:
    assert lane_for(said, TURN, trust) == expected


def test_everybody_else_of_a_trusted_room_stays_in_its_social_lane() -> None:
    assert lane_for(trigger(actor=ANN), TURN, OWNER_AND_ROOM_TRUSTED).authority == "social"


@pytest.mark.requirement("LANE-1")
def test_two_privileged_turns_in_a_mixed_room_share_nothing() -> None:
    first = lane_for(trigger("400", actor=OWNER), TurnId("turn_1"), OWNER_TRUSTED)
    second = lane_for(trigger("401", actor=OWNER), TurnId("turn_2"), OWNER_TRUSTED)
    assert first != second


def test_speakers_of_a_room_share_its_lane() -> None:
    assert lane_for(trigger(actor=ANN), TURN, Trust()) == lane_for(trigger("401", actor=BOB), TURN, Trust())


@pytest.mark.parametrize(
    "other",
    [
        Room(platform="discord", guild_id="200", channel_id="302"),
        Room(platform="discord", guild_id="201", channel_id="300"),
        Room(platform="discord", channel_id="300"),
    ],
)
def test_rooms_that_differ_in_any_id_never_share_a_lane(other: Room) -> None:
    assert lane_for(trigger(room=other), TURN, Trust()) != lane_for(trigger(room=GUILD_ROOM), TURN, Trust())


def test_a_trusted_channel_id_of_another_guild_is_not_trusted() -> None:
    elsewhere = Room(platform="discord", guild_id="201", channel_id="300")
    assert lane_for(trigger(actor=OWNER, room=elsewhere), TURN, OWNER_AND_ROOM_TRUSTED).kind == "one_shot"


@pytest.mark.requirement("LANE-12")
def test_every_lane_id_begins_with_one_of_the_four_words() -> None:
    kinds = {
        lane_for(trigger(), TURN, Trust()),
        lane_for(trigger(kind="voice"), TURN, Trust()),
        lane_for(trigger(room=CONSOLE), TURN, Trust()),
        lane_for(trigger(actor=OWNER), TURN, OWNER_TRUSTED),
    }
    assert {each.id.split("/")[0] for each in kinds} == {"rooms", "voice", "conversations", "turns"}


@pytest.mark.requirement("VOX-1", "LANE-3", "LOOP-2", "GRANT-2")
def test_anybody_steers_rooms_and_voice_the_sender_loops_and_one_shots_and_a_conversation_asks() -> None:
    room = lane_for(trigger(), TURN, Trust())
    assert steer_by(room) == "anyone"
    assert steer_by(lane_for(trigger(kind="voice"), TURN, Trust())) == "anyone"
    assert steer_by(lane_for(trigger(actor=OWNER), TURN, OWNER_AND_ROOM_TRUSTED)) == "anyone"
    assert steer_by(loop(room, "0123456789abcdef")) == "sender"
    assert steer_by(lane_for(trigger(actor=OWNER), TURN, OWNER_TRUSTED)) == "sender"
    assert steer_by(conversation("desk")) == "asked"


@pytest.mark.requirement("LOOP-3")
def test_a_loop_is_its_rooms_social_lane_with_a_grant_and_knows_both() -> None:
    room = lane_for(trigger(), TURN, Trust())
    own = loop(room, "0123456789abcdef")
    assert own == LaneKey(LaneId("rooms/discord:200:300~0123456789abcdef"), "room", "social")
    assert (own.home, own.grant) == (room.id, "0123456789abcdef")
    for each in (
        room,
        lane_for(trigger(actor=OWNER), TURN, OWNER_AND_ROOM_TRUSTED),
        lane_for(trigger(actor=OWNER), TURN, OWNER_TRUSTED),
        lane_for(trigger(kind="voice"), TURN, Trust()),
    ):
        assert (each.home, each.grant) == (each.id, None)


@pytest.mark.parametrize("trust", [Trust(), OWNER_TRUSTED, OWNER_AND_ROOM_TRUSTED])
@pytest.mark.parametrize("room", [GUILD_ROOM, DM_ROOM])
@pytest.mark.parametrize("actor", [ANN, OWNER])
def test_the_durable_lane_of_a_speaker_is_where_their_next_durable_turn_goes(
    room: Room, actor: Actor, trust: Trust
) -> None:
    durable = room_lane(room, actor.actor_id, trust)
    said = lane_for(trigger(room=room, actor=actor, kind="reply"), TURN, trust)
    assert durable == (said if said.kind == "room" else lane_for(trigger(room=room), TURN, trust))


def test_a_conversation_of_the_operators_is_found_by_its_name() -> None:
    said = trigger(actor=OWNER, room=CONSOLE, presence_id=OPERATOR)
    assert conversation("desk") == lane_for(said, TURN, Trust())


@pytest.mark.requirement("LANE-12", "GRANT-2")
def test_the_one_shots_of_a_room_begin_alike_and_those_of_another_do_not() -> None:
    other = Room(platform="discord", guild_id="200", channel_id="3000")
    first, second, elsewhere = (
        lane_for(trigger(each, actor=OWNER, room=room), TurnId(f"turn_{each}"), OWNER_TRUSTED).id
        for each, room in (("400", GUILD_ROOM), ("401", GUILD_ROOM), ("402", other))
    )
    assert one_shots_beside(first) == one_shots_beside(second) == one_shots(GUILD_ROOM)
    assert second.startswith(one_shots(GUILD_ROOM))
    assert not elsewhere.startswith(one_shots(GUILD_ROOM))

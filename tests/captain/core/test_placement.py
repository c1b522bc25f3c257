"""Which rooms think in a loop, which lane a sender's grant leads to, and what may no longer run there."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.grants import Grant, Powers, grant
from clankie_captain.core.lane import OPERATOR, Trust, lane_for, loop
from clankie_captain.core.placement import Loops, Queued, burst, placed, withdrawn
from clankie_settings.ids import DeliveryId, PresenceId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Actor, Room, Trigger
from tests.captain.core.speech import ANN, BOB, DM_ROOM, GUILD_ROOM, OWNER, trigger

TURN = TurnId("turn_1")
KEY, PARENT = "200:999", "200:300"
THREAD = Room(platform="discord", guild_id="200", channel_id="999", parent_id="300")
ALL = Loops(everywhere=True)
OWNER_TRUSTED = Powers(Trust(frozenset({OWNER.actor_id})))
ROOM_TRUSTED = Powers(Trust(frozenset({OWNER.actor_id}), frozenset({PARENT})))


@pytest.mark.requirement("LOOP-1")
@pytest.mark.parametrize(
    ("loops", "room", "here"),
    [
        (Loops(), GUILD_ROOM, False),
        (ALL, GUILD_ROOM, True),
        (ALL, DM_ROOM, True),
        (Loops(listed=frozenset({PARENT})), GUILD_ROOM, True),
        (Loops(listed=frozenset({"201:300"})), GUILD_ROOM, False),
        (Loops(listed=frozenset({PARENT})), THREAD, True),
        (Loops(listed=frozenset({KEY})), THREAD, True),
        (Loops(listed=frozenset({KEY})), GUILD_ROOM, False),
        (Loops(everywhere=True, own={PARENT: False}), GUILD_ROOM, False),
        (Loops(everywhere=True, own={PARENT: False}), THREAD, False),
        (Loops(everywhere=True, own={PARENT: False, KEY: True}), THREAD, True),
        (Loops(listed=frozenset({PARENT}), own={PARENT: False}), GUILD_ROOM, False),
        (Loops(listed=frozenset({KEY}), own={PARENT: False}), THREAD, True),
        (Loops(own={PARENT: True}), GUILD_ROOM, True),
        (Loops(own={PARENT: True}), DM_ROOM, False),
    ],
)
def test_the_switch_and_a_rooms_own_word_say_where_he_thinks_in_one_loop(loops: Loops, room: Room, here: bool) -> None:
    assert loops.here(room) is here


@pytest.mark.requirement("LOOP-3")
def test_a_loops_lane_is_the_rooms_social_key_and_the_hash_of_the_exact_grant() -> None:
    powers = Powers(everyone=frozenset({"draw_diagram"}), actors={BOB.actor_id: frozenset({"read_page"})})
    anns, bobs = (placed(trigger(actor=each), TURN, powers, ALL) for each in (ANN, BOB))
    mark = Grant("social", "room", ("draw_diagram",)).fingerprint
    assert anns == loop(lane_for(trigger(), TURN, Trust()), mark)
    assert bobs.id != anns.id
    assert bobs.home == anns.home
    assert placed(trigger(), TURN, powers, ALL) == anns


@pytest.mark.parametrize(
    ("said", "powers"),
    [
        (trigger(actor=OWNER), OWNER_TRUSTED),
        (trigger(actor=OWNER), ROOM_TRUSTED),
        (trigger(actor=OWNER, room=DM_ROOM, kind="dm"), OWNER_TRUSTED),
        (trigger(kind="voice"), Powers()),
        (trigger(room=Room(platform="console", channel_id="desk"), presence_id=OPERATOR), Powers()),
    ],
    ids=["a one-shot", "a system room", "a trusted DM", "voice", "a conversation"],
)
@pytest.mark.requirement("LOOP-3", "LOOP-7", "GRANT-2")
def test_only_social_text_rooms_think_in_a_loop(said: Trigger, powers: Powers) -> None:
    assert placed(said, TURN, powers, ALL) == lane_for(said, TURN, powers.trust)


@pytest.mark.requirement("LOOP-1")
def test_a_room_that_is_not_listed_keeps_its_lane() -> None:
    assert placed(trigger(), TURN, Powers(), Loops()) == lane_for(trigger(), TURN, Trust())


@pytest.mark.requirement("LOOP-4", "GRANT-3")
def test_a_turn_may_run_in_a_loop_only_while_its_sender_has_the_very_grant() -> None:
    powers = Powers(everyone=frozenset({"draw_diagram"}))
    lane = placed(trigger(), TURN, powers, ALL)
    assert withdrawn(lane, trigger(), powers) is None
    for changed in (
        Powers(),
        replace(powers, actors={ANN.actor_id: frozenset({"read_page"})}),
        replace(powers, trust=Trust(rooms=frozenset({PARENT}))),
        replace(powers, trust=Trust(actors=frozenset({ANN.actor_id}))),
    ):
        assert withdrawn(lane, trigger(), changed) is FailureCode.ROOM_LOOP_GRANT_CHANGED


@pytest.mark.requirement("GRANT-2", "GRANT-3")
def test_a_turn_may_run_in_a_system_lane_only_while_its_sender_is_trusted_there() -> None:
    here, dm = trigger(actor=OWNER), trigger(actor=OWNER, room=DM_ROOM, kind="dm")
    one_shot = placed(here, TURN, OWNER_TRUSTED, ALL)
    durable = placed(here, TURN, ROOM_TRUSTED, ALL)
    private = placed(dm, TURN, OWNER_TRUSTED, ALL)
    assert withdrawn(one_shot, here, OWNER_TRUSTED) is None
    assert withdrawn(one_shot, here, ROOM_TRUSTED) is None
    assert withdrawn(durable, here, ROOM_TRUSTED) is None
    assert withdrawn(private, dm, OWNER_TRUSTED) is None
    for lane, said in ((one_shot, here), (durable, here), (private, dm)):
        assert withdrawn(lane, said, Powers()) is FailureCode.NOT_PERMITTED
    assert withdrawn(durable, here, OWNER_TRUSTED) is FailureCode.NOT_PERMITTED


def test_what_gives_nobody_anything_is_open_to_all() -> None:
    social = lane_for(trigger(), TURN, Trust())
    desk = trigger(room=Room(platform="console", channel_id="desk"), presence_id=OPERATOR)
    assert withdrawn(social, trigger(), OWNER_TRUSTED) is None
    assert withdrawn(social, trigger(actor=OWNER), OWNER_TRUSTED) is None
    assert withdrawn(lane_for(desk, TURN, Trust()), desk, Powers()) is None


TOOLS = st.frozensets(st.sampled_from(["draw_diagram", "read_page", "github_*"]))
POWERS = st.builds(
    Powers,
    st.builds(Trust, st.frozensets(st.sampled_from(["10", "11"])), st.frozensets(st.sampled_from([PARENT]))),
    TOOLS,
    st.dictionaries(st.sampled_from([PARENT, KEY]), TOOLS),
    st.dictionaries(st.sampled_from(["77", "78"]), TOOLS),
    st.dictionaries(st.sampled_from(["11", "12"]), TOOLS),
)
ACTORS = st.builds(
    Actor,
    actor_id=st.sampled_from(["10", "11", "12"]),
    display_name=st.just("somebody"),
    role_ids=st.lists(st.sampled_from(["77", "78"]), unique=True).map(tuple),
)
SAID = st.tuples(ACTORS, st.sampled_from([GUILD_ROOM, THREAD, DM_ROOM])).map(
    lambda found: trigger(actor=found[0], room=found[1])
)


@pytest.mark.requirement("LOOP-3", "LOOP-4", "GRANT-3")
@given(SAID, POWERS, POWERS)
def test_whatever_changes_a_turn_runs_in_its_loop_exactly_where_it_would_be_placed_there_again(
    said: Trigger, before: Powers, now: Powers
) -> None:
    lane = placed(said, TURN, before, ALL)
    again = placed(said, TURN, now, ALL)
    assert withdrawn(lane, said, before) is None
    if lane.grant is not None:
        assert (withdrawn(lane, said, now) is None) == (lane == again)
    elif grant(said, now).authority == "social":
        assert withdrawn(lane, said, now) is FailureCode.NOT_PERMITTED


def queued(number: int, actor: str, *roles: str, joins: bool = True) -> Queued:
    return Queued(PresenceId("discord"), DeliveryId(str(number)), actor, roles, joins)


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize(
    ("waiting", "together"),
    [
        ([], []),
        ([queued(1, "11")], ["1"]),
        ([queued(1, "11"), queued(2, "12"), queued(3, "11")], ["1", "3"]),
        ([queued(1, "11"), queued(2, "11", joins=False), queued(3, "11")], ["1", "3"]),
        ([queued(1, "11", joins=False), queued(2, "11")], ["1", "2"]),
        ([queued(1, "11", "77"), queued(2, "11"), queued(3, "11", "77")], ["1", "3"]),
    ],
    ids=["nobody", "one", "the sender's burst", "what asks for its own turn", "but owns one", "another role"],
)
def test_a_senders_queued_burst_runs_as_one_turn(waiting: list[Queued], together: list[str]) -> None:
    assert [each.delivery for each in burst(waiting)] == together


WAITING = st.lists(
    st.tuples(st.sampled_from(["11", "12", "13"]), st.sampled_from([(), ("77",)]), st.booleans()), max_size=8
).map(lambda found: [queued(place, actor, *roles, joins=joins) for place, (actor, roles, joins) in enumerate(found)])


@pytest.mark.requirement("LOOP-2")
@given(WAITING)
def test_run_by_run_nobody_is_left_waiting_and_no_run_holds_anothers_words(waiting: list[Queued]) -> None:
    ran: list[Queued] = []
    while waiting:
        together = burst(waiting)
        assert together[0] == waiting[0], "somebody was passed over"
        assert len({(each.actor, each.roles) for each in together}) == 1
        ran.extend(together)
        waiting = [each for each in waiting if each not in together]
    assert len({each.delivery for each in ran}) == len(ran)

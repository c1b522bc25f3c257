"""The ways of a delivery into its lane."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.admission import Floor, LaneState, Queue, Refuse, Start, Steer, SteerBy, Stop, admission
from clankie_settings import bounds
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Delivery

RUN = RunId("run_1")
FULL, MOST = bounds.QUEUED_TURNS, bounds.STEERS_PAST_OTHERS

lanes = st.builds(
    LaneState,
    st.sampled_from([None, RUN]),
    st.integers(0, FULL + 2),
    autonomous=st.booleans(),
    stops=st.booleans(),
    floor=st.none() | st.builds(Floor, st.integers(0, MOST + 2), st.booleans()),
)
deliveries = st.sampled_from(["auto", "steer", "queue"])
policies = st.sampled_from(["anyone", "sender", "asked"])


@pytest.mark.requirement("LANE-2", "LANE-3")
@pytest.mark.parametrize(
    ("lane", "delivery", "policy", "way"),
    [
        (LaneState(None, 0), "auto", "anyone", Start()),
        (LaneState(None, 0), "steer", "asked", Start()),
        (LaneState(None, 0), "queue", "asked", Start()),
        (LaneState(None, 1), "auto", "anyone", Queue()),
        (LaneState(None, 1), "steer", "asked", Queue()),
        (LaneState(RUN, 0), "auto", "anyone", Steer(RUN)),
        (LaneState(RUN, 3), "auto", "anyone", Steer(RUN)),
        (LaneState(RUN, 0), "queue", "anyone", Queue()),
        (LaneState(RUN, 0), "auto", "asked", Queue()),
        (LaneState(RUN, 0), "steer", "asked", Steer(RUN)),
        (LaneState(RUN, 0), "steer", "anyone", Steer(RUN)),
        (LaneState(RUN, FULL - 1), "auto", "anyone", Steer(RUN)),
        (LaneState(RUN, FULL), "auto", "anyone", Refuse(FailureCode.LANE_QUEUE_FULL)),
        (LaneState(None, FULL), "auto", "anyone", Refuse(FailureCode.LANE_QUEUE_FULL)),
        (LaneState(RUN, FULL, stops=True), "queue", "asked", Stop(RUN)),
        (LaneState(None, 0, stops=True), "auto", "anyone", Start()),
        (LaneState(RUN, 0, compacting=True), "auto", "anyone", Queue()),
        (LaneState(RUN, 3, compacting=True), "steer", "asked", Queue()),
        (LaneState(RUN, 0, autonomous=True, stops=True, compacting=True), "auto", "asked", Queue()),
        (LaneState(RUN, FULL, compacting=True), "auto", "anyone", Refuse(FailureCode.LANE_QUEUE_FULL)),
        (LaneState(RUN, 0, floor=Floor()), "auto", "sender", Steer(RUN)),
        (LaneState(RUN, 3, floor=Floor()), "auto", "sender", Steer(RUN)),
        (LaneState(RUN, 3, floor=Floor(MOST - 1)), "auto", "sender", Steer(RUN)),
        (LaneState(RUN, 3, floor=Floor(MOST)), "auto", "sender", Queue()),
        (LaneState(RUN, 3, floor=Floor(behind=True)), "steer", "sender", Queue()),
        (LaneState(RUN, 3, floor=Floor(MOST, behind=True)), "auto", "anyone", Steer(RUN)),
        (LaneState(RUN, FULL, floor=Floor(MOST)), "auto", "sender", Refuse(FailureCode.LANE_QUEUE_FULL)),
        (LaneState(RUN, 3, floor=Floor(MOST), stops=True), "auto", "sender", Stop(RUN)),
        (LaneState(RUN, 0, floor=Floor()), "queue", "sender", Queue()),
        (LaneState(RUN, 0), "auto", "sender", Queue()),
        (LaneState(RUN, 0, autonomous=True), "steer", "sender", Queue()),
        (LaneState(RUN, 0, floor=Floor(), compacting=True), "auto", "sender", Queue()),
        (LaneState(None, 0), "steer", "sender", Start()),
    ],
)
def test_a_delivery_takes_the_way_that_its_lane_leaves(
    lane: LaneState, delivery: Delivery, policy: SteerBy, way: object
) -> None:
    assert admission(lane, delivery, policy) == way


@pytest.mark.requirement("LANE-2")
@given(lanes, deliveries, policies)
def test_a_run_starts_only_where_none_is_live_and_nothing_waits(
    lane: LaneState, delivery: Delivery, policy: SteerBy
) -> None:
    started = admission(lane, delivery, policy) == Start()
    assert started == (lane.live_run is None and lane.waiting == 0)


@pytest.mark.requirement("OPS-5")
@given(lanes, deliveries, policies)
def test_a_stop_ends_the_live_run_however_full_the_lane_is(
    lane: LaneState, delivery: Delivery, policy: SteerBy
) -> None:
    stopped = isinstance(admission(lane, delivery, policy), Stop)
    assert stopped == (lane.stops and lane.live_run is not None)


@pytest.mark.requirement("LANE-3")
@given(lanes, deliveries, policies)
def test_words_are_only_ever_steered_into_the_live_run(lane: LaneState, delivery: Delivery, policy: SteerBy) -> None:
    match admission(lane, delivery, policy):
        case Steer(run):
            assert run == lane.live_run
            assert delivery != "queue"
        case Start() | Queue() | Refuse() | Stop():
            pass


@given(lanes, deliveries, policies)
def test_a_lane_never_holds_more_waiting_turns_than_its_bound(
    lane: LaneState, delivery: Delivery, policy: SteerBy
) -> None:
    refused = isinstance(admission(lane, delivery, policy), Refuse)
    stops = lane.stops and lane.live_run is not None
    assert refused == (lane.waiting >= FULL and not stops)


@pytest.mark.requirement("OPS-1")
@pytest.mark.parametrize(("delivery", "way"), [("auto", Steer(RUN)), ("steer", Steer(RUN)), ("queue", Queue())])
def test_words_in_a_conversation_join_a_run_that_nobody_waits_for(delivery: Delivery, way: object) -> None:
    assert admission(LaneState(RUN, 0, autonomous=True), delivery, "asked") == way


def test_a_refusal_asks_for_a_word_unless_it_says_otherwise() -> None:
    assert Refuse(FailureCode.LANE_QUEUE_FULL).notice


@pytest.mark.requirement("LOOP-2", "LOOP-9")
@given(lanes, deliveries)
def test_only_the_sender_whom_a_loop_answers_steers_it_and_never_past_whoever_waited_long_enough(
    lane: LaneState, delivery: Delivery
) -> None:
    if isinstance(admission(lane, delivery, "sender"), Steer):
        assert lane.floor is not None
        assert lane.floor.past < MOST
        assert not lane.floor.behind

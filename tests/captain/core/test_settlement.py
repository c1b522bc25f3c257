"""How a run ends: each of its turns has exactly one fate, and nobody is told what did not happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.reply import Missing, Reply, Said, Silence
from clankie_captain.core.run import Broken
from clankie_captain.core.settlement import RunOn, RunTurn, Settlement, failure, may_run, settlement
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, RunId, TurnId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent

RUN = RunId("run_1")
STALLED = Broken(FailureCode.CAPTAIN_TURN_STALLED)


def turn(number: int, hearing: str, *, addressed: bool = True) -> RunTurn:
    assert hearing in ("owner", "heard", "unheard")
    return RunTurn(DeliveryId(f"{number}"), TurnId(f"turn_{number}"), addressed, hearing)


OWNER, STEERED, LATE = turn(1, "owner"), turn(2, "heard"), turn(3, "unheard")

steered = st.lists(st.tuples(st.sampled_from(["heard", "unheard"]), st.booleans()), max_size=6)
runs = st.tuples(st.booleans(), steered).map(
    lambda drawn: [
        turn(1, "owner", addressed=drawn[0]),
        *(turn(n, hearing, addressed=addressed) for n, (hearing, addressed) in enumerate(drawn[1], start=2)),
    ]
)
endings = st.one_of(
    st.builds(Said, st.just("an answer")),
    st.just(Silence()),
    st.just(Missing()),
    st.sampled_from(FailureCode).map(Broken),
)


@pytest.mark.requirement("LANE-4")
def test_the_owner_is_answered_and_whoever_was_heard_is_absorbed_by_it() -> None:
    ended = settlement(RUN, Said("an answer"), [OWNER, STEERED], after_action=7)
    assert ended == Settlement(
        (
            Replied(delivery_id="1", turn_id="turn_1", run_id=RUN, owed=True, text="an answer", after_action=7),
            Absorbed(delivery_id="2", turn_id="turn_2", run_id=RUN, owed=False, answered_by="1"),
        ),
        (),
    )


@pytest.mark.requirement("ROOM-1", "LANE-4")
def test_where_he_stayed_silent_nobody_is_absorbed() -> None:
    ended = settlement(RUN, Silence(), [OWNER, STEERED])
    assert isinstance(ended, Settlement)
    assert [type(each) for each in ended.results] == [Silent, Silent]
    assert not any(each.owed for each in ended.results)


@pytest.mark.requirement("LANE-6", "LANE-7")
@pytest.mark.parametrize("ending", [Said("an answer"), Silence()])
def test_a_run_that_would_end_goes_on_while_something_is_unheard(ending: Reply) -> None:
    assert settlement(RUN, ending, [OWNER, STEERED, LATE]) == RunOn()


@pytest.mark.requirement("LANE-5", "LANE-6")
@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (STALLED, FailureCode.CAPTAIN_TURN_STALLED),
        (Missing(), FailureCode.CAPTAIN_RESPONSE_MISSING),
    ],
)
def test_a_steered_turn_of_a_failed_run_reports_failed_and_an_unheard_one_waits_again(
    ending: Reply | Broken, code: FailureCode
) -> None:
    ended = settlement(RUN, ending, [OWNER, STEERED, LATE])
    assert isinstance(ended, Settlement)
    assert [(type(each), each.delivery_id) for each in ended.results] == [(Failed, "1"), (Failed, "2")]
    assert {each.code for each in ended.results if isinstance(each, Failed)} == {code}
    assert ended.requeued == ("3",)


@pytest.mark.parametrize(
    ("addressed", "noticed"),
    [
        ([True, True, True], [True, False, False]),
        ([False, True, True], [False, True, False]),
        ([False] * 3, [False] * 3),
    ],
)
def test_the_room_is_told_of_a_failure_once_and_only_where_somebody_addressed_him(
    addressed: list[bool], noticed: list[bool]
) -> None:
    turns = [turn(n, "heard" if n else "owner", addressed=each) for n, each in enumerate(addressed)]
    ended = settlement(RUN, STALLED, turns)
    assert isinstance(ended, Settlement)
    assert [each.notice for each in ended.results if isinstance(each, Failed)] == noticed
    assert [each.owed for each in ended.results] == noticed


@pytest.mark.requirement("LANE-4", "LANE-5", "LANE-6")
@given(runs, endings)
def test_each_turn_has_exactly_one_fate(turns: list[RunTurn], ending: Reply | Broken) -> None:
    ended = settlement(RUN, ending, turns)
    if isinstance(ended, RunOn):
        assert any(each.hearing == "unheard" for each in turns)
        assert isinstance(ending, Said | Silence)
        return
    settled = [DeliveryId(each.delivery_id) for each in ended.results]
    assert sorted([*settled, *ended.requeued]) == sorted(each.delivery for each in turns)
    assert set(ended.requeued) == {each.delivery for each in turns if each.hearing == "unheard"}


@pytest.mark.requirement("LANE-4")
@given(runs, endings)
def test_nobody_is_absorbed_without_an_owner_that_replied(turns: list[RunTurn], ending: Reply | Broken) -> None:
    ended = settlement(RUN, ending, turns)
    results = ended.results if isinstance(ended, Settlement) else ()
    replied = {each.delivery_id for each in results if isinstance(each, Replied)}
    absorbed = [each for each in results if isinstance(each, Absorbed)]
    assert all(each.answered_by in replied for each in absorbed)
    assert replied <= {"1"}


@given(runs, endings)
def test_a_room_is_owed_at_most_one_word_for_a_run(turns: list[RunTurn], ending: Reply | Broken) -> None:
    ended = settlement(RUN, ending, turns)
    results = ended.results if isinstance(ended, Settlement) else ()
    assert sum(each.owed for each in results) <= 1
    assert sum(isinstance(each, Failed) and each.notice for each in results) <= 1


def test_a_turn_may_fail_without_ever_having_had_a_run() -> None:
    refused = failure(DeliveryId("1"), TurnId("turn_1"), FailureCode.LANE_QUEUE_FULL, notice=True)
    assert (refused.run_id, refused.owed, refused.notice) == (None, True, True)


def test_a_run_is_tried_as_often_as_its_bound_says() -> None:
    assert [may_run(attempt) for attempt in range(1, bounds.RUN_ATTEMPTS + 2)] == [True, True, False]

"""When he reads on."""

import pytest

from clankie_bridge.core.exchange import Exchange, ReplyPolicies, becomes_turn, recalled


def heard(exchange: Exchange, count: int) -> Exchange:
    for _ in range(count):
        exchange = exchange.heard()
    return exchange


@pytest.mark.requirement("ING-3")
def test_he_reads_on_for_five_messages_after_his_last_word() -> None:
    spoken = Exchange().spoken()
    assert [heard(spoken, count).reads_on(at_work=False) for count in range(1, 8)] == [True] * 5 + [False] * 2


@pytest.mark.requirement("ING-3")
def test_he_does_not_read_on_where_he_never_spoke() -> None:
    assert not heard(Exchange(), 1).reads_on(at_work=True)


@pytest.mark.requirement("ING-3", "LANE-8")
def test_while_he_works_on_a_call_the_rest_of_the_thought_is_read_for_five_messages() -> None:
    called = Exchange().addressed()
    assert [heard(called, count).reads_on(at_work=True) for count in range(1, 8)] == [True] * 5 + [False] * 2
    assert not heard(called, 1).reads_on(at_work=False)
    assert becomes_turn("addressed", heard(called, 1), addressed=False, at_work=True)


@pytest.mark.requirement("ING-3")
def test_a_call_that_ended_in_silence_leaves_his_last_word_where_it_was() -> None:
    assert heard(Exchange(4).addressed(), 2).reads_on(at_work=False) is False


@pytest.mark.parametrize(
    ("own", "since"), [([], None), ([False, False], None), ([True, False, False], 2), ([True, False, True], 0)]
)
def test_history_tells_how_far_away_his_last_word_is(own: list[bool], since: int | None) -> None:
    assert recalled(own) == Exchange(since)


@pytest.mark.requirement("ING-2")
@pytest.mark.parametrize(
    ("policy", "since", "addressed", "turn"),
    [
        ("addressed", None, True, True),
        ("addressed", None, False, False),
        ("addressed", 5, False, True),
        ("addressed", 6, False, False),
        ("all", None, False, True),
    ],
)
def test_a_message_becomes_a_turn_by_call_policy_or_conversation(
    policy: str, since: int | None, addressed: bool, turn: bool
) -> None:
    chosen = ReplyPolicies(default="all" if policy == "all" else "addressed").of("1", "2", None)
    assert becomes_turn(chosen, Exchange(since), addressed=addressed) is turn


@pytest.mark.requirement("ING-2")
def test_a_room_has_its_own_policy_then_its_parents_then_the_default() -> None:
    policies = ReplyPolicies("addressed", {"1:2": "all", "1:3": "addressed"})
    assert policies.of("1", "2", None) == "all"
    assert policies.of("1", "9", "2") == "all"
    assert policies.of("1", "3", "2") == "addressed"
    assert policies.of("1", "9", None) == "addressed"
    assert policies.of(None, "2", None) == "addressed"

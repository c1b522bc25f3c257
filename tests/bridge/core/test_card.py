"""When a card is shown, changed and taken away, and what it says."""

from datetime import timedelta

import pytest

from clankie_bridge.core.card import CATEGORIES, Card, Later, Remove, Rest, Seek, Write, is_card, step, text

BEGAN = timedelta(hours=1)


def after(seconds: float) -> timedelta:
    return BEGAN + timedelta(seconds=seconds)


SHOWN = Card(BEGAN).heard({"web": 1}).written(text({"web": 1}), after(5), "7")


@pytest.mark.requirement("ROOM-4")
def test_nothing_is_shown_before_five_seconds_of_work() -> None:
    card = Card(BEGAN).heard({"web": 1})
    assert step(card, after(0)) == Later(after(5))
    assert step(card, after(4.9)) == Later(after(5))
    assert step(card, after(5)) == Write("🛠️ At work: web x 1")
    assert step(Card(BEGAN), after(9)) == Rest()


@pytest.mark.requirement("ROOM-4")
def test_a_card_changes_at_most_once_in_two_seconds_and_only_with_its_counts() -> None:
    assert step(SHOWN, after(30)) == Rest()
    more = SHOWN.heard({"web": 2}).heard({"web": 3})
    assert step(more, after(6)) == Later(after(7))
    assert step(more, after(7)) == Write("🛠️ At work: web x 3")


@pytest.mark.requirement("ROOM-4")
def test_a_card_goes_with_its_turn_and_does_not_come_again() -> None:
    assert step(SHOWN.ended(), after(6)) == Remove("7")
    gone = SHOWN.ended().written("x", after(6), None)
    assert step(gone, after(60)) == Rest()
    assert step(gone.heard({"web": 9}), after(60)) == Rest()
    assert step(Card(BEGAN).heard({"web": 1}).ended(), after(60)) == Rest()


@pytest.mark.requirement("ROOM-4")
def test_a_card_that_may_be_there_unknown_is_sought_once_when_its_turn_ends() -> None:
    doubtful = Card(BEGAN).heard({"web": 1}).written(text({"web": 1}), after(5), None, doubtful=True)
    assert step(doubtful, after(6)) == Rest()
    assert step(doubtful.ended(), after(6)) == Seek()
    assert step(doubtful.ended().written("x", after(7), None), after(8)) == Rest()


@pytest.mark.requirement("ROOM-4")
def test_a_card_that_somebody_took_away_stays_away() -> None:
    taken = SHOWN.written("x", after(8), None)
    assert step(taken.heard({"web": 9}), after(60)) == Rest()


@pytest.mark.requirement("ROOM-4")
def test_a_card_names_categories_and_counts_alone() -> None:
    assert text({"files": 1, "web_search": 3, "a": 1}) == "🛠️ At work: web search x 3, a x 1, files x 1"
    assert text({chr(97 + each): 1 for each in range(CATEGORIES + 3)}).endswith("other x 3")


def test_a_card_is_told_from_words_of_his() -> None:
    assert is_card(text({"web": 1}))
    assert not is_card("At work: nothing.")

"""What a plain "stop" is, what may still be changed, and what work in tools looks like from the room."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.activity import CATEGORIES, OTHER, Activity, after
from clankie_captain.core.changes import Change, change
from clankie_captain.core.commands import STOP_WORDS, is_stop
from clankie_captain.core.turns import TurnState

NAMES = ("Clankie", "Clank")


@pytest.mark.parametrize(
    "body",
    ["stop", "Stop!", "STOP.", "clankie, stop", "stop, Clankie", "<@1001> stop", "<@!1001> please stop…", "Stop it",
     "stop please", "**stop**", "_stop_", "<@&1002> stop", "stop clank", " stop\n"],
)  # fmt: skip
def test_a_message_that_says_only_stop_is_one(body: str) -> None:
    assert is_stop(body, NAMES)


@pytest.mark.parametrize(
    "body",
    [None, "", "don't stop", "stop the music", "bus stop", "stopped", "Clankie", "stop, Ann", "nonstop", "stop stop",
     "what does stop do?", "stopclankie", "clankiestop"],
)  # fmt: skip
def test_a_message_that_says_more_than_stop_is_none(body: str | None) -> None:
    assert not is_stop(body, NAMES)


def test_a_name_that_looks_like_a_pattern_is_taken_as_it_is() -> None:
    assert is_stop("C.(lankie stop", ["C.(lankie"])
    assert not is_stop("Cx(lankie stop", ["C.(lankie"])


@given(st.sampled_from(sorted(STOP_WORDS)), st.sampled_from(["", *NAMES, "<@1001>"]), st.sampled_from(["", "!", "."]))
def test_every_stop_word_is_heard_with_his_name_before_or_behind(word: str, name: str, mark: str) -> None:
    assert is_stop(f"{name} {word}{mark}", NAMES)
    assert is_stop(f"{word}{mark} {name}", NAMES)


@pytest.mark.parametrize(
    ("state", "free", "taken"),
    [
        ("queued", "open", "open"),
        ("steer", "open", "started"),
        ("live", "started", "started"),
        ("heard", "started", "started"),
        ("done", "settled", "settled"),
    ],
)
def test_words_may_be_changed_until_a_request_is_made_of_them(state: TurnState, free: Change, taken: Change) -> None:
    assert (change(state, taken=False), change(state, taken=True)) == (free, taken)


@given(st.lists(st.tuples(st.sampled_from(["send_text_update", "web", "shell"]), st.booleans()), max_size=20))
def test_calls_are_counted_by_category_and_never_by_name(calls: list[tuple[str, bool]]) -> None:
    activity = Activity(timedelta(5))
    for tool, ends in calls:
        activity = after(activity, tool, "started")
        assert activity.working
        if ends:
            activity = after(activity, tool, "ended")
    assert set(activity.counts) <= {*CATEGORIES.values(), OTHER}
    assert sum(activity.counts.values()) == len(calls)
    assert activity.running == sum(not ends for _, ends in calls)
    assert activity.began == timedelta(5)


def test_an_end_without_a_beginning_is_passed_over() -> None:
    assert not after(Activity(timedelta()), "web", "ended").working

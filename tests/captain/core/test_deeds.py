"""What a slash command comes to: who may give it, what is said, and what is changed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.commands import (
    BUSY,
    COMPACTING,
    LOUD,
    NOTHING,
    QUIET,
    QUIET_FOR,
    RENEWED,
    STOPPED,
    Deed,
    Halt,
    Hush,
    Renew,
    deed,
    is_quiet,
)
from clankie_captain.core.turns import Aloud, Beside, LaneView
from clankie_settings.ids import RunId
from clankie_settings.wire.command import Command, CommandName
from clankie_settings.wire.trigger import Actor, Room
from tests.captain.core.speech import ANN, BOB, DM_ROOM, GUILD_ROOM, NOON, OWNER

pytestmark = pytest.mark.requirement("OPS-5")

IDLE = LaneView(live=None, started_at=None, speakers=frozenset(), waiting=0, quiet=False, tokens=0)
LIVE = replace(IDLE, live=RunId("run_1"), started_at=NOON - timedelta(seconds=12), speakers=frozenset({ANN.actor_id}))
OWNERS = OWNER.actor_id
CHANGING: tuple[CommandName, ...] = ("stop", "new", "quiet")


def given_by(actor: Actor, name: CommandName, room: Room = GUILD_ROOM) -> Command:
    return Command(command_id="c1", name=name, room=room, actor=actor)


@pytest.mark.parametrize("view", [IDLE, LIVE])
@pytest.mark.parametrize("name", CHANGING)
def test_nobody_but_the_owner_changes_a_room_by_default(name: CommandName, view: LaneView) -> None:
    refused = deed(given_by(BOB, name), view, OWNERS, NOON)
    assert refused.change is None
    assert "owner" in refused.answer


@pytest.mark.parametrize("name", CHANGING)
def test_where_no_owner_is_set_nobody_is_the_owner(name: CommandName) -> None:
    assert deed(given_by(OWNER, name), LIVE, None, NOON).change is None


@pytest.mark.parametrize(
    ("name", "view", "expected"),
    [
        ("stop", LIVE, Deed(STOPPED, Halt((RunId("run_1"),)))),
        ("stop", IDLE, Deed(NOTHING)),
        ("new", IDLE, Deed(RENEWED, Renew())),
        ("new", LIVE, Deed(BUSY)),
        ("quiet", IDLE, Deed(QUIET, Hush(NOON + QUIET_FOR))),
        ("quiet", LIVE, Deed(QUIET, Hush(NOON + QUIET_FOR))),
        ("quiet", replace(IDLE, quiet=True), Deed(LOUD, Hush(None))),
    ],
)
@pytest.mark.parametrize(("actor", "room"), [(OWNER, GUILD_ROOM), (BOB, DM_ROOM)])
def test_the_owner_and_whoever_speaks_with_him_alone_have_it_done(
    actor: Actor, room: Room, name: CommandName, view: LaneView, expected: Deed
) -> None:
    assert deed(given_by(actor, name, room), view, OWNERS, NOON) == expected


def test_whoever_is_being_answered_may_stop_that_and_nothing_more() -> None:
    assert deed(given_by(ANN, "stop"), LIVE, OWNERS, NOON) == Deed(STOPPED, Halt((RunId("run_1"),)))
    assert deed(given_by(ANN, "new"), LIVE, OWNERS, NOON).change is None
    assert deed(given_by(ANN, "quiet"), LIVE, OWNERS, NOON).change is None


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (IDLE, "Nothing is running here."),
        (LIVE, "At work for 12 s."),
        (replace(LIVE, waiting=2), "At work for 12 s. 2 waiting."),
        (replace(LIVE, started_at=NOON + timedelta(hours=1)), "At work for 0 s."),
        (
            replace(IDLE, quiet=True),
            "Nothing is running here. Quiet until somebody ends it with /quiet, or the hour is over.",
        ),
    ],
)
def test_anybody_is_told_how_it_stands(view: LaneView, text: str) -> None:
    assert deed(given_by(BOB, "status"), view, OWNERS, NOON) == Deed(text)


def test_anybody_is_told_what_the_room_cost_today() -> None:
    spent = replace(IDLE, tokens=12_345)
    assert deed(given_by(BOB, "usage"), spent, OWNERS, NOON) == Deed("12,345 tokens here today (UTC).")


@given(st.one_of(st.none(), st.integers(-200, 200)))
def test_quiet_ends_with_its_hour_and_no_clock_that_is_set_back_prolongs_it(minutes: int | None) -> None:
    until = None if minutes is None else NOON + timedelta(minutes=minutes)
    assert is_quiet(until, NOON) == (minutes is not None and 0 < minutes <= 60)


@pytest.mark.requirement("CTX-7")
def test_what_begins_anew_needs_no_notes_and_does_not_wait_for_them() -> None:
    compacting = replace(LIVE, speakers=frozenset(), compacting=True)
    assert deed(given_by(OWNER, "new"), compacting, OWNERS, NOON) == Deed(RENEWED, Renew())
    assert deed(given_by(OWNER, "stop"), compacting, OWNERS, NOON) == Deed(STOPPED, Halt((RunId("run_1"),)))
    assert deed(given_by(BOB, "stop"), compacting, OWNERS, NOON).change is None
    assert deed(given_by(BOB, "status"), replace(compacting, waiting=2), OWNERS, NOON) == Deed(
        f"{COMPACTING} 2 waiting."
    )


def test_what_runs_aloud_is_stopped_by_whoever_speaks_in_it_and_is_seen_by_all() -> None:
    aloud = replace(IDLE, aloud=Aloud(RunId("run_4"), frozenset({ANN.actor_id}), NOON - timedelta(seconds=7)))
    for actor in (ANN, OWNER):
        assert deed(given_by(actor, "stop"), aloud, OWNERS, NOON) == Deed(STOPPED, Halt((RunId("run_4"),)))
    assert deed(given_by(BOB, "stop"), aloud, OWNERS, NOON).change is None
    assert deed(given_by(BOB, "status"), aloud, OWNERS, NOON) == Deed("At work for 7 s.")
    assert deed(given_by(OWNER, "new"), aloud, OWNERS, NOON) == Deed(BUSY)
    compacting = replace(IDLE, aloud=Aloud(RunId("run_4"), frozenset(), NOON))
    assert deed(given_by(BOB, "status"), compacting, OWNERS, NOON) == Deed(COMPACTING)
    assert deed(given_by(OWNER, "new"), compacting, OWNERS, NOON) == Deed(RENEWED, Renew())


ONE_SHOTS = (
    Beside(RunId("run_2"), ANN.actor_id, NOON),
    Beside(RunId("run_3"), BOB.actor_id, NOON - timedelta(seconds=5)),
)


@pytest.mark.parametrize(
    ("actor", "view", "ended"),
    [
        (ANN, replace(LIVE, one_shots=ONE_SHOTS), ("run_1", "run_2")),
        (BOB, replace(LIVE, one_shots=ONE_SHOTS), ("run_3",)),
        (BOB, replace(IDLE, one_shots=ONE_SHOTS), ("run_3",)),
        (OWNER, replace(LIVE, one_shots=ONE_SHOTS), ("run_1", "run_2", "run_3")),
        (OWNER, replace(IDLE, one_shots=ONE_SHOTS), ("run_2", "run_3")),
    ],
)
def test_a_stop_ends_one_shots_in_its_room_as_well(actor: Actor, view: LaneView, ended: tuple[str, ...]) -> None:
    assert deed(given_by(actor, "stop"), view, OWNERS, NOON) == Deed(STOPPED, Halt(tuple(map(RunId, ended))))


def test_whoever_is_answered_by_none_of_them_ends_none() -> None:
    assert deed(given_by(BOB, "stop"), replace(LIVE, one_shots=ONE_SHOTS[:1]), OWNERS, NOON).change is None


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("actor", "view", "ended"),
    [
        (ANN, replace(IDLE, loops=ONE_SHOTS), ("run_2",)),
        (OWNER, replace(LIVE, loops=ONE_SHOTS), ("run_1", "run_2", "run_3")),
    ],
)
def test_a_stop_ends_the_loops_of_a_room(actor: Actor, view: LaneView, ended: tuple[str, ...]) -> None:
    assert deed(given_by(actor, "stop"), view, OWNERS, NOON) == Deed(STOPPED, Halt(tuple(map(RunId, ended))))


@pytest.mark.requirement("LOOP-3")
def test_a_room_that_thinks_in_loops_is_at_work_while_one_of_them_is() -> None:
    compacting = Beside(RunId("run_4"), None, NOON)
    busy, resting = replace(IDLE, loops=(*ONE_SHOTS, compacting)), replace(IDLE, loops=(compacting,))
    assert deed(given_by(BOB, "status"), busy, OWNERS, NOON).answer == "At work for 5 s."
    assert deed(given_by(OWNER, "new"), busy, OWNERS, NOON) == Deed(BUSY)
    assert deed(given_by(BOB, "status"), resting, OWNERS, NOON).answer == COMPACTING
    assert deed(given_by(OWNER, "new"), resting, OWNERS, NOON) == Deed(RENEWED, Renew())

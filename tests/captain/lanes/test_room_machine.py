"""Whatever comes between: nobody is lost, passed over, answered twice, or given another's powers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)

from clankie_captain.core import children
from clankie_captain.core.admission import Floor
from clankie_captain.core.children import report
from clankie_captain.core.grants import Powers, refused_by
from clankie_captain.core.lane import Trust
from clankie_captain.core.settlement import settlement
from clankie_captain.lanes import grants as authority
from clankie_captain.store import arrivals, forks, runs, speech
from clankie_captain.store.engine import Database
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from tests.captain.lanes.place import ANN, BOB, EVEN, MORE, OWNER, Place


@pytest.fixture(scope="module", autouse=True)
def empty(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("empty") / "captain.db"

    async def migrated() -> None:
        await (await Database.open(f"sqlite+aiosqlite:///{path}")).close()

    asyncio.run(migrated())
    Place.empty = path


@pytest.mark.timeout(600)
@pytest.mark.requirement(
    "LANE-2", "LANE-4", "LANE-5", "LANE-6", "LANE-7", "LANE-16", "LOOP-2", "LOOP-3", "LOOP-4", "LOOP-5", "LOOP-6",
    "LOOP-9",
    "GRANT-1", "GRANT-2", "GRANT-3", "GRANT-5", "VOX-1", "VOX-2", "OPS-1", "OPS-5", "ING-7",
)  # fmt: skip
def test_whatever_comes_between_nobody_is_lost_passed_over_answered_twice_or_given_anothers_powers() -> None:
    run_state_machine_as_test(
        Place,
        settings=settings(
            max_examples=16,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
        ),
    )


Step = tuple[Any, ...]
"""A step of the machine by name, with what it is given."""

TURNS: list[Step] = [("begin", True, EVEN), ("write", ANN), ("write", BOB)]
LANE: list[Step] = [("begin", False, EVEN), ("write", ANN), ("write", BOB)]
ALOUD: list[Step] = [("begin", False, EVEN), ("hold",), ("write", ANN), ("end",)]
BOTH: list[Step] = [("begin", False, EVEN), ("hold",), ("utter", ANN), ("write", BOB), ("reach_a_boundary",), ("end",)]
REPORT: list[Step] = [("begin", False, EVEN), ("write", ANN), ("fork",), ("end", 1), ("reach_a_boundary",)]
ALONE: list[Step] = [("begin", False, Powers()), ("write", ANN), ("call_tools",)]
TOGETHER: list[Step] = [("begin", False, MORE), ("write", ANN), ("write", BOB), ("reach_a_boundary",)]
ALONGSIDE: list[Step] = [("begin", False, Powers(Trust(frozenset({BOB, OWNER})))), ("write", BOB), ("write", OWNER)]
INSISTS: list[Step] = [("begin", True, EVEN), ("write", ANN), ("insist",)]
WITHDRAWN: list[Step] = [*INSISTS, ("change", 3, "withdraw"), ("write", ANN), ("reach_a_boundary",)]
NEVER, ANYHOW = False, property(lambda floor: floor.past >= bounds.STEERS_PAST_OTHERS)
"""When a sender's floor ends, where nothing ends it, or only what has passed others."""


def _first_alone(tool: str, grants: Sequence[Any]) -> int | None:
    return refused_by(tool, grants[:1])


def _deaf(run: Any, ending: Any, turns: Any, after_action: int | None = None) -> Any:
    """The settlement without its look at what was steered: such words are settled as if they had been heard."""
    heard = [replace(each, hearing="heard") if each.hearing == "unheard" else each for each in turns]
    return settlement(run, ending, heard, after_action)


def _steering(*told: Any) -> Any:
    return report(*told).model_copy(update={"delivery": "auto"})


def _anyone(*asked: Any) -> str:
    del asked
    return "anyone"


def _nothing(*asked: Any) -> None:
    del asked


def _nobody(*asked: Any) -> frozenset[PresenceId]:
    del asked
    return frozenset()


def _unspoken(reply: Any) -> Any:
    return reply


BACKWARDS = runs._QUEUED.order_by(None).order_by(runs._delivery.seq.desc())  # pyright: ignore[reportPrivateUsage]
FAULTS: list[tuple[list[Step], tuple[ModuleType | type, str, Any], str]] = [
    ([*TURNS, ("reach_a_boundary",)], (arrivals, "steer_by", _anyone), "another speaker"),
    ([*TURNS, ("change_powers", Powers()), ("end",)], (authority, "withdrawn", _nothing), "begun without its grant"),
    ([*TURNS, ("write", OWNER), ("end",)], (runs, "_QUEUED", BACKWARDS), "passed over"),
    (INSISTS, (Floor, "ends", NEVER), "kept waiting"),
    ([*ALONGSIDE, ("insist",)], (Floor, "ends", NEVER), "kept waiting"),
    (WITHDRAWN, (Floor, "ends", ANYHOW), "overtaken"),
    ([*TURNS, ("end",)], (runs, "follow", _nothing), "waits for nothing"),
    ([*LANE, ("end",)], (runs, "settlement", _deaf), "never heard"),
    (
        [("begin", False, Powers()), ("write", ANN), ("call_tools",)],
        (authority, "refused_by", _nothing),
        "beyond what all",
    ),
    ([*TOGETHER, ("call_tools",)], (authority, "refused_by", _first_alone), "beyond what all"),
    ([*TOGETHER, ("fork",), ("call_tools", 1)], (forks, "speakers", _nobody), "beyond what all"),
    (REPORT, (children, "report", _steering), "nobody wrote has steered"),
    (REPORT, (forks, "tell", _nothing), "lost"),
    ([*ALOUD, ("acknowledge",)], (speech, "spoken", _unspoken), "no way, or two"),
    (BOTH, (speech, "_write", _nothing), "typed words wait"),
    (ALOUD, (speech, "give_all_back", _nobody), "a voice that has gone"),
]


@pytest.mark.parametrize(("steps", "patch", "fault"), FAULTS)
def test_the_machine_notices_what_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, steps: list[Step], patch: tuple[ModuleType | type, str, Any], fault: str
) -> None:
    _played(steps)
    monkeypatch.setattr(*patch)
    with pytest.raises(AssertionError, match=fault):
        _played(steps)


def _played(steps: list[Step]) -> None:
    place = Place()
    try:
        for name, *how in steps:
            getattr(place, name)(*how)
        place.finish()
    finally:
        place.close()

"""The lanes eval with real processes: what each case comes to, and that a kill loses one performance."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from pathlib import Path

import psutil
import pytest

from clankie_settings.clock import SystemClock
from evals.campaign import SCRIPTED, Campaign, Plan
from evals.cases import Case, Loaded, load_all
from evals.observed import MODES, Mode
from evals.results import Result, add, read
from tests.system.house import PATIENT, plain_environment

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

PATIENCE_S = 540.0
PATIENCE = timedelta(minutes=2)
UNSCRIPTED = Loaded(
    name="unscripted",
    hash="0",
    case=Case.model_validate(
        {
            "title": "t",
            "asks": "Is everything named that was heard, where no rule says more?",
            "play": [{"say": "Clankie, the kettle", "by": "Ann", "label": "asked"}],
            "expect": {"replies": {"least": 1, "most": 1}, "contains": ["kettle"]},
        }
    ),
)
ASKED = ("--scripted", "--repetitions", "1", "--case", "burst")


async def started(folder: Path, out: Path) -> Process:
    """``clankie eval`` as a person starts it, away from the project's folder."""
    command = ("-m", "clankie_cli", "eval", *ASKED, "--out", str(out))
    return await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=folder, env=plain_environment(folder), stdout=PIPE, stderr=PIPE
    )


async def killed_after_the_first(process: Process) -> None:
    """Kill the eval itself, as a power cut would, once one performance is told."""
    assert process.stdout is not None
    told = await process.stdout.readline()
    assert told.split()[:2] == [b"one_shot", b"burst"], told
    assert process.returncode is None
    (child,) = psutil.Process(process.pid).children()
    child.kill()
    assert await process.wait() != 0


async def played(cases: Sequence[Loaded], mode: Mode, out: Path) -> list[Result]:
    """Every case once, in one mode."""
    return await Campaign(Plan(cases, (mode,), 1, SCRIPTED, None, {}, PATIENCE), out, SystemClock(), print).run()


@pytest.fixture
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """No case that is played here fails because a busy machine is slow."""
    monkeypatch.setattr("evals.houses.CAPTAIN", ("-P", *PATIENT))


@pytest.mark.usefixtures("time_enough")
@pytest.mark.requirement("LOOP-8")
async def test_a_killed_eval_goes_on_and_of_all_cases_only_a_burst_that_is_answered_thrice_fails(
    tmp_path: Path,
) -> None:
    out, cases = tmp_path / "results", (*load_all(), UNSCRIPTED)
    async with asyncio.timeout(PATIENCE_S):
        await killed_after_the_first(await started(tmp_path, out))
        (burst,) = read(out).values()
        first = (out / "results.jsonl").read_bytes()
        async with asyncio.TaskGroup() as both:
            # At once, so one of them elsewhere: an eval clears away the houses that it finds.
            both.create_task(played(cases, "lane", out))
            elsewhere = both.create_task(played(cases, "loop", tmp_path / "loop"))
        for each in elsewhere.result():
            add(out, each)
        again = await started(tmp_path, out)
        said, wrong = (each.decode() for each in await again.communicate())
    assert again.returncode == 0, said + wrong
    assert said.startswith("3 of 3 performances are there already\n")
    assert (out / "results.jsonl").read_bytes().startswith(first)
    results = {(key.mode, key.case): result for key, result in read(out).items()}
    assert {*results} == {("one_shot", "burst"), *product(MODES[1:], (each.name for each in cases))}
    fails = {name: _why(each) for name, each in results.items() if not each.passed}
    assert fails == {("one_shot", "burst"): _why(burst)}
    assert burst.faults[0] == "3 replies instead of 1"
    assert burst.observed.replies == len(burst.observed.posted) == 3
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert [each["against"] for each in report["comparisons"]] == ["one_shot", "lane"]
    figures = report["figures"]
    assert [(each["mode"], each["passed"]) for each in figures] == [*zip(MODES, (0, 1, 1), strict=True)]
    assert all(each["p50_ms"] and each["p95_ms"] and each["context"] and each["input"] for each in figures)
    assert "burst" in (out / "report.md").read_text("utf-8")


def _why(result: Result) -> tuple[str, ...]:
    return (*result.faults, *([result.opinion.why] if result.opinion else []))

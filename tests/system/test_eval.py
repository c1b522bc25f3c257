"""The lanes eval with real processes: a mode that answers a burst three times scores worse; a kill loses one case."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import psutil
import pytest

from evals.observed import MODES, Mode
from evals.results import Key, Result, read
from tests.system.house import plain_environment

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

PATIENCE_S = 240.0
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


def passed(results: dict[Key, Result], mode: Mode) -> int:
    return sum(result.passed for key, result in results.items() if key.mode == mode)


@pytest.mark.requirement("LOOP-8")
async def test_answering_a_burst_three_times_scores_worse_and_a_killed_eval_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "results"
    async with asyncio.timeout(PATIENCE_S):
        await killed_after_the_first(await started(tmp_path, out))
        assert len(read(out)) == 1
        first = (out / "results.jsonl").read_bytes()
        again = await started(tmp_path, out)
        said, wrong = (each.decode() for each in await again.communicate())
    assert again.returncode == 0, said + wrong
    assert said.startswith("1 of 3 performances are there already\n")
    assert (out / "results.jsonl").read_bytes().startswith(first)
    results = read(out)
    assert len(results) == 3
    assert [passed(results, mode) for mode in MODES] == [0, 1, 1], said
    (burst,) = (result for key, result in results.items() if (key.case, key.mode) == ("burst", "one_shot"))
    assert burst.faults[0] == "3 replies instead of 1"
    assert burst.observed.replies == len(burst.observed.posted) == 3
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert [each["against"] for each in report["comparisons"]] == ["one_shot", "lane"]
    figures = report["figures"]
    assert [(each["mode"], each["passed"]) for each in figures] == [("one_shot", 0), ("lane", 1), ("loop", 1)]
    assert all(each["p50_ms"] and each["p95_ms"] and each["context"] and each["input"] for each in figures)
    assert "burst" in (out / "report.md").read_text("utf-8")

"""The bench runs from end to end; what it measures decides no test."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.figures import Row, percentile, spread, table

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.system
@pytest.mark.timeout(600)
def test_the_smallest_bench_prints_its_table_and_ends_well() -> None:
    command = [sys.executable, "-m", "bench", "--tiny"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode == 0, done.stderr
    head, _, *rows = done.stdout.splitlines()
    assert head.split() == ["what", "target", "measured"]
    assert [row.split("  ")[0] for row in rows] == [
        "CPU a turn, no history",
        "CPU a turn, 50k-token history",
        *(
            f"{place}, {lanes}, p{percent}"
            for lanes in ("1 lane", "32 lanes")
            for place in ("before the first request", "after the last token")
            for percent in (50, 99)
        ),
        "settling, 20 lanes at once, p99",
        "refusals, the functions alone",
        "refusals, the whole bridge",
        "back after a restart",
        "frames of a 1 s 720p film",
        "four 4 MB pictures, first request",
    ]


def test_the_bare_loop_stays_bare() -> None:
    assert (ROOT / "bench/bare.py").read_text("utf-8").count("\n") <= 40


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert [percentile([3, 1, 2], percent) for percent in (0, 50, 99)] == [1, 2, 3]
    assert percentile(range(1, 201), 99) == 198


def test_a_spread_is_the_middle_with_both_ends() -> None:
    found = spread([3.0, 1.0, 2.0])
    assert (found.middle, found.least, found.most) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("row", "bound", "verdict"),
    [
        (Row("a", 1.5, "1.5 x", 1.6, " x"), "<= 1.6 x", "ok"),
        (Row("a", 1.7, "1.7 x", 1.6, " x"), "<= 1.6 x", "over"),
        (Row("a", 9_999, "9,999", 10_000, at_least=True), ">= 10,000", "under"),
        (Row("a", 10_000, "10,000", 10_000, at_least=True), ">= 10,000", "ok"),
        (Row("a", 1.5, "1.5 x", 1.6, " x", missed=True), "<= 1.6 x", "missed"),
        (Row("a", 1.5, "1.5 ms"), "-", "-"),
    ],
)
def test_a_row_says_how_it_stands_to_its_target(row: Row, bound: str, verdict: str) -> None:
    assert (row.bound, row.verdict) == (bound, verdict)
    assert table([row]).splitlines()[-1].split("  ")[0] == "a"

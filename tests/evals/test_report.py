"""Figures, flips and the verdict: keep the loop only if no case is worse, p50 drops, and p95 is not worse."""

import json
from pathlib import Path

import pytest
from PIL import Image

from evals.__main__ import write
from evals.report import Prices, percentile, report
from evals.results import Result
from evals.table import table
from tests.evals.making import no, result, run


def both(lane: list[int], loop: list[int], *, worse: bool = False) -> list[Result]:
    """One case in both modes with these latencies; ``worse`` in the loop."""
    one = [result("burst", "lane", repetition=n, ms=ms, runs=(run(),)) for n, ms in enumerate(lane, 1)]
    two = [result("burst", "loop", repetition=n, ms=ms, passes=not worse) for n, ms in enumerate(loop, 1)]
    return one + two


@pytest.mark.requirement("LOOP-8")
@pytest.mark.parametrize(
    ("results", "decision", "reasons"),
    [
        (both([10, 20], [5, 20]), "keep", ()),
        (both([10, 20], [5, 20], worse=True), "drop", ("burst is worse",)),
        (both([10, 20], [10, 20]), "drop", ("p50 does not drop",)),
        (both([10, 20], [5, 21]), "drop", ("p95 is worse",)),
        ([result("burst", "lane"), result("burst", "loop")], "undecided", ("no latencies",)),
    ],
)
def test_the_loop_is_kept_only_where_nothing_is_worse_and_the_middle_is_faster(
    results: list[Result], decision: str, reasons: tuple[str, ...]
) -> None:
    (only,) = report(results, None, scripted=False).comparisons
    assert (only.against, only.decision, only.reasons) == ("lane", decision, reasons)


def test_a_case_that_gets_better_flips_and_speaks_for_the_loop() -> None:
    results = [result("one", "lane", ms=9, passes=False), result("one", "loop", ms=5), result("two", "lane", ms=9)]
    found = report([*results, result("two", "loop", ms=5)], None, scripted=False)
    (only,) = found.comparisons
    assert [(flip.case, flip.before, flip.after) for flip in only.flips] == [("one", 0, 1)]
    assert only.decision == "keep"
    assert "flipped: one 0 → 1" in table(found)


def test_a_mode_that_answers_twice_scores_worse() -> None:
    results = [result("burst", "one_shot", passes=False, ms=1), result("burst", "lane", ms=2)]
    one_shot, lane = report(results, None, scripted=False).figures
    assert (one_shot.passed, lane.passed) == (0, 1)
    assert "0/1: 2 replies instead of 1" in table(report(results, None, scripted=False))


def test_repetitions_that_disagree_are_named() -> None:
    results = [result("one", "lane", repetition=1), result("one", "lane", repetition=2, passes=False)]
    found = report(results, None, scripted=False)
    assert found.unsteady == {"lane": ("one",)}
    assert "lane (0118): the repetitions disagree about one" in table(found)
    assert "No verdict" in table(found)


def test_a_judge_that_says_no_stands_in_the_table_with_its_reason() -> None:
    judged = result("one", "lane").model_copy(update={"opinion": no()})
    assert "0/1: judge: It repeats itself." in table(report([judged], None, scripted=False))


def test_tokens_come_from_the_runs_and_a_cost_is_said_only_where_prices_are_known() -> None:
    results = [result("one", "lane", runs=(run(), run(input=3_000, cached=400, output=90, context=3_090)))]
    (figures,) = report(results, Prices(input=10, cached=1, output=100), scripted=False).figures
    assert (figures.input, figures.output, figures.context) == (4_000, 100, 1_010)
    assert figures.cached == pytest.approx(0.2)
    assert figures.cost == pytest.approx((3_200 * 10 + 800 * 1 + 100 * 100) / 1_000_000)
    unknown = report(results, None, scripted=False)
    assert unknown.figures[0].cost is None
    assert "| cost a case | not said |" in table(unknown)


@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [([], None, None), ([7], 7, 7), ([4, 1, 3, 2], 2, 4), (list(range(1, 101)), 50, 95)],
)
def test_a_percentile_is_a_value_that_was_there(values: list[int], p50: int | None, p95: int | None) -> None:
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (p50, p95)


def test_on_the_scripted_provider_there_is_no_verdict() -> None:
    told = table(report(both([10, 20], [5, 20]), None, scripted=True))
    assert "Verdict" not in told
    assert "no mind took part" in told
    assert "**Verdict against lane (0118): keep the loop**" in table(
        report(both([10, 20], [5, 20]), None, scripted=False)
    )


def test_the_report_is_written_as_table_json_and_picture(tmp_path: Path) -> None:
    found = report(both([10, 20], [5, 20]), None, scripted=False)
    write(found, tmp_path)
    assert (tmp_path / "report.md").read_text("utf-8") == table(found)
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["comparisons"][0]["decision"] == "keep"
    with Image.open(tmp_path / "report.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 300

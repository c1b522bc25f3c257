"""Results are lines; what is there is not done again, and what was torn is."""

from pathlib import Path

from evals import results
from evals.results import FILE, outstanding
from tests.evals.making import no, result


def test_a_result_comes_back_as_it_was_written(tmp_path: Path) -> None:
    kept = result("burst", "lane", ms=12).model_copy(update={"opinion": no()})
    results.add(tmp_path, kept)
    assert results.read(tmp_path) == {kept.key: kept}
    assert results.read(tmp_path / "elsewhere") == {}


def test_a_line_that_was_torn_costs_its_own_performance_alone(tmp_path: Path) -> None:
    first, second, third = (result(name, "lane") for name in ("one", "two", "three"))
    results.add(tmp_path, first)
    with (tmp_path / FILE).open("a") as file:
        file.write(second.model_dump_json()[:40])
    results.add(tmp_path, third)
    keys = [first.key, second.key, third.key]
    assert outstanding(keys, results.read(tmp_path)) == [second.key]


def test_another_model_another_judge_or_a_changed_case_is_done_again(tmp_path: Path) -> None:
    there = result("one", "lane")
    results.add(tmp_path, there)
    changed = [
        there.key._replace(**each) for each in ({"model": "n"}, {"judge": "k"}, {"hash": "9"}, {"repetition": 2})
    ]
    assert outstanding([there.key, *changed], results.read(tmp_path)) == changed


def test_a_judge_that_says_no_is_a_case_that_fails() -> None:
    assert result("one", "lane").passed
    assert not result("one", "lane").model_copy(update={"opinion": no()}).passed
    assert not result("one", "lane", passes=False).passed

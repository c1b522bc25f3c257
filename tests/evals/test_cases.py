"""Cases are read strictly, and a fault is said with file and field."""

from pathlib import Path

import pytest

from evals.cases import FOLDER, CaseError, load, load_all
from evals.performance import answers

ALL = sorted(path.stem for path in FOLDER.glob("*.yaml"))

GOOD = """\
title: one
asks: Does it?
play:
  - {say: "Clankie, hello", by: Ann, label: first}
  - {reach: amid}
  - {open: amid}
script:
  - {last: hello, gate: amid, say: "Hello."}
expect:
  replies: {least: 1, most: 1}
"""


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(content, "utf-8")
    return path


@pytest.mark.parametrize("name", ALL)
def test_every_case_that_comes_along_can_be_read_and_scripted(name: str) -> None:
    loaded = load(FOLDER / f"{name}.yaml")
    assert loaded.case.labels
    assert len(answers(loaded.case.script)) == sum(rule.times for rule in loaded.case.script)


def test_the_cases_are_those_that_the_requirement_names() -> None:
    assert {
        "burst", "correction", "two_topics", "beyond_excerpt", "long_task", "silence", "steer_during_tool",
        "after_restart", "that_one",
    } <= {*ALL}  # fmt: skip


def test_a_changed_case_is_another_one(tmp_path: Path) -> None:
    first = load(written(tmp_path, GOOD))
    assert load(written(tmp_path, GOOD)).hash == first.hash
    assert load(written(tmp_path, GOOD.replace("hello", "good day"))).hash != first.hash


@pytest.mark.parametrize(
    ("wrong", "right", "field", "said"),
    [
        ("titel: one", "title: one", "title", "Field required"),
        ("by: Cid", "by: Ann", "play[0].by", "'Ann' or 'Bob'"),
        ("label: First", "label: first", "play[0].label", "pattern"),
        ("{shout: amid}", "{reach: amid}", "play[1]", "expected say, chatter"),
        ("{reach: amid, otherwise: 1}", "{reach: amid}", "play[1].otherwise", "Extra inputs"),
        ("{open: elsewhere}", "{open: amid}", "", "no rule has the gate elsewhere"),
        ("{settle: [second]}", "{open: amid}", "", "no message has been said with the label second"),
        ("gate: amid}", 'gate: amid, say: "Hello."}', "script[0]", "exactly one of say, call and silence"),
        ("least: many", "least: 1", "expect.replies.least", "integer"),
        ("replies: {least: 1, most: 1}\n  ends: {x: [replied]}", "replies: {least: 1, most: 1}", "", "the label x"),
        ("ends: {first: [answered]}", "replies: {least: 1, most: 1}", "expect.ends.first[0]", "'replied'"),
    ],
)
def test_a_fault_is_said_with_its_file_and_field(tmp_path: Path, wrong: str, right: str, field: str, said: str) -> None:
    assert right in GOOD
    with pytest.raises(CaseError) as caught:
        load(written(tmp_path, GOOD.replace(right, wrong, 1)))
    assert (caught.value.file, caught.value.field) == ("mine.yaml", field)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("content", "field"), [("title: [", "line 1"), ("title: a\n b: :\n- c", "line 2"), ("", ""), ("- a", "")]
)
def test_what_is_no_case_at_all_is_refused(tmp_path: Path, content: str, field: str) -> None:
    with pytest.raises(CaseError, match=r"^mine\.yaml: ") as caught:
        load(written(tmp_path, content))
    assert caught.value.field == field


def test_a_case_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    with pytest.raises(CaseError, match=r"yours\.yaml: is not there; there are mine"):
        load_all(tmp_path, ("yours",))
    with pytest.raises(CaseError, match="holds no cases"):
        load_all(tmp_path / "empty")
    with pytest.raises(CaseError, match="cannot be read"):
        load(tmp_path / "gone.yaml")
    assert [each.name for each in load_all(tmp_path, ("mine",))] == ["mine"]

"""Every built requirement has a test that proves it, and no test names a requirement that does not exist."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from tests.requirements import BUILT
from tests.rules.sources import ROOT, Source, expect_none, python_files

_UNPROVEN = ("skip", "skipif", "xfail")


def written_ids() -> list[str]:
    return re.findall(r"^- ([A-Z]+-\d+) ", (ROOT / "docs/requirements.md").read_text("utf-8"), re.MULTILINE)


def _mark(node: ast.expr) -> str | None:
    """The name of a pytest mark: `requirement` for `pytest.mark.requirement("WIRE-1")`."""
    match node.func if isinstance(node, ast.Call) else node:
        case ast.Attribute(value=ast.Attribute(attr="mark"), attr=name):
            return name
        case _:
            return None


def _named(mark: ast.expr) -> Iterator[str]:
    for argument in mark.args if isinstance(mark, ast.Call) else ():
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            pytest.fail(f"line {argument.lineno}: write requirement ids as plain strings")
        yield argument.value


def _marks(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.decorator_list
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("pytestmark"):
        return node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    if isinstance(node, ast.keyword) and node.arg == "marks":
        return node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return []


def proven_ids(source: Source) -> set[str]:
    """The ids that a file's tests name; a test that may be skipped or may fail proves nothing."""
    proven: set[str] = set()
    for node in ast.walk(source.tree):
        marks = _marks(node)
        if not any(_mark(mark) in _UNPROVEN for mark in marks):
            proven.update(name for mark in marks if _mark(mark) == "requirement" for name in _named(mark))
    return proven


def faults(written: list[str], built: Iterable[str], sources: Iterable[Source]) -> list[str]:
    """What is wrong between the requirements, the list of built ones, and the tests."""
    places = {name: source.path for source in sources for name in proven_ids(source)}
    return [
        *(f"docs/requirements.md: {name} is given twice" for name, count in Counter(written).items() if count > 1),
        *(f"tests/requirements.py: {name} is not in docs/requirements.md" for name in sorted({*built} - {*written})),
        *(f"{places[name]}: {name} is not in docs/requirements.md" for name in sorted({*places} - {*written})),
        *(f"tests/requirements.py: no test proves {name}" for name in sorted({*built} - {*places})),
    ]


def test_built_requirements_and_tests_agree_both_ways() -> None:
    expect_none(faults(written_ids(), BUILT, python_files("tests")))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("def test_a(): ...", "no test proves WIRE-1"),
        ("@pytest.mark.requirement('WIRE-1', 'WIRE-99')\ndef test_a(): ...", "WIRE-99 is not in"),
        (
            "@pytest.mark.requirement('WIRE-1')\n@pytest.mark.skip(reason='x')\ndef test_a(): ...",
            "no test proves WIRE-1",
        ),
        ("@pytest.mark.requirement('WIRE-1')\n@pytest.mark.xfail\ndef test_a(): ...", "no test proves WIRE-1"),
    ],
)
def test_a_missing_or_unknown_id_is_reported(body: str, complaint: str) -> None:
    found = faults(["WIRE-1", "WIRE-2"], ["WIRE-1"], [Source("tests/test_a.py", body)])
    assert any(complaint in line for line in found)


def test_an_id_given_twice_or_built_without_being_written_is_reported() -> None:
    found = faults(["WIRE-1", "WIRE-1"], ["WIRE-7"], [])
    assert [line.split(": ")[1] for line in found] == [
        "WIRE-1 is given twice",
        "WIRE-7 is not in docs/requirements.md",
        "no test proves WIRE-7",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.requirement('WIRE-1')\nasync def test_a(): ...",
        "@pytest.mark.requirement('WIRE-1')\nclass TestA: ...",
        "pytestmark = [pytest.mark.system, pytest.mark.requirement('WIRE-1')]",
        "pytestmark = pytest.mark.requirement('WIRE-1')",
        "CASES = [pytest.param(1, marks=pytest.mark.requirement('WIRE-1'))]",
    ],
)
def test_an_id_is_found_wherever_pytest_takes_a_mark(body: str) -> None:
    assert proven_ids(Source("tests/test_a.py", body)) == {"WIRE-1"}

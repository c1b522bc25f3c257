"""Tests wait for conditions, never for time; what a test leaves out, it says aloud."""

import ast
from collections.abc import Iterator

import pytest

from tests.rules.sources import Source, calls, expect_none, python_files

SLEEPS = ("time.sleep", "asyncio.sleep", "anyio.sleep")
LEFT_OUT = ("skip", "skipif", "xfail", "importorskip")
SHORTEST_REASON = 20


def sleeps(source: Source) -> Iterator[str]:
    """Calls that wait for time. `asyncio.sleep(0)` hands over to other tasks and waits for nothing."""
    for call, name in calls(source.tree):
        hands_over = len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
        if name in SLEEPS and not hands_over:
            yield f"{source.path}:{call.lineno}: wait for a condition with a deadline instead of {name}()"


def silences(source: Source) -> Iterator[str]:
    """Skips and expected failures that do not say why."""
    tree = source.tree
    called = {call.func for call, _ in calls(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in called and node.attr in LEFT_OUT and _is_mark(node):
            yield f"{source.path}:{node.lineno}: {node.attr} without a reason"
    for call, name in calls(tree):
        if name.startswith("pytest.") and name.rpartition(".")[2] in LEFT_OUT and not _says_why(call, name):
            yield f"{source.path}:{call.lineno}: {name} needs a reason of a sentence: what is missing, and what to do"


def _is_mark(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "mark"


def _says_why(call: ast.Call, name: str) -> bool:
    reasons = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    if name == "pytest.skip":
        reasons += call.args[:1]
    return any(len(ast.unparse(reason)) - 2 >= SHORTEST_REASON for reason in reasons)


def test_no_test_sleeps() -> None:
    expect_none(fault for source in python_files("tests", "bench") for fault in sleeps(source))


def test_whatever_a_test_leaves_out_it_says_why() -> None:
    expect_none(fault for source in python_files("tests") for fault in silences(source))


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)",
        "from asyncio import sleep\nasync def a(): await sleep(0.1)",
        "import asyncio as a\nasync def b(): await a.sleep(delay)",
    ],
)
def test_a_sleep_is_seen(text: str) -> None:
    assert [*sleeps(Source("tests/test_a.py", text))]


def test_handing_over_to_other_tasks_is_no_sleep() -> None:
    assert not [*sleeps(Source("tests/test_a.py", "import asyncio\nasync def a(): await asyncio.sleep(0)"))]


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n@pytest.mark.skip\ndef test_a(): ...",
        "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_a(): ...",
        "import pytest\n@pytest.mark.skipif(True, reason='no')\ndef test_a(): ...",
        "import pytest\ndef test_a(): pytest.skip('later')",
        "import pytest\nx = pytest.importorskip('x')",
    ],
)
def test_a_silent_skip_is_seen(text: str) -> None:
    assert [*silences(Source("tests/test_a.py", text))]


def test_a_skip_that_says_why_is_left_alone() -> None:
    text = "import pytest\ndef test_a(): pytest.skip('no chromium on PATH: apt-get install chromium')"
    assert not [*silences(Source("tests/test_a.py", text))]

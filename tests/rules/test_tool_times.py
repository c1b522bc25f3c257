"""Each tool has a bound below the stall bound, and says while it works that it does. Source: FAIL-1, FAIL-3."""

import ast
from datetime import timedelta
from typing import Final

import pytest

from clankie_captain.agent.tools import TOOLS
from clankie_captain.core.stall import share
from clankie_settings import bounds
from tests.rules.sources import Source, calls, python_files

pytestmark = pytest.mark.requirement("FAIL-1", "FAIL-3")

TIMES: Final = {
    "draw_diagram": "DRAWING_TIME",
    "screenshot_page": "PAGE_TIME",
    "generate_image": "PAINTING_TIME",
    "search_web": "SEARCH_TIME",
    "read_page": "READ_PAGE_TIME",
    "read_file": "WORKSPACE_TIME",
    "write_file": "WORKSPACE_TIME",
    "run_command": "COMMAND_TIME",
}
"""The bound of each tool that waits for a program, a disk or somebody else's server."""

OF_THE_LANE: Final = {"send_text_update", "fork"}
"""Tools that only write into the lane's own store; at most they wait for a receipt, ``ACTION_RECEIPT_WAIT``."""

AT_ONCE: Final = OF_THE_LANE | {"read_file", "write_file"}
"""Tools of one step, which has nothing to tell until it is over."""


def shared(sources: list[Source]) -> set[str]:
    """The bounds that are shortened where the stall bound is short: ``stall.share(bounds.SEARCH_TIME, ...)``."""
    found = [call.args[0] for each in sources for call, name in calls(each.tree) if name.endswith("stall.share")]
    return {each.attr for each in found if isinstance(each, ast.Attribute)}


def tells(source: Source) -> bool:
    """Whether a tool hands the run's sign of life on: ``line.event``."""
    return any(isinstance(node, ast.Attribute) and node.attr == "event" for node in ast.walk(source.tree))


def captain() -> list[Source]:
    return [each for each in python_files("services") if "/clankie_captain/" in each.path]


def test_each_tool_has_its_bound_and_the_captain_keeps_it_below_the_stall_bound() -> None:
    assert {*TIMES, *OF_THE_LANE} == {*TOOLS}
    assert {*TIMES.values(), "SERVER_CALL_TIME"} == shared(captain())
    for most in (*(getattr(bounds, name) for name in TIMES.values()), bounds.ACTION_RECEIPT_WAIT):
        for stall in (bounds.STALL_AFTER, timedelta(milliseconds=10)):
            assert share(most, stall) < stall * bounds.TOOL_END < stall


def test_each_tool_of_several_steps_gives_signs_of_life() -> None:
    told = {
        each.path.rpartition("/")[2].removesuffix(".py")
        for each in captain()
        if "/agent/tools/" in each.path and tells(each)
    }
    assert {*TOOLS} - told == AT_ONCE


def test_a_bound_that_is_not_kept_and_a_tool_that_tells_nothing_are_seen() -> None:
    code = "from clankie_captain.core import stall\nstall.share(bounds.A_TIME, s)\nmin(bounds.B_TIME, s)\n"
    assert shared([Source("a.py", code)]) == {"A_TIME"}
    assert not tells(Source("b.py", "await line.hands.machine.read(path)\n"))
    assert tells(Source("c.py", "await line.hands.web.read(url, line.event)\n"))

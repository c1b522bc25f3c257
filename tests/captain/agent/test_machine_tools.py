"""What the model says and reads of the machine."""

import json
from datetime import timedelta

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.core.grants import MACHINE
from clankie_captain.core.machine import Stop
from clankie_captain.ports import Ran
from clankie_settings import bounds
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Provider, Say

pytestmark = pytest.mark.requirement("GRANT-4")

RUN = ("run_command", json.dumps({"command": "make", "timeout_s": 5}))
READ = ("read_file", json.dumps({"path": "a.md", "offset": 7}))
MOST = int(bounds.COMMAND_TIME.total_seconds())
WRITE = ("write_file", json.dumps({"path": "a.md", "text": "words"}))


@pytest.fixture
def lane() -> Lane:
    return Lane(tools=MACHINE)


async def told(provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str]) -> str:
    provider.plays(Say(calls=[call]), Say(["Done"]))
    await lane.run(loop, "do it", line=line)
    return next(message["content"] for message in reversed(provider.messages()) if message["role"] == "tool")


@pytest.mark.parametrize(
    ("call", "asked", "answer"),
    [
        (RUN, ("make", timedelta(seconds=5)), "Exit code 0.\nwhat it printed"),
        (READ, ("a.md", 7), "what stands in a.md"),
        (WRITE, ("a.md", "words"), "Written."),
    ],
)
async def test_what_the_model_asks_for_is_done_and_told(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str], asked: tuple[object, ...],
    answer: str,
) -> None:  # fmt: skip
    assert await told(provider, loop, lane, line, call) == answer
    assert line.machine.asked == [asked]


@pytest.mark.parametrize(("call", "refusal"), [(RUN, "Not run: "), (READ, "Not read: "), (WRITE, "Not written: ")])
async def test_where_there_is_no_sandbox_each_tool_says_the_reason(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str], refusal: str
) -> None:
    line.machine.reason = "bubblewrap is not installed"
    assert await told(provider, loop, lane, line, call) == f"{refusal}bubblewrap is not installed."


@pytest.mark.parametrize(
    ("stop", "words"),
    [("time", "at most 240"), ("output", "to a file"), ("processes", "processes"), ("memory", "memory"),
     ("disk", "delete"), ("blind", "open or delete"), ("machine", "running out")],
)  # fmt: skip
async def test_a_command_that_was_ended_says_why_and_shows_what_it_had_printed(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, stop: Stop, words: str
) -> None:
    line.machine.ran = Ran(None, stop, "so far")
    ended, output = (await told(provider, loop, lane, line, RUN)).split("\n")
    assert ended.startswith("Ended: ")
    assert words in ended
    assert output == "so far"


@pytest.mark.requirement("FAIL-3")
async def test_a_command_that_runs_is_a_sign_of_life(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    await told(provider, loop, lane, line, RUN)
    started, ended = line.calls.index("tool started"), line.calls.index("tool ended")
    assert "event" in line.calls[started:ended]


@pytest.mark.parametrize(
    "arguments", [{"command": ""}, {"command": "x", "timeout_s": 0}, {"command": "x", "timeout_s": MOST + 1}]
)
async def test_no_command_is_empty_or_asks_for_more_time_than_there_is(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, arguments: dict[str, object]
) -> None:
    provider.plays(Say(calls=[("run_command", json.dumps(arguments))]), Say(["Done"]))
    await lane.run(loop, "do it", line=line)
    assert line.machine.asked == []

"""A run that no longer owns its lane ends at once, wherever it learns of it."""

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.errors import FencedError
from clankie_settings.ids import LaneId, RunId
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Protocol, Provider, Refuse, Say

UPDATE = ("send_text_update", '{"text": "soon"}')
PLACES = [
    *(
        "boundary",
        "record request",
        "requesting",
        "received",
        "event",
        "wrote",
        "spent",
        "record response",
        "update",
        "tool started",
    )
]


@pytest.mark.requirement("LANE-2")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("time", [1, 2])
async def test_a_refusal_of_the_line_passes_through_everything(
    provider: Provider, protocol: Protocol, loop: PydanticLoop, lane: Lane, line: Line, place: str, time: int
) -> None:
    refusal = FencedError(LaneId("rooms/1"), RunId("run_1"))

    def refuse(name: str) -> None:
        if name == place and line.calls.count(place) == time:
            raise refusal

    line.on = refuse
    provider.plays(Say(["Let me see"], [UPDATE, UPDATE]), Say(["Done"]))
    with pytest.raises(FencedError) as caught:
        await lane.run(loop, "go", line=line)
    assert caught.value is refusal
    # Nothing is said to the lane after that, but what was on its way already.
    assert set(line.calls[line.calls.index(place) :]) & {"cut"} == set()


@pytest.mark.requirement("LANE-2")
async def test_a_refused_cut_passes_through(provider: Provider, loop: PydanticLoop, lane: Lane, line: Line) -> None:
    refusal = FencedError(LaneId("rooms/1"), RunId("run_1"))

    def refuse(name: str) -> None:
        if name == "cut":
            raise refusal

    provider.plays(Say(["x"]), Refuse(413))
    await lane.run(loop, "one")
    line.on = refuse
    with pytest.raises(FencedError):
        await lane.run(loop, "two", line=line)

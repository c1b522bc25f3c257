"""Web pages and generated pictures go out with the reply: what the model says, reads, and what the reply carries."""

import json

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.tools import TOOLS
from clankie_captain.core.activity import CATEGORIES
from clankie_captain.core.run import Answered
from clankie_settings import bounds
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.provider import Protocol, Provider, Say

pytestmark = pytest.mark.requirement("ART-2")

PAGE = ("screenshot_page", json.dumps({"url": "https://public.example/"}))
PAINTING = ("generate_image", json.dumps({"prompt": "a red boat", "size": "wide"}))


@pytest.fixture
def lane() -> Lane:
    return Lane(tools=("send_text_update", "screenshot_page", "generate_image"))


def told(provider: Provider) -> str:
    return next(message["content"] for message in reversed(provider.messages()) if message["role"] == "tool")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("call", "asked"), [(PAGE, ("https://public.example/", "window")), (PAINTING, ("a red boat", "wide"))]
)
async def test_what_was_made_goes_with_the_reply_on_every_provider(
    provider: Provider, protocol: Protocol, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str],
    asked: tuple[str, str],
) -> None:  # fmt: skip
    provider.plays(Say(calls=[call]), Say(["Here"]))
    finish = await lane.run(loop, "show it", line=line)
    assert finish == Answered("Here", tuple(line.making.made))
    assert line.making.asked == [asked]
    assert len(line.making.made) == 1


@pytest.mark.requirement("FAIL-3")
@pytest.mark.parametrize("call", [PAGE, PAINTING])
async def test_each_step_of_it_is_a_sign_of_life(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str]
) -> None:
    provider.plays(Say(calls=[call]), Say(["Here"]))
    await lane.run(loop, "show it", line=line)
    started, ended = line.calls.index("tool started"), line.calls.index("tool ended")
    assert "event" in line.calls[started:ended]


async def test_the_model_learns_what_is_special_about_a_page(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.making.status, line.making.whole, line.making.cut = 404, False, True
    whole = ("screenshot_page", json.dumps({"url": "https://public.example/", "full_page": True}))
    provider.plays(Say(calls=[whole]), Say(["Here"]))
    await lane.run(loop, "show it", line=line)
    assert line.making.asked == [("https://public.example/", "full")]
    for said in ("answered with status 404.", "had not loaded wholly.", "goes on below the picture."):
        assert said in told(provider)


@pytest.mark.parametrize(("call", "said"), [(PAGE, "Not taken"), (PAINTING, "Not made")])
async def test_the_model_learns_why_there_is_none(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str], said: str
) -> None:
    line.making.reason = "it took too long"
    provider.plays(Say(calls=[call]), Say(["Sorry"]))
    assert await lane.run(loop, "show it", line=line) == Answered("Sorry")
    assert told(provider) == f"{said}: it took too long."


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("screenshot_page", {"url": ""}),
        ("screenshot_page", {"url": "https://public.example/" + "x" * bounds.URL_CHARS}),
        ("generate_image", {"prompt": ""}),
        ("generate_image", {"prompt": "x" * (bounds.PAINTING_PROMPT_CHARS + 1)}),
        ("generate_image", {"prompt": "x", "size": "1024x1024"}),
    ],
)
async def test_arguments_that_are_out_of_bounds_make_nothing(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, name: str, wrong: dict[str, str]
) -> None:
    provider.plays(Say(calls=[(name, json.dumps(wrong))]), Say(["Sorry"]))
    assert await lane.run(loop, "show it", line=line) == Answered("Sorry")
    assert line.making.asked == []


@pytest.mark.requirement("GRANT-1", "GRANT-5")
@pytest.mark.parametrize("call", [PAGE, PAINTING])
async def test_what_is_withheld_is_not_made(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line, call: tuple[str, str]
) -> None:
    line.withheld[call[0]] = "nobody has said so"
    provider.plays(Say(calls=[call]), Say(["I may not"]))
    assert await lane.run(loop, "show it", line=line) == Answered("I may not")
    assert line.making.asked == []


def test_the_tools_stand_in_one_order() -> None:
    made = ["draw_diagram", "screenshot_page", "generate_image"]
    assert [tool for tool in TOOLS if tool in made] == made


@pytest.mark.requirement("ROOM-4")
def test_every_tool_is_counted_as_something_on_the_card() -> None:
    assert set(TOOLS) == set(CATEGORIES)

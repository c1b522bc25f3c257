"""Another model is asked where the first one fails before its first word, and only there."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from structlog.testing import capture_logs

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.model import build_models
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.rescue import TRIES_BEFORE_SWITCH
from clankie_captain.agent.standby import SPARED_FOR
from clankie_captain.agent.validity import clean_response, with_distinct_calls
from clankie_captain.core.run import Answered, Broken
from clankie_captain.errors import ConfigurationError
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail, Match, Step
from tests.captain.agent.lane import Lane, Line, StillClock
from tests.captain.agent.strict import Strict, refusals, strict_provider

UPDATE = steps.call("send_text_update", {"text": "soon"})

# What fails, and how often the first model is asked before the second one is.
CURABLE: dict[str, tuple[Step, int]] = {
    "quota": (steps.failed(steps.quota_error()), 1),
    "wrong key": (steps.failed(steps.key_error()), 1),
    "no such model": (steps.failed(Fail(404, "not_found_error", "model_not_found")), 1),
    "refused as malformed": (steps.failed(Fail(400, "invalid_request_error")), 1),
    "rate limit, long wait": (steps.failed(steps.rate_limit_error("3600")), 1),
    "rate limit": (steps.failed(steps.rate_limit_error("1")), TRIES_BEFORE_SWITCH),
    "overloaded": (steps.failed(steps.overloaded_error()), TRIES_BEFORE_SWITCH),
    "overloaded in the stream": (steps.broken_stream(), TRIES_BEFORE_SWITCH),
    "ended before the words": (steps.ended(), TRIES_BEFORE_SWITCH),
    "torn before a byte": (steps.cut(0), TRIES_BEFORE_SWITCH),
    "length, nothing said": (steps.cut_short(), 1),
}
INCURABLE: dict[str, Step] = {
    "overloaded amid the words": steps.broken_stream("Half"),
    "overloaded amid the thoughts": steps.step(*steps.thinking_only().beats[:-1], steps.overloaded_error()),
    "ended amid the words": steps.ended("Half"),
    "ended amid a call": steps.call_cut("send_text_update", "{"),
    "refusal": steps.refusal(),
    "filter": steps.content_filter(),
    "too long": steps.failed(steps.overflow_error()),
}


def of(model: str, step: Step) -> Step:
    """The step for requests to this model alone."""
    return replace(step, when=Match(model=model))


def asked(strict: Strict) -> list[object]:
    return [record.body["model"] for record in strict.brain.records()]


@pytest.mark.requirement("FAIL-5")
@pytest.mark.parametrize(("step", "tries"), CURABLE.values(), ids=CURABLE.keys())
async def test_what_another_model_could_cure_is_given_to_it_as_it_was(
    strict: Strict, lane: Lane, line: Line, step: Step, tries: int
) -> None:
    strict.brain.script(*[of("first", step)] * tries, of("second", steps.text("Here")))
    with capture_logs() as logged:
        assert await lane.run(strict.loop("second"), "hello", line=line) == Answered("Here")
    records = await strict.ended(tries + 1)
    assert asked(strict) == ["first"] * tries + ["second"]
    assert records[0].open_messages == records[-1].open_messages
    # A switch is a sign of life, and its line holds the code alone.
    assert line.calls[: line.calls.index("wrote")].count("event") >= tries
    (said,) = logged
    assert said == {"event": "model.switched", "log_level": "warning", "code": said["code"], "place": 2}
    assert said["code"] in tuple(FailureCode)


@pytest.mark.requirement("FAIL-5")
@pytest.mark.parametrize("step", INCURABLE.values(), ids=INCURABLE.keys())
async def test_after_a_token_and_where_no_model_would_do_better_nobody_else_is_asked(
    strict: Strict, lane: Lane, step: Step
) -> None:
    strict.brain.script(of("first", step), of("second", steps.text("Here")))
    assert isinstance(await lane.run(strict.loop("second"), "hello"), Broken)
    await strict.ended(1)


@pytest.mark.requirement("FAIL-5")
async def test_models_are_asked_in_their_order_and_the_last_one_has_the_retries_that_are_left(
    strict: Strict, lane: Lane
) -> None:
    overloaded, key = steps.failed(steps.overloaded_error()), steps.failed(steps.key_error())
    strict.brain.script(*[of("first", overloaded)] * 2, of("second", key), *[of("third", overloaded)] * 4)
    finish = await lane.run(strict.loop("second", "third"), "hello")
    assert isinstance(finish, Broken)
    assert finish.code is FailureCode.CAPTAIN_MODEL_FAILED
    await strict.ended(6)
    assert asked(strict) == ["first"] * 2 + ["second"] + ["third"] * 3
    assert len(strict.clock.slept) <= bounds.MODEL_RETRIES


@pytest.mark.requirement("FAIL-5", "LANE-13")
async def test_who_answered_goes_on_with_the_run_and_the_next_run_begins_with_the_first(
    strict: Strict, lane: Lane, line: Line
) -> None:
    strict.brain.script(
        of("first", steps.failed(steps.quota_error())),
        of("second", steps.calls(UPDATE)),
        of("second", steps.text("Done")),
        of("first", steps.text("Again")),
    )
    assert await lane.run(strict.loop("second"), "look", line=line) == Answered("Done")
    assert await lane.run(strict.loop("second"), "and?") == Answered("Again")
    assert refusals(await strict.ended(4)) == []
    assert asked(strict) == ["first", "second", "second", "first"]
    assert line.updates == ["soon"]


DEAD = [
    "quota",
    "wrong key",
    "no such model",
    "rate limit",
    "overloaded",
    "overloaded in the stream",
    "torn before a byte",
]


@pytest.mark.requirement("FAIL-5")
@pytest.mark.parametrize("name", DEAD)
async def test_a_model_that_is_dead_costs_its_tries_once_a_minute_and_not_each_message(
    strict: Strict, lane: Lane, name: str
) -> None:
    step, tries = CURABLE[name]
    loop = strict.loop("second")
    strict.brain.script(*[of("first", step)] * tries, *[of("second", steps.text("Here"))] * 3)
    for number in range(3):
        assert await lane.run(loop, f"hello {number}") == Answered("Here")
    assert asked(strict) == ["first"] * tries + ["second"] * 3
    await strict.clock.sleep(SPARED_FOR)
    strict.brain.script(of("first", steps.text("Back")))
    assert await lane.run(loop, "hello again") == Answered("Back")
    assert refusals(strict.brain.records()) == []


@pytest.mark.requirement("FAIL-5")
@pytest.mark.parametrize("name", ["refused as malformed", "length, nothing said"])
async def test_what_lies_in_one_request_alone_is_held_against_no_model(strict: Strict, lane: Lane, name: str) -> None:
    loop = strict.loop("second")
    strict.brain.script(of("first", CURABLE[name][0]), of("second", steps.text("Here")), of("first", steps.text("Yes")))
    assert await lane.run(loop, "hello") == Answered("Here")
    assert await lane.run(loop, "again") == Answered("Yes")


@pytest.mark.requirement("FAIL-5")
async def test_a_dead_model_is_still_asked_where_all_others_fail(strict: Strict, lane: Lane) -> None:
    loop, key = strict.loop("second"), steps.failed(steps.key_error())
    strict.brain.script(of("first", key), of("second", steps.text("Here")), of("second", key))
    strict.brain.script(of("first", steps.text("Back")))
    assert await lane.run(loop, "hello") == Answered("Here")
    assert await lane.run(loop, "again") == Answered("Back")
    assert asked(strict) == ["first", "second", "second", "first"]


@pytest.mark.requirement("FAIL-5")
async def test_a_switch_behind_a_tool_does_not_run_it_again(strict: Strict, lane: Lane, line: Line) -> None:
    strict.brain.script(
        of("first", steps.calls(UPDATE)),
        of("first", steps.failed(steps.quota_error())),
        of("second", steps.text("Done")),
    )
    assert await lane.run(strict.loop("second"), "look", line=line) == Answered("Done")
    first, second, third = await strict.ended(3)
    assert line.updates == ["soon"]
    assert second.open_messages == third.open_messages
    assert third.open_messages.startswith(first.open_messages)


@pytest.mark.requirement("FAIL-5", "LANE-14")
@pytest.mark.parametrize("turned", [False, True])
async def test_a_history_of_one_provider_is_taken_by_the_other(tmp_path: Path, lane: Lane, turned: bool) -> None:
    """Thoughts, calls and results of each are shown to the other, which refuses none of them."""
    pulse, clock = Pulse(), StillClock()
    async with strict_provider("openai", tmp_path) as one, strict_provider("anthropic", tmp_path) as other:
        sides = [other, one] if turned else [one, other]
        built = [build_models(side.settings(), pulse) for side in sides]
        loop = PydanticLoop([model for (model,), _ in built], clock, pulse)
        thought = steps.thinking_only("let me see").beats[0]
        for first, second in ((0, 1), (1, 0)):
            sides[0].brain.script(*[steps.failed(steps.quota_error())] * first)
            sides[first].brain.script(steps.step(thought, *steps.calls(UPDATE, UPDATE, before="Wait.").beats))
            sides[first].brain.script(steps.text("Done"))
            assert await lane.run(loop, f"look {second}") == Answered("Done")
        sides[0].brain.script(steps.failed(steps.quota_error()))
        sides[1].brain.script(steps.text("Fine"))
        assert await lane.run(loop, "and?") == Answered("Fine")
        assert refusals([record for side in sides for record in side.brain.records()]) == []
        for _, close in built:
            await close()


def settings(**given: Any) -> CaptainSettings:
    return CaptainSettings(state=Path("s"), discord_attachment_root=Path("a"), **given)


async def test_another_address_holds_for_the_first_models_provider_and_nobody_is_asked_twice() -> None:
    here, names = "http://127.0.0.1:9", ("openai:a", "openai:b", "anthropic:c", "openai:b")
    chosen = settings(model="openai:a", model_base_url=here, anthropic_api_key="k", model_fallbacks=names)
    models, close = build_models(chosen, Pulse())
    reached = [(model.model_name, (model.base_url or "").rstrip("/")) for model in models]
    assert reached == [("a", here), ("b", here), ("c", "https://api.anthropic.com")]
    await close()


def test_a_fallback_without_its_key_is_named_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match="anthropic:x needs a key: set ANTHROPIC_API_KEY"):
        build_models(settings(openai_api_key="k", model_fallbacks=("anthropic:x",)), Pulse())


@pytest.mark.requirement("LANE-14")
def test_ids_of_calls_are_made_such_as_every_provider_takes_and_never_come_twice() -> None:
    ids = ["functions.look:0", "a", "a", "", "x" * 60, "x" * 60, "taken"]
    response = ModelResponse(parts=[TextPart("x"), *(ToolCallPart("t", {}, each) for each in ids)])
    made = [call.tool_call_id for call in with_distinct_calls(response, {"taken"}).tool_calls]
    assert made[:4] == ["functions_look_0", "a", "a_2", "call"]
    assert len({*made, "taken"}) == len(made) + 1
    assert all(len(each) <= 40 for each in made)


@pytest.mark.requirement("LANE-14")
def test_a_signed_thought_that_cannot_be_sent_as_it_was_is_left_out() -> None:
    signed = ThinkingPart("a\0b", signature="s")
    kept = clean_response(ModelResponse(parts=[signed, ThinkingPart("c", signature="s"), TextPart("x")]))
    assert kept is not None
    assert [type(part) for part in kept.parts] == [ThinkingPart, TextPart]
    assert kept.parts[0] == ThinkingPart("c", signature="s")

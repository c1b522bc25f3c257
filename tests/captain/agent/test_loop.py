"""Turns, steers, silence about the past, and what the lane is told."""

import asyncio
import time

import pytest

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.core.run import Answered, Broken, Usage
from clankie_settings.wire.failure import FailureCode
from tests.captain.agent.conftest import NewLoop
from tests.captain.agent.lane import Lane, Line, words
from tests.captain.agent.provider import (
    Hold,
    Protocol,
    Provider,
    Raw,
    Refuse,
    Say,
    anthropic_block,
    anthropic_start,
    openai_chunk,
)

UPDATE = ("send_text_update", '{"text": "soon"}')


def roles(provider: Provider, index: int = -1) -> list[tuple[str, object]]:
    return [(message["role"], message["content"]) for message in provider.messages(index)]


@pytest.mark.requirement("LANE-3")
async def test_steered_words_follow_the_results_of_the_tools_in_that_very_request(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    async def two_people_speak() -> None:
        line.steered.extend(words("second", "third"))

    line.while_updating = two_people_speak
    provider.plays(Say(calls=[UPDATE]), Say(["All three"]))
    assert await lane.run(loop, "first", line=line) == Answered("All three")
    assert len(provider.bodies) == 2
    assert roles(provider)[3:] == [("tool", "Posted."), ("user", "second"), ("user", "third")]


@pytest.mark.requirement("LANE-3", "LANE-7")
async def test_words_that_arrive_between_the_order_and_the_first_request_are_part_of_it(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.steered.extend(words("second"))
    provider.plays(Say(["Both"]))
    await lane.run(loop, "first", line=line)
    assert roles(provider, 0)[1:] == [("user", "first"), ("user", "second")]


@pytest.mark.requirement("LANE-3")
async def test_words_that_arrive_after_the_boundary_stay_with_the_lane(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    line.on = lambda name: line.steered.extend(words("late")) if name == "wrote" and not line.steered else None
    provider.plays(Say(["Answer"]))
    assert await lane.run(loop, "first", line=line) == Answered("Answer")
    assert len(provider.bodies) == 1
    assert [each.text for each in line.steered] == ["late"]
    assert line.calls.count("boundary") == 1


@pytest.mark.requirement("DUR-1")
async def test_a_request_is_stored_before_it_leaves_and_a_response_before_its_tools_run(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    stored: list[int] = []
    provider.on_request = lambda: stored.append(len(lane.entries))
    line.on = lambda name: stored.append(-len(lane.entries)) if name == "update" else None
    provider.plays(Say(calls=[UPDATE]), Say(["Done"]))
    await lane.run(loop, "go", line=line)
    assert stored == [1, -2, 3]
    assert [entry.kind for entry in lane.entries] == ["request", "response", "request", "response"]


@pytest.mark.requirement("LANE-15")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_the_answer_is_the_text_of_the_last_response_alone(
    provider: Provider, protocol: Protocol, loop: PydanticLoop, lane: Lane
) -> None:
    provider.plays(Say(["I will look"], [UPDATE]), Say(["The ", "answer"], thinking="hm"))
    assert await lane.run(loop, "go") == Answered("The answer")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("answer", [Say(), Say([" \n"]), Say(["\u200b"]), Say(thinking="nothing to add")])
async def test_an_empty_response_is_an_answer_without_words_and_is_never_sent_again(
    provider: Provider, protocol: Protocol, new_loop: NewLoop, lane: Lane, answer: Say
) -> None:
    provider.plays(answer, Say(["Now"]))
    finish = await lane.run(new_loop(), "one")
    assert isinstance(finish, Answered)
    assert not (finish.text or "").strip(" \n\u200b")
    await lane.run(new_loop(), "two")
    assert [role for role, _ in roles(provider)][-2:] == ["user", "user"]
    assert len(lane.entries) == 3


@pytest.mark.requirement("ROOM-2", "FAIL-3")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_the_lane_hears_of_requests_words_thoughts_calls_bytes_and_costs(
    provider: Provider, protocol: Protocol, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Say(["Let me ", "see"], [UPDATE], thinking="hm"), Say(["Here"]))
    await lane.run(loop, "go", line=line)
    told = [call for call in line.calls if call not in ("event", "received")]
    assert told == [
        *("boundary", "record request", "requesting", "wrote", "wrote", "spent", "record response"),
        *("tool started", "refusal send_text_update", "update", "tool ended", "finish"),
        *("boundary", "record request", "requesting", "wrote", "spent", "record response"),
    ]
    assert "".join(line.texts) == "Let me seeHere"
    assert line.calls.count("event") >= 4
    assert line.calls.index("requesting") < line.calls.index("received") < line.calls.index("event")
    assert line.usage == Usage(input_tokens=14, output_tokens=6, cached_tokens=10, requests=2, tool_calls=1)


@pytest.mark.requirement("FAIL-3")
async def test_bytes_without_an_event_are_told_as_bytes(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Hold([b": ping\n\n"]))
    task = asyncio.create_task(lane.run(loop, "go", line=line))
    await line.heard("received", 2)
    assert "event" not in line.calls
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.requirement("FAIL-6")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_cancelling_amid_the_words_closes_the_stream_and_leaves_no_half_answer(
    provider: Provider, protocol: Protocol, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    block = anthropic_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Half"})[:-1]
    begun = [openai_chunk({"content": "Half"})] if protocol == "openai" else [anthropic_start(), *block]
    provider.plays(Hold(begun), Say(["Whole"]))
    task = asyncio.create_task(lane.run(new_loop(), "one", line=line))
    await line.heard("wrote")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(60):
        await provider.hung_up.wait()
    assert [entry.kind for entry in lane.entries] == ["request"]
    assert await lane.run(new_loop(), "two") == Answered("Whole")
    assert b"Half" not in provider.bodies[-1]


@pytest.mark.requirement("DUR-2", "LANE-14")
async def test_a_run_that_died_in_a_tool_goes_on_and_does_not_call_it_again(
    provider: Provider, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    async def die() -> None:
        raise asyncio.CancelledError

    line.while_updating = die
    provider.plays(Say(calls=[UPDATE, UPDATE]), Say(["It broke"]))
    with pytest.raises(asyncio.CancelledError):
        await lane.run(new_loop(), "go", line=line)
    fresh = Line()
    assert await lane.run(new_loop(), "well?", line=fresh) == Answered("It broke")
    assert not fresh.updates
    assert [message.get("tool_call_id") for message in provider.messages()[3:]] == ["c0", "c1", None]
    assert all("outcome is unknown" in message["content"] for message in provider.messages()[3:5])


async def test_an_unanswered_request_is_sent_again_as_it_is(provider: Provider, new_loop: NewLoop, lane: Lane) -> None:
    provider.plays(Raw([], torn=True))
    lane.runs = 3
    task = asyncio.create_task(lane.run(new_loop(), "go"))
    provider.plays(*[Raw([], torn=True)] * 5)
    assert isinstance(await task, Broken)
    provider.plays(Say(["Now"]))
    assert await lane.run(new_loop()) == Answered("Now")
    assert len({provider.array(index) for index in range(len(provider.bodies))}) == 1
    assert len(lane.entries) == 2


@pytest.mark.requirement("DUR-2", "LANE-4")
async def test_an_answer_whose_settlement_was_cut_off_is_taken_from_the_history_and_not_asked_for_again(
    provider: Provider, new_loop: NewLoop, lane: Lane
) -> None:
    provider.plays(Say(["Whole"]))
    assert await lane.run(new_loop(), "go") == Answered("Whole")
    lane.runs -= 1
    assert await lane.run(new_loop()) == Answered("Whole")
    assert len(provider.bodies) == 1


@pytest.mark.requirement("FAIL-4")
async def test_a_providers_own_words_go_with_the_failure_and_stay_out_of_its_representation(
    provider: Provider, loop: PydanticLoop, lane: Lane
) -> None:
    provider.plays(Refuse(401, {"error": {"message": "canary-words \ud83d", "type": None, "code": None}}))
    broken = await lane.run(loop, "go")
    assert isinstance(broken, Broken)
    assert "canary-words" in broken.words
    assert "canary-words" not in repr(broken)
    broken.words.encode()


async def test_an_order_without_anything_to_answer_is_our_own_fault(loop: PydanticLoop, lane: Lane) -> None:
    assert await lane.run(loop) == Broken(FailureCode.CAPTAIN_INTERNAL_ERROR, "NothingToAnswer")


async def test_an_unknown_tool_of_the_order_is_our_own_fault(loop: PydanticLoop, lane: Lane) -> None:
    lane.tools = ("no_such_tool",)
    finish = await lane.run(loop, "go")
    assert finish == Broken(FailureCode.CAPTAIN_INTERNAL_ERROR, "KeyError")


async def test_a_model_that_calls_tools_wrongly_is_told_so_and_goes_on(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    wrong = [("send_text_update", "{"), ("send_text_update", "{}"), ("nonsense", "{}"), ("send_text_update", "[]")]
    provider.plays(*(Say(calls=[call]) for call in wrong), Say(["Sorry"]))
    assert await lane.run(loop, "go", line=line) == Answered("Sorry")
    assert not line.updates
    for message in provider.messages():
        assert message["role"] != "tool" or message["content"].strip()


@pytest.mark.requirement("LANE-14")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_broken_characters_from_people_and_models_never_reach_wire_or_store(
    provider: Provider, protocol: Protocol, new_loop: NewLoop, lane: Lane, line: Line
) -> None:
    call = ("send_text_update", '{"text": "a\\u0000b \\ud99c"}')
    provider.plays(Say(["\ud83d", "\ude00 \ud99c\0!"], [call]), Say(["ok \ud800"]), Say(["fine"]))
    assert await lane.run(new_loop(), "hi \ud83d\0 there", line=line) == Answered("ok \ufffd")
    assert line.updates == ["ab \ufffd"]
    await lane.run(new_loop(), "again")
    sent = b"".join(provider.bodies).decode()
    assert "hi \ufffd there" in sent
    assert "😀 \ufffd!" in sent
    stored = "".join(entry.payload for entry in lane.entries)
    for text in (sent, stored):
        assert "\\ud" not in text.casefold()
        assert "\\u0000" not in text


async def test_a_flood_of_deltas_leaves_the_others_their_turn(
    provider: Provider, loop: PydanticLoop, lane: Lane, line: Line
) -> None:
    provider.plays(Raw([b"".join([openai_chunk({"content": "x "}) for _ in range(4_000)]), openai_chunk({}, "stop")]))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += "wrote" in line.calls

    other = asyncio.create_task(others())
    started = time.process_time()
    assert await lane.run(loop, "go", line=line) == Answered("x " * 4_000)
    spent = time.process_time() - started
    other.cancel()
    # No stretch between two turns of the others may be long: 4,000 deltas, 32 at a time.
    assert turns >= 100, spent


@pytest.mark.requirement("CTX-3")
async def test_lanes_at_once_on_one_loop_mix_neither_words_nor_instructions(
    provider: Provider, loop: PydanticLoop
) -> None:
    lanes = [Lane(instructions=f"persona {number}") for number in range(12)]
    provider.plays(*(Say(["ok"]) for _ in lanes))
    await asyncio.gather(*(lane.run(loop, f"word {number}") for number, lane in enumerate(lanes)))
    pairs = {tuple(content for _, content in roles(provider, index)) for index in range(len(lanes))}
    assert pairs == {(f"persona {number}", f"word {number}") for number in range(len(lanes))}
    assert all(f"word {number}" in lane.entries[0].payload for number, lane in enumerate(lanes))

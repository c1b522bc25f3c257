"""Steps find their request, and whatever is asked is kept."""

import asyncio
import io
from dataclasses import replace

import aiohttp
import openai as sdk
import pytest
from openai import AsyncOpenAI

from clankie_stage.provider import steps
from clankie_stage.provider.beats import Match
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.records import extends
from clankie_stage.provider.server import Provider
from tests.stage.provider.samples import HEADERS, chat, raw, said, user


async def ask(client: AsyncOpenAI, *texts: str, model: str = "m") -> str | None:
    answer = await client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": text} for text in texts]
    )
    return answer.choices[0].message.content


async def post(provider: Provider, body: bytes, **headers: str) -> tuple[int, object]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{provider.base_url}/chat/completions", data=io.BytesIO(body), headers={**HEADERS, **headers}
        ) as response,
    ):
        return response.status, await response.json()


async def test_steps_are_taken_in_order_by_the_first_request_that_fits(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(
        steps.when(steps.text("for B"), last_user="B says"),
        steps.when(steps.text("for lane 7"), anywhere="lane-7"),
        replace(steps.text("for m2"), when=Match(model="m2")),
        steps.text("for anyone"),
    )
    assert await ask(openai, "A says") == "for anyone"
    assert await ask(openai, "lane-7", "A says") == "for lane 7"
    assert await ask(openai, "B says", model="m2") == "for B"
    assert provider.brain.unused() == 1
    assert await ask(openai, "A says", model="m2") == "for m2"


async def test_a_marker_of_an_older_message_is_not_the_last_users(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.when(steps.text("x"), last_user="B says"))
    with pytest.raises(sdk.BadRequestError) as caught:
        await ask(openai, "B says", "A says")
    assert caught.value.code == "unscripted"


async def test_the_script_is_bounded(provider: Provider) -> None:
    provider.brain.script(*[steps.text("x")] * 1_000)
    with pytest.raises(ValueError, match="1000"):
        provider.brain.script(steps.text("x"))


async def test_a_record_keeps_the_bytes_and_says_who_answered(provider: Provider) -> None:
    provider.brain.script(steps.text("hello"))
    body = b'{ "model":"m", "messages" : [{"role":"user","content":"\xe2\x98\x83 \\u2603"}]  }'
    assert (await post(provider, body))[0] == 200
    (record,) = await provider.brain.wait_ended(1)
    assert (record.raw, record.step, record.state) == (body, "text", "finished")
    assert record.messages == [user("☃ ☃")]
    assert record.open_messages == '[{"role":"user","content":"☃ \\u2603"}'.encode()
    assert record.first_byte is not None
    assert record.ended is not None
    assert record.arrived <= record.first_byte <= record.ended


async def test_a_refused_request_is_recorded_and_takes_no_step(provider: Provider) -> None:
    provider.brain.script(steps.text("hello"))
    status, answer = await post(provider, raw(user(" ")))
    assert status == 400
    assert answer == {
        "error": {
            "message": "Content must be non-empty and not only white space.",
            "type": "invalid_request_error",
            "param": "messages.[0].content",
            "code": "invalid_value",
        }
    }
    (record,) = await provider.brain.wait_ended(1)
    assert (record.state, record.refused[:7], provider.brain.unused()) == ("refused", "Content", 1)


async def test_keys_types_and_sizes_are_judged_at_the_door(provider: Provider) -> None:
    provider.brain.habits = replace(
        provider.brain.habits, bad_keys=frozenset({"sk-old"}), limits=Limits(body_bytes=1_000)
    )
    assert (await post(provider, raw(), authorization=""))[0] == 401
    assert (await post(provider, raw(), authorization="Bearer sk-old"))[0] == 401
    assert (await post(provider, raw(), **{"content-type": "text/plain"}))[0] == 400
    assert (await post(provider, raw(user("x" * 2_000))))[0] == 413
    assert [record.state for record in await provider.brain.wait_ended(4)] == ["refused"] * 4


async def test_a_large_body_passes_whatever_the_applications_own_limit(provider: Provider) -> None:
    provider.brain.habits = replace(provider.brain.habits, limits=Limits(context_tokens=10_000_000))
    provider.brain.script(steps.text("long"))
    assert (await post(provider, raw(user("word " * 1_000_000))))[0] == 200


async def test_a_history_that_grows_at_its_end_extends_and_any_other_does_not(provider: Provider) -> None:
    provider.brain.script(*[steps.text("ok")] * 4)
    histories = [
        [user("a")],
        [user("a"), said("ok"), user("b")],
        [user("a"), said("OK"), user("b"), said("ok")],
        [user("a"), said("ok"), user("bb")],
    ]
    for history in histories:
        await post(provider, raw(*history))
    first, grown, changed, reworded = await provider.brain.wait_ended(4)
    assert extends(first, grown)
    assert not extends(grown, first)
    assert not extends(grown, changed)
    assert not extends(grown, reworded)


async def test_the_cache_counts_the_longest_prefix_of_any_earlier_request(
    provider: Provider, openai: AsyncOpenAI
) -> None:
    limits = Limits(cache_minimum_tokens=64, cache_step_tokens=16)
    provider.brain.habits = replace(provider.brain.habits, default="rehearsal", limits=limits)
    one, two = "one " * 100, "two " * 100
    for texts in ([one], [two], [one, "and?"], [one, "and?", "more"], ["three " * 100]):
        await ask(openai, *texts)
    records = await provider.brain.wait_ended(5)
    assert [record.cached_tokens > 90 for record in records] == [False, False, True, True, False]
    assert records[2].cached_tokens <= records[0].prompt_tokens
    assert records[3].cached_tokens >= records[2].cached_tokens
    assert all(record.cached_tokens % 16 == 0 for record in records)


async def test_a_changed_tool_list_misses_the_cache_and_short_prompts_never_hit(provider: Provider) -> None:
    provider.brain.habits = replace(provider.brain.habits, default="rehearsal")
    long = user("word " * 2_000)
    tool = {"type": "function", "function": {"name": "look"}}
    for body in (raw(user("hi")), raw(user("hi")), raw(long), raw(long, tools=[tool]), raw(long, user("more"))):
        await post(provider, body)
    cached = [record.cached_tokens for record in await provider.brain.wait_ended(5)]
    assert cached[:4] == [0, 0, 0, 0]
    assert cached[4] == 2_432


async def test_usage_tells_the_client_what_was_cached(provider: Provider, openai: AsyncOpenAI) -> None:
    provider.brain.script(steps.text("a"), steps.text("b"))
    details = [
        (await openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "word " * 2_000}])).usage
        for _ in range(2)
    ]
    cached = [usage.prompt_tokens_details.cached_tokens for usage in details if usage and usage.prompt_tokens_details]
    assert cached == [0, 2_432]


async def test_a_reset_abandons_what_is_in_flight_and_forgets_everything(provider: Provider) -> None:
    provider.brain.script(steps.gated("door", "x"), steps.text("left over"))
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        body = chat(user("hi"))
        pending = asyncio.ensure_future(session.post(f"{provider.base_url}/chat/completions", json=body))
        await provider.brain.arrived("door")
        provider.brain.reset()
        with pytest.raises(aiohttp.ClientError):
            await pending
    assert (provider.brain.unused(), provider.brain.records()) == (0, [])
    assert provider.brain.barriers.arrivals("door") == 0


async def test_waiting_for_what_does_not_come_times_out(provider: Provider) -> None:
    with pytest.raises(TimeoutError):
        await provider.brain.wait_requests(1, within_s=0)
    with pytest.raises(TimeoutError):
        await provider.brain.arrived("nowhere", within_s=0)


async def test_models_are_listed_and_other_addresses_are_openai_shaped_404s(
    provider: Provider, openai: AsyncOpenAI
) -> None:
    assert [model.id async for model in openai.models.list()] == ["rehearsal"]
    assert (await openai.models.retrieve("rehearsal")).owned_by == "stage"
    with pytest.raises(sdk.NotFoundError) as caught:
        await openai.embeddings.create(model="m", input="x")
    assert caught.value.type == "invalid_request_error"
    wrong = openai.with_options(api_key="")
    with pytest.raises(sdk.AuthenticationError):
        await wrong.models.list(extra_headers={"authorization": "none"})

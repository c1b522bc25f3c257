"""Another process steers the provider as a test in its own process does."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import openai as sdk
import pytest
from aiohttp import web
from openai import AsyncOpenAI

from clankie_stage.provider import steps
from clankie_stage.provider.app import new_brain, provider_app
from clankie_stage.provider.beats import Call, Finish, Gate, Hold, Match, Open, Pause, Ping, Say, Step
from clankie_stage.provider.brain import Habits
from clankie_stage.provider.client import ControlError, ProviderClient
from clankie_stage.provider.notation import decode_step, encode_step
from clankie_stage.provider.server import Provider

EVERY_STEP = (
    steps.text("a", "b"),
    steps.silence(),
    steps.calls(steps.call("look", {"x": "\ud83d ☃"}), Call("stop", ())),
    steps.gated("door", "a", after=1),
    steps.slow("a", every_s=1.5),
    steps.hold("a"),
    steps.unanswered(),
    steps.pings(0.5, 3),
    steps.empty(),
    steps.blank(),
    steps.thinking_only(),
    steps.refusal("no", "well"),
    steps.content_filter(),
    steps.cut_short(),
    steps.lone_surrogate(),
    steps.written_call("look", {}),
    steps.broken_stream("a"),
    steps.ended("a"),
    steps.cut(9),
    steps.failed(steps.rate_limit_error("3")),
    steps.when(steps.text("a"), last_user="x", anywhere="y"),
    Step((Open(), Ping(), Pause(1), Gate("g"), Say("x"), Hold(), Finish("length")), Match(model="m"), 3, "all"),
)


@pytest.fixture
async def client(provider: Provider) -> AsyncGenerator[ProviderClient]:
    async with ProviderClient.connected(provider.url) as connected:
        yield connected


async def ask(client: AsyncOpenAI, text: str) -> str | None:
    answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return answer.choices[0].message.content


@pytest.mark.parametrize("step", EVERY_STEP, ids=lambda step: step.label)
def test_a_step_comes_back_from_json_as_it_was(step: Step) -> None:
    assert decode_step(json.loads(json.dumps(encode_step(step)))) == step


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"beats": "say"},
        {"beats": [{"beat": "sing"}]},
        {"beats": [{"beat": "say"}]},
        {"beats": [{"beat": "say", "text": "a", "loud": True}]},
        {"beats": [], "cut_after": "soon"},
    ],
)
def test_json_that_is_no_step_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decode_step(value)


async def test_a_script_sent_over_http_answers_with_every_character(
    client: ProviderClient, openai: AsyncOpenAI
) -> None:
    await client.script(steps.text("one ☃"), steps.lone_surrogate())
    assert await client.unused() == 2
    assert await ask(openai, "hi") == "one ☃"
    assert await ask(openai, "hi") == "half \ud83d"


async def test_a_wrong_script_is_refused_with_the_reason(provider: Provider, client: ProviderClient) -> None:
    with pytest.raises(ControlError, match="1000"):
        await client.script(*[steps.text("x")] * 1_001)
    assert provider.brain.unused() == 0


async def test_a_barrier_is_waited_for_and_opened_over_http(client: ProviderClient, openai: AsyncOpenAI) -> None:
    await client.script(steps.gated("door", "in"), steps.gated("door", "too"))
    asking = [asyncio.ensure_future(ask(openai, "hi")) for _ in range(2)]
    await client.arrived("door", count=2)
    assert [record.state for record in await client.records()] == ["open", "open"]
    await client.open("door")
    assert sorted([await asking[0] or "", await asking[1] or ""]) == ["in", "too"]


async def test_records_come_over_http_byte_for_byte(
    provider: Provider, client: ProviderClient, openai: AsyncOpenAI
) -> None:
    await client.script(steps.text("x"), steps.failed(steps.server_error()))
    await ask(openai, "snow ☃")
    with pytest.raises(sdk.InternalServerError):
        await ask(openai, "hi")
    assert await client.wait_requests(2) == await client.wait_ended(2) == provider.brain.records()
    assert (await client.records())[0].messages[0]["content"] == "snow ☃"
    assert [record.index for record in await client.records(first=1)] == [1]


async def test_waiting_over_http_for_what_does_not_come_times_out(client: ProviderClient) -> None:
    with pytest.raises(TimeoutError, match="0 requests"):
        await client.wait_requests(1, within_s=0)
    with pytest.raises(TimeoutError, match="0 arrived"):
        await client.arrived("nowhere", within_s=0)


async def test_habits_change_over_http_until_the_reset(client: ProviderClient, openai: AsyncOpenAI) -> None:
    changed = await client.habits(limits={"context_tokens": 50, "models": ["m"]}, bad_keys=["sk-old"], pace=0.5)
    assert changed["bad_keys"] == ["sk-old"]
    with pytest.raises(sdk.BadRequestError) as caught:
        await ask(openai, "word " * 100)
    assert caught.value.code == "context_length_exceeded"
    await client.reset()
    assert (await client.habits())["pace"] == 0
    assert await client.records() == []


@pytest.mark.parametrize("changes", [{"mood": 1}, {"limits": {"mood": 1}}, {"default": "wise"}, {"bad_keys": "x"}])
async def test_habits_that_do_not_exist_are_refused(client: ProviderClient, changes: dict[str, object]) -> None:
    with pytest.raises(ControlError, match="no such habits"):
        await client.habits(**changes)


async def test_the_provider_works_mounted_below_a_path() -> None:
    outer = web.Application()
    outer.add_subapp("/provider", provider_app(new_brain(Habits(pace=0))))
    runner = web.AppRunner(outer, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/provider"
        async with (
            ProviderClient.connected(url) as client,
            AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as openai,
        ):
            await client.script(steps.text("mounted"))
            assert await ask(openai, "hi" * 100_000) == "mounted"
            assert len(await client.wait_ended(1)) == 1
    finally:
        await runner.cleanup()


@asynccontextmanager
async def started(*arguments: str) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "clankie_stage.provider",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode()
        found = re.fullmatch(r"provider listening on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, line
        yield process, found[1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_the_standalone_process_says_its_address_and_stops_while_an_answer_is_held() -> None:
    async with (
        started("--default", "unscripted", "--pace", "0") as (process, url),
        ProviderClient.connected(url) as client,
        AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as openai,
    ):
        await client.script(steps.hold("a"))
        asking = asyncio.ensure_future(ask(openai, "hi"))
        await client.wait_requests(1)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(sdk.APIConnectionError):
            await asking
        async with asyncio.timeout(60):
            assert await process.wait() == 0

"""How long four large pictures take from the trigger to the first model request that shows them."""

import io
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from statistics import median
from typing import Final

import aiohttp
from aiohttp import web
from PIL import Image

from bench.figures import Row, spread
from bench.programs import BenchError
from bench.subjects import TOKEN, Captain
from bench.triggers import trigger
from clankie_settings import bounds
from clankie_settings.clock import SystemClock
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import text

NAME: Final = "four 4 MB pictures, first request"
COUNT: Final = 4
SIDE: Final = 1_180
"""Of noise, which no encoder makes smaller: a PNG of a little more than 4 MB."""


async def first_request(captain: Captain, provider: ProviderClient, rounds: int, say: Callable[[str], None]) -> Row:
    """From sending a trigger with four pictures to the arrival of the request that holds them.

    The captain takes pictures from what ``cdn`` serves.

    Raises:
        BenchError: A request came without all of them.
    """
    await provider.reset()
    took = [await _round(captain, provider, number) for number in range(rounds)]
    say(f"four 4 MB pictures: {median(took):.0f} ms to the first request")
    times = spread(took)
    shown = f"{times.middle:.0f} ms ({times.least:.0f}-{times.most:.0f})"
    return Row(NAME, times.middle, shown, bounds.STEER_HOLD.total_seconds() * 1e3, " ms")


async def _round(captain: Captain, provider: ProviderClient, number: int) -> float:
    await provider.script(text("I see."))
    document = json.loads(trigger(f"picture-{number}", f"picture-{number}", "look"))
    document["attachments"] = [
        {
            "id": f"{number}-{at}",
            "url": f"https://cdn.discordapp.com/attachments/1/{number}{at}/a.png",
            "media_type": "image/png",
        }
        for at in range(COUNT)
    ]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    began = SystemClock().elapsed()
    async with (
        aiohttp.ClientSession(trust_env=False) as client,
        client.post(f"{captain.address}/v1/turns", json=document, headers=headers) as answer,
    ):
        await answer.read()
    record = (await provider.wait_requests(number + 1))[-1]
    if record.raw.count(b'"image_url"') < COUNT:
        raise BenchError("a request came without its pictures")
    return (record.arrived - began).total_seconds() * 1e3


@asynccontextmanager
async def cdn() -> AsyncGenerator[str]:
    """A loopback stand-in for Discord's hosts that has one large picture at every address."""
    drawn = io.BytesIO()
    Image.merge("RGB", [Image.effect_noise((SIDE, SIDE), 100) for _ in range(3)]).save(drawn, "PNG")
    picture = drawn.getvalue()

    async def give(_: web.Request) -> web.Response:
        return web.Response(body=io.BytesIO(picture), content_type="image/png")

    app = web.Application()
    app.router.add_get("/{path:.*}", give)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()

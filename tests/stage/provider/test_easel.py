"""The stage's images API refuses what the real one refuses, and paints or plays what a test wants."""

import base64
import io
from typing import Any

import aiohttp
import pytest
from PIL import Image

from clankie_stage.provider.easel import Painting
from clankie_stage.provider.server import Provider

GOOD = {"model": "gpt-image-1", "prompt": "a boat", "size": "1536x1024"}


async def ask(provider: Provider, body: Any, key: str | None = "k") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.base_url}/images/generations", json=body, headers=headers) as answer,
    ):
        return answer.status, await answer.json()


async def test_a_description_becomes_a_picture_of_its_size() -> None:
    async with Provider.running() as provider:
        status, body = await ask(provider, GOOD)
        picture = Image.open(io.BytesIO(base64.b64decode(body["data"][0]["b64_json"])))
        picture.load()
        assert (status, picture.size) == (200, (1536, 1024))
        assert provider.easel.asked == [GOOD]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"response_format": "b64_json"}, "unknown_parameter"),
        ({"model": "dall-e-3", "size": "1024x1024", "response_format": "png"}, "invalid_value"),
        ({"model": "dall-e-3"}, "invalid_value"),
        ({"size": "1x1"}, "invalid_value"),
        ({"n": 0}, "invalid_value"),
        ({"n": True}, "invalid_value"),
        ({"prompt": ""}, "invalid_type"),
        ({"prompt": "x" * 32_001}, "string_above_max_length"),
        ({"stream_options": {}}, "unknown_parameter"),
    ],
)
async def test_what_the_real_one_refuses_is_refused(change: dict[str, Any], code: str) -> None:
    async with Provider.running() as provider:
        status, body = await ask(provider, {**GOOD, **change})
        assert (status, body["error"]["code"]) == (400, code)
        assert provider.easel.asked == []


async def test_nobody_is_let_in_without_a_key_or_without_what_is_needed() -> None:
    async with Provider.running() as provider:
        assert (await ask(provider, GOOD, None))[0] == 401
        assert (await ask(provider, {"model": "gpt-image-1"}))[1]["error"]["code"] == "missing_required_parameter"
        assert (await ask(provider, []))[0] == 400


async def test_an_older_model_gives_an_address_unless_it_is_told() -> None:
    async with Provider.running() as provider:
        asked = {"model": "dall-e-3", "prompt": "a boat"}
        assert "url" in (await ask(provider, asked))[1]["data"][0]
        assert "b64_json" in (await ask(provider, {**asked, "response_format": "b64_json"}))[1]["data"][0]


async def test_what_is_scripted_is_played_in_its_order_from_here_and_from_another_process() -> None:
    async with Provider.running() as provider, aiohttp.ClientSession() as session:
        provider.easel.script(Painting.refused(400, "moderation_blocked", "no"))
        play = {"paintings": [{"status": 503, "body": "{}"}]}
        async with session.post(f"{provider.url}/_control/paintings", json=play) as answer:
            assert await answer.json() == {"unused": 2}
        async with session.post(f"{provider.url}/_control/paintings", json={"paintings": [{"status": "x"}]}) as answer:
            assert answer.status == 400
        assert [(await ask(provider, GOOD))[0] for _ in range(3)] == [400, 503, 200]
        async with session.get(f"{provider.url}/_control/paintings") as answer:
            assert len((await answer.json())["requests"]) == 3

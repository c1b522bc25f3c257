"""Pictures that a provider generates, asked of a strict one: what comes back, and what its failures become."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image
from pydantic import SecretStr

from clankie_captain.core.painting import Shape
from clankie_captain.errors import ConfigurationError
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.furnishing import furnished, painter_way
from clankie_captain.media.painting import Painter, PaintingError
from clankie_captain.ports import NotMadeError
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings
from clankie_stage.provider.brain import Habits
from clankie_stage.provider.easel import Painting, plain_png
from clankie_stage.provider.server import Provider
from tests.captain.media.conftest import PATIENCE
from tests.captain.media.listening import listening, never

pytestmark = pytest.mark.requirement("ART-2")

KEY = "sk-canary"


class Studio:
    """A strict provider, and painters that ask it."""

    def __init__(self, provider: Provider, decoder: WorkerDecoder, stack: AsyncExitStack) -> None:
        self.provider = provider
        self._decoder = decoder
        self._stack = stack
        self.steps = 0

    def painter(self, model: str = "gpt-image-1", address: str | None = None, within: timedelta = PATIENCE) -> Painter:
        painter = Painter(model, KEY, address or self.provider.base_url, self._decoder, within)
        self._stack.push_async_callback(painter.aclose)
        return painter

    def step(self) -> None:
        self.steps += 1

    async def refused(self, painter: Painter | None = None) -> str:
        with pytest.raises(PaintingError) as error:
            await (painter or self.painter()).paint("a boat", "square", self.step)
        assert KEY not in str(error.value)
        return str(error.value)

    def answers(self, data: bytes) -> None:
        body = json.dumps({"data": [{"b64_json": base64.b64encode(data).decode()}]})
        self.provider.easel.script(Painting(body=body))


@pytest.fixture
async def studio(decoder: WorkerDecoder) -> AsyncGenerator[Studio]:
    async with Provider.running(Habits(bad_keys=frozenset({"bad"}))) as provider, AsyncExitStack() as stack:
        yield Studio(provider, decoder, stack)


@pytest.mark.parametrize("model", ["gpt-image-1", "dall-e-3", "own-model"])
@pytest.mark.parametrize("shape", ["square", "wide", "tall"])
async def test_a_picture_is_made_by_every_kind_of_model(studio: Studio, model: str, shape: Shape) -> None:
    data, media_type = await studio.painter(model).paint("a boat", shape, studio.step)
    picture = Image.open(io.BytesIO(data))
    picture.load()
    width, height = picture.size
    assert (media_type, (width > height) - (width < height)) == (
        "image/png",
        {"square": 0, "wide": 1, "tall": -1}[shape],
    )
    assert studio.steps == 3
    assert studio.provider.easel.asked[-1]["prompt"] == "a boat"


async def test_a_refusal_a_fault_and_an_empty_account_are_told_apart_and_asked_once(studio: Studio) -> None:
    easel = studio.provider.easel
    easel.script(
        Painting.refused(400, "moderation_blocked", "Your request was rejected."),
        Painting.refused(429, "insufficient_quota", "see your plan"),
        Painting.refused(429, "rate_limit_exceeded", "slow down"),
        Painting(503, "<html>"),
        Painting(200, "["),
        Painting(200, '{"data": [{"b64_json": "%%%"}]}'),
        Painting(200, '{"data": [{"url": "http://127.0.0.1/x"}]}'),
        Painting(302, "{}"),
    )
    told = [await studio.refused() for _ in range(8)]
    assert told[0] == 'the provider refuses to make such a picture; it says: "Your request was rejected."'
    wanted = ("nothing left", "in a minute", "a fault", "none", "none", "none", "none")
    assert all(each in said for each, said in zip(wanted, told[1:], strict=True))
    assert len(easel.asked) == 8


async def test_a_key_that_is_not_accepted_is_never_repeated(studio: Studio, decoder: WorkerDecoder) -> None:
    painter = Painter("gpt-image-1", "bad", studio.provider.base_url, decoder)
    assert await studio.refused(painter) == "the provider does not accept the key; tell whoever runs me"
    await painter.aclose()


@pytest.mark.parametrize(
    "data", [b"", b"no picture", b"<svg/>", plain_png(64, 64, 5)[:-40], plain_png(9_000, 9_000, 5)], ids=len
)
async def test_bytes_that_do_not_decode_are_not_kept(studio: Studio, data: bytes) -> None:
    studio.answers(data)
    assert "no" in await studio.refused()


async def test_a_picture_that_is_too_large_is_refused_before_all_of_it_has_come(studio: Studio) -> None:
    studio.answers(b"\x89PNG\r\n\x1a\n" + bytes(bounds.ARTIFACT_BYTES))
    studio.answers(b"\x89PNG\r\n\x1a\n" + bytes(2 * bounds.ARTIFACT_BYTES))
    assert "too large" in await studio.refused()
    assert "too large" in await studio.refused()


async def test_a_provider_that_does_not_answer_or_is_not_there_is_a_failure(studio: Studio) -> None:
    async with listening(never) as silent:
        painter = studio.painter(address=silent.address, within=timedelta(milliseconds=200))
        assert await studio.refused(painter) == "the provider took too long"
    assert await studio.refused(studio.painter(address="http://127.0.0.1:9")) == "the provider cannot be reached"


async def test_a_picture_that_is_given_up_ends_its_request(studio: Studio) -> None:
    arrived, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        arrived.set()
        while await reader.read(65_536):
            pass
        left.set()

    async with listening(silent) as door:
        painting = asyncio.ensure_future(studio.painter(address=door.address).paint("a boat", "square", studio.step))
        async with asyncio.timeout(PATIENCE.total_seconds()):
            await arrived.wait()
            painting.cancel()
            await left.wait()
        assert painting.cancelled()


def settings(folder: Path, **more: object) -> CaptainSettings:
    return CaptainSettings.model_validate({"state": folder, "discord_attachment_root": folder / "attachments", **more})


async def test_it_is_offered_where_it_is_configured_and_kept_in_a_folder_of_its_own(
    studio: Studio, tmp_path: Path
) -> None:
    none = furnished(settings(tmp_path, browser="/nowhere"))
    assert none.tools - {"read_file"} == {"draw_diagram"}
    with pytest.raises(NotMadeError):
        await none.painting("a boat", "square", studio.step)
    with pytest.raises(NotMadeError):
        await none.page("http://public.example/", studio.step, full=False)
    set_ = settings(
        tmp_path, browser="/nowhere", image_model="openai:gpt-image-1", image_base_url=studio.provider.base_url,
        openai_api_key=SecretStr("k"),
    )  # fmt: skip
    workshop = furnished(set_)
    assert workshop.tools - {"read_file"} == {"draw_diagram", "generate_image"}
    made = await workshop.painting("a boat", "square", studio.step)
    await workshop.aclose()
    digest, folder = made.ref.split(":")[1], made.ref.split(":")[2].partition("/")[0]
    assert (folder, made.media_type) == ("paintings", "image/png")
    assert [each.name for each in (tmp_path / "attachments" / "paintings").iterdir()] == [f"{digest[:32]}.png"]


def test_a_model_without_a_key_is_named_when_the_captain_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        furnished(settings(tmp_path, image_model="openai:gpt-image-1"))
    own = settings(tmp_path, image_model="openai:own", image_base_url="http://127.0.0.1:9/v1/")
    assert painter_way(own) == ("own", None, "http://127.0.0.1:9/v1")

"""Pictures that a provider generates, asked in the form of OpenAI's images API. Source: ART-2."""

import asyncio
import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import httpx2

from clankie_captain.core.painting import Shape, asked, encoded, refusal
from clankie_captain.core.pictures import Undecodable, sniff
from clankie_captain.ports import Decoder
from clankie_settings import bounds

ADDRESS: Final = "https://api.openai.com/v1"
"""Where it is asked unless ``CLANKIE_IMAGE_BASE_URL`` says otherwise."""

CONNECT_WITHIN: Final = timedelta(seconds=15)
"""How long a connection to the provider may take."""

_ANSWER_BYTES: Final = bounds.ARTIFACT_BYTES * 4 // 3 + 256 * 1024
_FAILURE_BYTES: Final = 64 * 1024
_OK: Final = 200
_TYPES: Final = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


class PaintingError(Exception):
    """There is no picture; the text says why, in words for the model."""


class Painter:
    """Asks for pictures, one each; nothing is asked twice, for each costs money.

    Args:
        model: The model's name at the provider.
        key: The key; None for a server of one's own that wants none.
        address: Where it is asked.
        decoder: Proves that the bytes are a picture from beginning to end.
        within: Wall time of one picture.
    """

    def __init__(
        self,
        model: str,
        key: str | None,
        address: str,
        decoder: Decoder,
        within: timedelta = bounds.PAINTING_TIME,
    ) -> None:
        self._model = model
        self._address = f"{address}/images/generations"
        self._decoder = decoder
        self._within = within.total_seconds()
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        # The provider's silence is bounded by the whole: a picture may take minutes, and nothing is said meanwhile.
        limits = httpx2.Timeout(None, connect=CONNECT_WITHIN.total_seconds())
        self._client = httpx2.AsyncClient(headers=headers, timeout=limits, follow_redirects=False)

    async def paint(self, prompt: str, shape: Shape, progress: Callable[[], None]) -> tuple[bytes, str]:
        """Bytes and media type of a new picture; ``progress`` is told of each step.

        Raises:
            PaintingError: There is none.
        """
        try:
            async with asyncio.timeout(self._within):
                return await self._painted(prompt, shape, progress)
        except (TimeoutError, httpx2.TimeoutException):
            raise PaintingError("the provider took too long") from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            raise PaintingError("the provider cannot be reached") from None

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def _painted(self, prompt: str, shape: Shape, progress: Callable[[], None]) -> tuple[bytes, str]:
        body = asked(self._model, prompt, shape)
        async with self._client.stream("POST", self._address, json=body) as response:
            progress()
            good = response.status_code == _OK
            said = await _read(response, _ANSWER_BYTES if good else _FAILURE_BYTES)
        progress()
        # Some megabytes of text: too long for the loop that everybody shares.
        data = await asyncio.to_thread(_picture, response.status_code, said)
        form = sniff(data)
        if form not in _TYPES or isinstance(await self._decoder.decode(data, 1), Undecodable):
            raise PaintingError("what the provider made is no picture that can be shown")
        progress()
        return data, _TYPES[form]


async def _read(response: httpx2.Response, most: int) -> bytes:
    said = bytearray()
    async for piece in response.aiter_bytes():
        said += piece
        if len(said) > most:
            raise PaintingError("what the provider made is too large; ask for something simpler")
    return bytes(said)


def _picture(status: int, said: bytes) -> bytes:
    try:
        body: object = json.loads(said)
    except (ValueError, RecursionError):
        body = None
    if status != _OK:
        raise PaintingError(refusal(status, body))
    found = encoded(body)
    if found is None:
        raise PaintingError(refusal(status, body))
    try:
        data = base64.b64decode(found, validate=True)
    except ValueError:
        raise PaintingError(refusal(status, None)) from None
    if len(data) > bounds.ARTIFACT_BYTES:
        raise PaintingError("what the provider made is too large; ask for something simpler")
    return data

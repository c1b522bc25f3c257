"""Read a request's body as a shape of the wire, bounded and strict. Source: WIRE-1, WIRE-7."""

import json
from typing import Any, TypeVar, cast

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from clankie_captain.api.problems import ProblemError, invalid
from clankie_settings import bounds
from clankie_settings.wire.scalars import WireModel
from clankie_settings.wire.version import WIRE_HEADER, disagreement

Shape = TypeVar("Shape", bound=WireModel)


async def read(request: Request, shape: type[Shape], code: str) -> Shape:
    """The body as ``shape``.

    Raises:
        ProblemError: 413 past the bound, 422 that names the field, 422 ``wire_version`` for another version, 400 where
            the caller is gone.
    """
    _check_header(request)
    raw = await _bounded(request)
    try:
        return shape.model_validate_json(raw)
    except ValidationError as error:
        _check_version(raw)
        raise invalid(code, error) from None


def _check_header(request: Request) -> None:
    stated = request.headers.get(WIRE_HEADER)
    if stated is not None:
        _refuse(disagreement("captain", stated))


def _check_version(raw: bytes) -> None:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return
    stated = cast("dict[str, Any]", document).get("wire_version") if isinstance(document, dict) else None
    if isinstance(stated, int):
        _refuse(disagreement("captain", stated))


def _refuse(sentence: str | None) -> None:
    if sentence is not None:
        raise ProblemError(422, "wire_version", sentence, "wire_version")


async def _bounded(request: Request) -> bytes:
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > bounds.REQUEST_BYTES:
                raise ProblemError(413, "too_large", f"a request has at most {bounds.REQUEST_BYTES} bytes")
            chunks.append(chunk)
    except ClientDisconnect:
        # A presence that died amid its request is no fault of the captain's; nobody is there to read this.
        raise ProblemError(400, "hung_up", "the request ended before its body did") from None
    return b"".join(chunks)

"""Reading the body of a REST request: JSON, or multipart with ``payload_json`` and ``files[n]``."""

import json
import re
from typing import Any, cast

from aiohttp import BodyPartReader, web

from clankie_stage.discord.calls import LIST, Upload
from clankie_stage.discord.errors import invalid_form, invalid_json, too_large
from clankie_stage.discord.message_form import LARGEST_FILE
from clankie_stage.discord.world import Json

_FILE_FIELD = re.compile(r"^files\[(\d+)\]$|^file(\d*)$")


async def read_body(request: web.Request, *, takes_list: bool = False) -> tuple[Json, tuple[Upload, ...]]:
    """The JSON object and the files of a request; an absent body is an empty object, a list stands under `LIST`.

    Raises:
        RefusalError: the body is no JSON object, or a file is too large.
    """
    if request.content_type == "multipart/form-data":
        return await _multipart(request)
    raw = await request.read()
    return (_object(raw, takes_list=takes_list) if raw else {}), ()


async def _multipart(request: web.Request) -> tuple[Json, tuple[Upload, ...]]:
    body: Json = {}
    files: list[Upload] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise invalid_form("files", "BASE_TYPE_BAD", "Nested multipart is not supported.")
        name, content = part.name or "", await _bounded(part)
        found = _FILE_FIELD.match(name)
        if found:
            index = int(found.group(1) or found.group(2) or len(files))
            files.append(Upload(index, part.filename or "unknown", content, part.headers.get("Content-Type")))
        elif name == "payload_json":
            body |= _object(content)
        else:
            body[name] = content.decode()
    return body, tuple(files)


async def _bounded(part: BodyPartReader) -> bytes:
    collected = bytearray()
    while chunk := await part.read_chunk(64 * 1024):
        collected += chunk
        if len(collected) > LARGEST_FILE:
            raise too_large()
    return bytes(collected)


def _object(raw: bytes, *, takes_list: bool = False) -> Json:
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise invalid_json() from error
    if takes_list and isinstance(value, list):
        return {LIST: value}
    if not isinstance(value, dict):
        raise invalid_form("_root", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    return cast("Json", value)

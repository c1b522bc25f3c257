"""Bodies that the tests of Anthropic's shape send."""

import base64
import json
from collections.abc import AsyncIterable, AsyncIterator

import aiohttp

from clankie_stage.provider.anthropic_thoughts import signature
from clankie_stage.provider.server import Provider
from clankie_stage.provider.shapes import JsonObject

HEADERS = {"x-api-key": "sk-test", "anthropic-version": "2023-06-01", "content-type": "application/json"}


def raw(*messages: JsonObject, **changes: object) -> bytes:
    """A body that is accepted when its messages are; a change to None takes the key away."""
    body = {"model": "rehearsal", "max_tokens": 1000, "messages": list(messages) or [user("hi")], **changes}
    return json.dumps({key: value for key, value in body.items() if value is not None}).encode()


def user(*content: str | JsonObject) -> JsonObject:
    """A user message: a text alone is plain, everything else is a list of blocks."""
    return _message("user", content)


def said(*content: str | JsonObject) -> JsonObject:
    return _message("assistant", content)


def _message(role: str, content: tuple[str | JsonObject, ...]) -> JsonObject:
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": role, "content": content[0]}
    return {"role": role, "content": [text(part) if isinstance(part, str) else part for part in content]}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def use(call_id: str, **given: object) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": given}


def result(call_id: str, content: object = "done") -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def thought(words: str = "hm") -> JsonObject:
    return {"type": "thinking", "thinking": words, "signature": signature(words)}


def search(**changes: object) -> JsonObject:
    """The provider's own search as a tool."""
    return {"type": "web_search_20250305", "name": "web_search", **changes}


def tool(name: str = "look", **changes: object) -> JsonObject:
    schema = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
    return {"name": name, "description": "Look.", "input_schema": schema, **changes}


def picture(data: bytes, media_type: str = "image/png") -> JsonObject:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def marked(block: JsonObject) -> JsonObject:
    """The block as a cache point."""
    return {**block, "cache_control": {"type": "ephemeral"}}


async def post(provider: Provider, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, JsonObject]:
    """Status and JSON body of one request."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.url}/v1/messages", data=body, headers=headers or HEADERS) as response,
    ):
        return response.status, await response.json()


async def events(provider: Provider, body: bytes) -> list[JsonObject]:
    """The events of one streamed request; the name of each agrees with its type."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.url}/v1/messages", data=body, headers=HEADERS) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        return [event async for event in _parsed(response.content)]


async def _parsed(content: AsyncIterable[bytes]) -> AsyncIterator[JsonObject]:
    name = ""
    async for line in content:
        if line.startswith(b"event: "):
            name = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            value: JsonObject = json.loads(line[6:])
            assert value["type"] == name
            yield value

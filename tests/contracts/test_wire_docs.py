"""docs/wire.md is true: its examples run, and its routes are the published ones."""

import asyncio
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.captain.api.running import (
    CAPTAIN_TOKEN,
    OPERATOR_TOKEN,
    PATIENCE_S,
    RunningCaptain,
    answers,
    caller,
    stream,
)
from tests.contracts.snapshots import OPENAPI
from tests.rules.sources import ROOT

pytestmark = pytest.mark.requirement("WIRE-8")

TEXT = (ROOT / "docs/wire.md").read_text("utf-8")
BUILT, _, TO_COME = TEXT.partition("## Agreed and not built yet")


@dataclass(frozen=True)
class Example:
    """One call as a shell has it, and what comes back: JSON, or events."""

    call: str
    kind: str
    answer: str


def examples() -> Iterator[Example]:
    for found in re.finditer(r"```sh\n(curl .*?)```\n```(json|text)\n(.*?)```", TEXT, re.DOTALL):
        yield Example(*found.groups())


def request(captain: RunningCaptain, call: str) -> httpx.Request:
    """What curl would send."""
    told = {"$CAPTAIN": captain.address, "$TOKEN": CAPTAIN_TOKEN, "$OPERATOR": OPERATOR_TOKEN}
    words = shlex.split(re.sub(r"\$[A-Z]+", lambda name: told[name.group()], call).replace("\\\n", " "))
    parts: dict[str, Any] = {"method": "", "url": "", "headers": {}, "content": None}
    rest = iter(words[1:])
    for word in rest:
        match word:
            case "-s":
                pass
            case "-X":
                parts["method"] = next(rest)
            case "-d":
                parts["content"] = next(rest)
            case "-H":
                name, _, value = next(rest).partition(": ")
                parts["headers"][name] = value
            case _:
                parts["url"] = word
    parts["method"] = parts["method"] or ("GET" if parts["content"] is None else "POST")
    return httpx.Request(**parts)


def alike(shown: Any, real: Any) -> bool:
    """Whether the real value is the one shown, where an ellipsis stands for anything."""
    match shown, real:
        case dict(), dict():
            one: dict[str, Any] = shown  # pyright: ignore[reportUnknownVariableType]
            other: dict[str, Any] = real  # pyright: ignore[reportUnknownVariableType]
            return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
        case str(), str() if shown.endswith("…"):
            return real.startswith(shown[:-1])
        case _:
            return shown == real


def events(text: str) -> list[tuple[str, Any, str]]:
    found = re.findall(r"event: (.*)\ndata: (.*)\nid: (.*)", text)
    return [(name, json.loads(data), number) for name, data, number in found]


async def test_every_example_is_answered_as_it_says(captain: RunningCaptain) -> None:
    captain.loop.script = answers("Hello, Ann.")
    told = [*examples()]
    assert len(told) == TEXT.count("```sh\n") >= 6
    async with caller(captain.address, None) as client, asyncio.timeout(PATIENCE_S):
        for example in told:
            asked = request(captain, example.call)
            if example.kind == "text":
                await shows(asked, example)
            else:
                answer = (await client.send(asked)).json()
                assert alike(json.loads(example.answer), answer), f"{example.call}\n{answer}"


async def shows(asked: httpx.Request, example: Example) -> None:
    token = asked.headers["Authorization"].removeprefix("Bearer ")
    address = f"http://{asked.url.netloc.decode()}"
    async with caller(address, token) as own, stream(own, asked.url.path, asked.headers["Last-Event-ID"]) as real:
        for name, data, number in events(example.answer):
            event = await anext(real)
            while event.id is None:  # lives only while it is sent: whether it is seen depends on when one looks
                event = await anext(real)
            assert event.name == name
            assert alike(data, json.loads(event.data or ""))
            assert alike(number, event.id)


def named_routes(text: str) -> set[tuple[str, str]]:
    """Routes as the document writes them, by method, with every parameter called alike."""
    found: set[tuple[str, str]] = set()
    for method, paths in re.findall(r"\b(GET|POST|PUT|PATCH|DELETE)((?:[\s,`]+(?:and )?/[\w{}/.?=]+)+)", text):
        for path in re.findall(r"/[\w{}/.]+", re.sub(r"\?[\w=]+", "", paths)):
            found.add((method, re.sub(r"{\w+}", "{}", path.rstrip("."))))
    return found


def published_routes() -> set[tuple[str, str]]:
    paths = json.loads(OPENAPI.read_text("utf-8"))["paths"]
    return {(method.upper(), re.sub(r"{\w+}", "{}", path)) for path, methods in paths.items() for method in methods}


def test_the_document_names_the_routes_that_there_are_and_no_other() -> None:
    assert named_routes(BUILT) == published_routes()


def test_what_is_said_to_be_missing_is_missing() -> None:
    assert named_routes(TO_COME)
    assert not named_routes(TO_COME) & published_routes()

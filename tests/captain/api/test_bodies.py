"""A caller that dies amid its request is no fault of the captain's."""

from collections.abc import MutableMapping
from typing import Any

from fastapi import FastAPI, Request
from structlog.testing import capture_logs

from clankie_captain.api import body, problems
from clankie_settings.wire.command import Edit

Event = MutableMapping[str, Any]


async def test_a_caller_that_hangs_up_amid_its_body_leaves_no_fault_in_the_log() -> None:
    app = FastAPI()
    problems.install(app)

    async def take(request: Request) -> None:
        await body.read(request, Edit, "invalid_edit")

    app.post("/words")(take)
    heard: list[Event] = [
        {"type": "http.request", "body": b'{"body": "half', "more_body": True},
        {"type": "http.disconnect"},
    ]
    answered: list[Event] = []

    async def receive() -> Event:
        return heard.pop(0)

    async def send(event: Event) -> None:
        answered.append(event)

    scope: Event = {"type": "http", "method": "POST", "path": "/words", "query_string": b"", "headers": []}
    with capture_logs() as log:
        await app(scope, receive, send)
    assert log == []
    assert answered[0]["status"] == 400

"""The control over HTTP: ``POST /_stage/<verb>`` with the verb's arguments as a JSON object."""

import asyncio
import contextlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from aiohttp import web
from pydantic import ConfigDict, ValidationError, validate_call

from clankie_stage.discord.audience import Audience
from clankie_stage.discord.control import Control

VERBS = (
    "say", "flood", "edit", "unfurl", "delete", "delete_bulk", "react", "typing",
    "commands", "interact", "interaction", "wait_interaction",
    "create_user", "create_guild", "create_room", "create_thread", "delete_room", "delete_guild",
    "set_access", "set_dms", "lay", "fault", "release", "clear_faults", "drop", "reconnect", "invalidate", "close",
    "forget_sessions", "duplicate", "behave", "messages", "shown", "recorded", "typings", "mark",
    "wait", "wait_messages", "wait_connected", "wait_held", "reset", "describe",
)  # fmt: skip

KEEP_ALIVE_S = 15.0


@dataclass(frozen=True, slots=True)
class ControlRoutes:
    """Serves the verbs, and what is seen in the rooms as server-sent events."""

    control: Control
    audience: Audience

    def mount(self, app: web.Application) -> None:
        """Add the routes under ``/_stage``."""
        for verb in VERBS:
            app.router.add_post(f"/_stage/{verb}", self._served(getattr(self.control, verb)))
        app.router.add_get("/_stage/events", self.events)

    def _served(self, verb: Callable[..., Any]) -> Any:
        checked = validate_call(config=ConfigDict(strict=True))(verb)

        async def serve(request: web.Request) -> web.Response:
            if request.content_type != "application/json":
                return _problem(415, "send a JSON object as application/json")
            try:
                arguments = cast("dict[str, Any]", await request.json())
                outcome = checked(**arguments)
                value = await outcome if inspect.isawaitable(outcome) else outcome
            except ValidationError as error:
                return _problem(422, "; ".join(f"{_where(each['loc'])}: {each['msg']}" for each in error.errors()))
            except (TypeError, ValueError) as error:
                return _problem(422, f"arguments must be a JSON object that fits the verb: {error}")
            except LookupError as error:
                return _problem(404, str(error.args[0] if error.args else error))
            except TimeoutError:
                return _problem(504, "it did not come about in time")
            return web.json_response({"value": value})

        return serve

    async def events(self, request: web.Request) -> web.StreamResponse:
        """What is seen in the rooms from now on, one JSON object per event."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        # Whoever closes the page is no fault of ours: it shows only at the next write.
        with self.audience.watching() as sights, contextlib.suppress(ConnectionError):
            await response.write(b"retry: 1000\n\n")
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        sight = await sights.get()
                except TimeoutError:
                    await response.write(b": still here\n\n")
                else:
                    if sight["sight"] == "end":
                        break
                    await response.write(b"data: " + json.dumps(sight).encode() + b"\n\n")
        return response


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "arguments"


def _problem(status: int, detail: str) -> web.Response:
    return web.json_response(
        {"status": status, "detail": detail}, status=status, content_type="application/problem+json"
    )

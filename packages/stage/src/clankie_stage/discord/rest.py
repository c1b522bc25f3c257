"""The REST interface over HTTP: token, faults, rate limits, answers, and the record of it all."""

import hashlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from clankie_stage.discord import errors
from clankie_stage.discord.bodies import read_body
from clankie_stage.discord.calls import Answer, Call, Route
from clankie_stage.discord.errors import RefusalError
from clankie_stage.discord.faults import Fault, Faults
from clankie_stage.discord.rate_limits import RateLimits
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.snowflakes import bot_token
from clankie_stage.discord.world import Json, World

ROOT = "/api/v10"


@dataclass(frozen=True, slots=True)
class Rest:
    """Serves routes under ``/api/v10``."""

    world: World
    recording: Recording
    faults: Faults
    limits: RateLimits

    def mount(self, app: web.Application, routes: Iterable[Route]) -> None:
        """Add the routes, and Discord's 404 for everything else beneath the root."""
        for route in routes:
            app.router.add_route(route.method, ROOT + route.template, self._served(route))
        app.router.add_route("*", ROOT + "/{rest:.*}", self._served(Route("*", "/(unknown)", _unknown)))

    def _served(self, route: Route) -> Any:
        async def serve(request: web.Request) -> web.StreamResponse:
            return await self._serve(request, route)

        return serve

    async def _serve(self, request: web.Request, route: Route) -> web.StreamResponse:
        path = request.path.removeprefix(ROOT)
        note: Json = {"method": request.method, "path": path, "route": route.template, "query": dict(request.query)}
        note["started_at"] = self.recording.now()
        fault = self.faults.strike(request.method, path)
        if fault is not None:
            note["fault"] = fault.id
            await self.faults.wait(fault)
        if fault is not None and fault.replaces and not fault.after:
            response = _faulty(fault)
        else:
            response = await self._answer(request, route, path, note)
        if fault is not None and fault.after and fault.status is not None:
            response = _faulty(fault)
        cut = fault is not None and fault.cuts
        self.recording.add("rest", {**note, "status": None if cut else response.status})
        if cut and request.transport is not None:
            request.transport.abort()
        return response

    async def _answer(self, request: web.Request, route: Route, path: str, note: Json) -> web.Response:
        headers: dict[str, str] = {}
        try:
            if not route.open:
                self._authorize(request)
            call = await self._call(request, route, path, note)
            # Interactions and their webhooks have limits of their own, which Discord does not tell.
            verdict = None if route.open else self.limits.judge(route.method, route.template, call.major)
            if verdict is not None:
                headers = verdict.headers
                if verdict.retry_after is not None:
                    return web.json_response(verdict.payload(), status=429, headers=headers)
            answered = route.handler(call)
            answer = await answered if inspect.isawaitable(answered) else answered
        except RefusalError as refusal:
            answer = Answer(refusal.status, refusal.payload())
        note["answer"] = answer.body
        if answer.body is None:
            return web.Response(status=answer.status, headers=headers)
        return web.Response(
            body=json.dumps(answer.body).encode(),
            status=answer.status,
            headers=headers,
            content_type="application/json",
        )

    def _authorize(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bot {bot_token(self.world.bot_id)}":
            raise errors.unauthorized()

    async def _call(self, request: web.Request, route: Route, path: str, note: Json) -> Call:
        body, files = await read_body(request, takes_list=route.takes_list)
        note["body"] = body
        note["files"] = [
            {
                "filename": file.filename,
                "size": len(file.content),
                "content_type": file.content_type,
                "sha256": hashlib.sha256(file.content).hexdigest(),
            }
            for file in files
        ]
        return Call(request.method, route.template, path, dict(request.match_info), dict(request.query), body, files)


def _unknown(call: Call) -> Answer:
    del call
    raise errors.not_found()


def _faulty(fault: Fault) -> web.Response:
    headers = dict(fault.headers)
    if fault.status == 429:
        headers.setdefault("Via", "1.1 stage")
    if isinstance(fault.body, str):
        headers.setdefault("Content-Type", "text/plain")
        return web.Response(body=fault.body.encode(), status=fault.status or 200, headers=headers)
    headers.setdefault("Content-Type", "application/json")
    body = {"message": "a fault was ordered", "code": 0} if fault.body is None else fault.body
    return web.Response(body=json.dumps(body).encode(), status=fault.status or 200, headers=headers)

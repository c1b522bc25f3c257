"""Steers the provider over HTTP, for tests whose processes it does not share."""

from collections.abc import Awaitable
from dataclasses import asdict, fields, replace
from typing import cast

from aiohttp import web

from clankie_stage.provider.brain import Brain, Habits
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.notation import decode_step
from clankie_stage.provider.records import encode_record
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_LONGEST_WAIT_S = 60.0


class Control:
    """Serves ``/_control/…``; it knows no keys, being for loopback only."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    def routes(self) -> list[web.RouteDef]:
        """The routes to add to an application."""
        return [
            web.post("/_control/script", self.script),
            web.post("/_control/reset", self.reset),
            web.get("/_control/habits", self.habits),
            web.patch("/_control/habits", self.change_habits),
            web.post("/_control/barriers/{name}/open", self.open_barrier),
            web.get("/_control/barriers/{name}", self.barrier),
            web.get("/_control/requests", self.requests),
        ]

    async def script(self, request: web.Request) -> web.Response:
        """Append steps: ``{"steps": [...]}``; answers how many now wait."""
        try:
            steps = sequence((await _object(request)).get("steps", []))
            self._brain.script(*(decode_step(step) for step in steps or [None]))
        except ValueError as error:
            return _problem(400, str(error))
        return web.json_response({"unused": self._brain.unused()})

    async def reset(self, request: web.Request) -> web.Response:
        """Back to the beginning; answers in flight are abandoned."""
        del request
        self._brain.reset()
        return web.json_response({})

    async def habits(self, request: web.Request) -> web.Response:
        """Limits, default answerer, refused keys, pace; and how many steps wait."""
        del request
        habits = self._brain.habits
        return web.json_response(
            {**asdict(habits), "bad_keys": sorted(habits.bad_keys), "unused": self._brain.unused()}
        )

    async def change_habits(self, request: web.Request) -> web.Response:
        """Change what the body names: ``{"limits": {"context_tokens": 4000}, "pace": 0}``."""
        try:
            self._brain.habits = changed_habits(self._brain.habits, await _object(request))
        except ValueError as error:
            return _problem(400, str(error))
        return await self.habits(request)

    async def open_barrier(self, request: web.Request) -> web.Response:
        """Open a barrier."""
        self._brain.open(request.match_info["name"])
        return web.json_response({})

    async def barrier(self, request: web.Request) -> web.Response:
        """Wait for ``count`` arrivals at a barrier, at most ``wait`` seconds; 408 when they did not come."""
        name = request.match_info["name"]
        waiting = self._brain.arrived(name, _count(request), _wait(request))
        if not await _came(waiting):
            return _problem(408, f"{self._brain.barriers.arrivals(name)} arrived")
        return web.json_response({"arrivals": self._brain.barriers.arrivals(name)})

    async def requests(self, request: web.Request) -> web.Response:
        """Wait for ``count`` requests (``ended=1``: for their ends), at most ``wait`` seconds; then all records.

        ``from`` leaves out the records before this index, for whoever has them already.
        """
        wait = self._brain.wait_ended if request.query.get("ended") else self._brain.wait_requests
        if not await _came(wait(_count(request), _wait(request))):
            return _problem(408, f"{self._brain.recorder.count()} requests came")
        first = int(request.query.get("from", "0"))
        records = [encode_record(record) for record in self._brain.records() if record.index >= first]
        return web.json_response({"requests": records})


def changed_habits(habits: Habits, changes: JsonObject) -> Habits:
    """The habits with some replaced.

    Raises:
        ValueError: A name or value that habits do not have.
    """
    rest = dict(changes)
    limits = mapping(rest.pop("limits", {})) or {}
    keys = sequence(rest.pop("bad_keys", sorted(habits.bad_keys)))
    unknown = [*(rest.keys() - {"default", "pace"}), *(limits.keys() - {field.name for field in fields(Limits)})]
    if unknown or keys is None or rest.get("default", habits.default) not in ("rehearsal", "unscripted"):
        raise ValueError(f"no such habits: {', '.join(sorted(unknown)) or 'bad_keys or default'}")
    if "models" in limits:
        limits = {**limits, "models": tuple(str(name) for name in sequence(limits["models"]) or [])}
    merged = replace(habits.limits, **cast("dict[str, int]", limits))
    bad_keys = frozenset(str(key) for key in keys)
    return replace(habits, limits=merged, bad_keys=bad_keys, **cast("dict[str, float]", rest))


async def _object(request: web.Request) -> JsonObject:
    """The body as a JSON object; the standard parser lets unpaired surrogates through, as scripts need."""
    value = mapping(cast("object", await request.json()))
    if value is None:
        raise ValueError("the body is a JSON object")
    return value


async def _came(waiting: Awaitable[object]) -> bool:
    try:
        await waiting
    except TimeoutError:
        return False
    return True


def _count(request: web.Request) -> int:
    return int(request.query.get("count", "0"))


def _wait(request: web.Request) -> float:
    return min(_LONGEST_WAIT_S, float(request.query.get("wait", "0")))


def _problem(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)

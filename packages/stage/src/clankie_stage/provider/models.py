"""The list of models, and what is answered where nothing is."""

from datetime import UTC, datetime

from aiohttp import web

from clankie_stage.provider.anthropic_errors import error_body
from clankie_stage.provider.anthropic_rules import authorize_key
from clankie_stage.provider.brain import Brain
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.rules import authorize
from clankie_stage.provider.shapes import JsonObject

REHEARSAL = "rehearsal"
"""The name under which the rehearsal model is listed; where no models are set, any name is served."""
_CREATED = 1_767_225_600


class Models:
    """Serves ``/v1/models``, and the 404 of everything else, in the shape of whoever asks."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    async def all(self, request: web.Request) -> web.Response:
        """Every model that is served."""
        if (refused := self._refused(request)) is not None:
            return refused
        names = self._names()
        if _asks_as_anthropic(request):
            data = [_anthropic_model(name) for name in names]
            return web.json_response({"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]})
        return web.json_response({"object": "list", "data": [_model(name) for name in names]})

    async def one(self, request: web.Request) -> web.Response:
        """One model, or 404."""
        name = request.match_info["name"]
        if (refused := self._refused(request)) is not None:
            return refused
        if name not in self._names():
            absent = Refusal(404, "The model does not exist.", param="model", code="model_not_found")
            return self._answer(request, absent)
        return web.json_response(_anthropic_model(name) if _asks_as_anthropic(request) else _model(name))

    async def nothing(self, request: web.Request) -> web.Response:
        """Any other address or method."""
        wrong = Refusal(404, f"Invalid URL ({request.method} {request.path}).")
        return self._refused(request) or self._answer(request, wrong)

    def _names(self) -> tuple[str, ...]:
        return self._brain.habits.limits.models or (REHEARSAL,)

    def _refused(self, request: web.Request) -> web.Response | None:
        bad_keys = self._brain.habits.bad_keys
        if _asks_as_anthropic(request):
            refusal = authorize_key(request.headers, bad_keys)
        else:
            refusal = authorize(request.headers.get("authorization"), bad_keys)
        return self._answer(request, refusal) if refusal is not None else None

    def _answer(self, request: web.Request, refusal: Refusal) -> web.Response:
        ours = _asks_as_anthropic(request)
        body = error_body(refusal, self._brain.ids.new("req")) if ours else refusal.body()
        return web.json_response(body, status=refusal.status)


def _asks_as_anthropic(request: web.Request) -> bool:
    # Both providers have this address; the header is what their clients differ in.
    return "anthropic-version" in request.headers


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "stage"}


def _anthropic_model(name: str) -> JsonObject:
    created_at = datetime.fromtimestamp(_CREATED, UTC).isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": name, "display_name": name, "created_at": created_at}

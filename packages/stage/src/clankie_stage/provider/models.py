"""The list of models, and what is answered where nothing is."""

from aiohttp import web

from clankie_stage.provider.brain import Brain
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.rules import authorize
from clankie_stage.provider.shapes import JsonObject

REHEARSAL = "rehearsal"
"""The name under which the rehearsal model is listed; where no models are set, any name is served."""
_CREATED = 1_767_225_600


class Models:
    """Serves ``/v1/models``, and the OpenAI-shaped 404 of everything else."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    async def all(self, request: web.Request) -> web.Response:
        """Every model that is served."""
        data = [_model(name) for name in self._names()]
        return self._refused(request) or web.json_response({"object": "list", "data": data})

    async def one(self, request: web.Request) -> web.Response:
        """One model, or 404."""
        name = request.match_info["name"]
        if (refused := self._refused(request)) is not None:
            return refused
        if name not in self._names():
            return answer(Refusal(404, "The model does not exist.", param="model", code="model_not_found"))
        return web.json_response(_model(name))

    async def nothing(self, request: web.Request) -> web.Response:
        """Any other address or method."""
        wrong = Refusal(404, f"Invalid URL ({request.method} {request.path}).")
        return self._refused(request) or answer(wrong)

    def _names(self) -> tuple[str, ...]:
        return self._brain.habits.limits.models or (REHEARSAL,)

    def _refused(self, request: web.Request) -> web.Response | None:
        header = request.headers.get("authorization")
        refusal = authorize(header, self._brain.habits.bad_keys)
        return answer(refusal) if refusal is not None else None


def answer(refusal: Refusal) -> web.Response:
    """A refusal as an HTTP answer."""
    return web.json_response(refusal.body(), status=refusal.status)


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "stage"}

"""The published description of the door. Bodies are read strictly from JSON, so their shapes are added here."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from clankie_settings.wire.problem import PROBLEM_TYPE, Problem
from clankie_settings.wire.receipt import ActionReceipt, KnownRooms, OwedList, Receipt, ReceiptAnswer
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Silent
from clankie_settings.wire.scalars import WireModel
from clankie_settings.wire.trigger import Trigger

_RESULTS: Final = (Replied, Absorbed, Silent, Failed)

_BODIES: Final[dict[tuple[str, str], type[WireModel]]] = {
    ("/v1/turns", "post"): Trigger,
    ("/v1/turns/{delivery_id}/receipts", "post"): Receipt,
    ("/v1/actions/{action_id}/receipt", "post"): ActionReceipt,
}
"""What each route reads."""

_ANSWERS: Final[dict[tuple[str, str], tuple[type[WireModel], ...]]] = {
    ("/v1/turns", "post"): _RESULTS,
    ("/v1/turns", "get"): (OwedList,),
    ("/v1/turns/{delivery_id}", "get"): _RESULTS,
    ("/v1/turns/{delivery_id}/receipts", "post"): (ReceiptAnswer,),
    ("/v1/presences/{presence_id}/rooms", "get"): (KnownRooms,),
}
"""What each route answers with 200."""


def install(app: FastAPI) -> None:
    """Publish ``/openapi.json`` with the shapes of the wire."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = describe


def _described(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    answers = {model for models in _ANSWERS.values() for model in models}
    inward = models_json_schema([(each, "validation") for each in _BODIES.values()], ref_template=_ref("{model}"))
    outward = models_json_schema(
        [(each, "serialization") for each in (*answers, Pending, Problem)], ref_template=_ref("{model}")
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for _, definitions in (inward, outward):
        schemas.update(definitions.get("$defs", {}))
    for (path, method), model in _BODIES.items():
        document["paths"][path][method]["requestBody"] = _content(model, required=True)
    for (path, method), models in _ANSWERS.items():
        responses = document["paths"][path][method]["responses"]
        responses["200"] = {"description": "Done", **_content(*models)}
        if models is _RESULTS:
            responses["202"] = {"description": "Not settled yet; wait at Location", **_content(Pending)}
    for path in document["paths"].values():
        for operation in path.values():
            problem = {PROBLEM_TYPE: {"schema": {"$ref": _ref("Problem")}}}
            operation["responses"]["default"] = {"description": "A problem", "content": problem}
            operation["responses"].pop("422", None)
    return document


def _ref(model: str) -> str:
    return f"#/components/schemas/{model}"


def _content(*models: type[WireModel], required: bool = False) -> dict[str, Any]:
    refs = [{"$ref": _ref(each.__name__)} for each in models]
    schema = refs[0] if len(refs) == 1 else {"oneOf": refs}
    document: dict[str, Any] = {"content": {"application/json": {"schema": schema}}}
    return {**document, "required": True} if required else document

"""The published description of the door. Bodies are read strictly from JSON, so their shapes are added here."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from clankie_settings.wire.action import ACTIONS
from clankie_settings.wire.command import Command, CommandAnswer, Edit
from clankie_settings.wire.lease import Lease, LeaseRequest, RoomLease, RoomLeaseRequest
from clankie_settings.wire.operator import Conversation, Forget, Forgotten, OperatorMessage, RunReceipt
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
    ("/v1/turns/{delivery_id}", "patch"): Edit,
    ("/v1/presences/{presence_id}/commands", "post"): Command,
    ("/v1/presences/{presence_id}/lease", "put"): LeaseRequest,
    ("/v1/presences/{presence_id}/rooms/{room}", "put"): RoomLeaseRequest,
    ("/v1/conversations/{conversation_id}/messages", "post"): OperatorMessage,
    ("/v1/forget", "post"): Forget,
}
"""What each route reads."""

_ANSWERS: Final[dict[tuple[str, str], tuple[type[WireModel], ...]]] = {
    ("/v1/turns", "post"): _RESULTS,
    ("/v1/turns", "get"): (OwedList,),
    ("/v1/turns/{delivery_id}", "get"): _RESULTS,
    ("/v1/turns/{delivery_id}/receipts", "post"): (ReceiptAnswer,),
    ("/v1/presences/{presence_id}/rooms", "get"): (KnownRooms,),
    ("/v1/presences/{presence_id}/lease", "put"): (Lease,),
    ("/v1/presences/{presence_id}/rooms/{room}", "put"): (RoomLease,),
    ("/v1/turns/{delivery_id}", "patch"): _RESULTS,
    ("/v1/turns/{delivery_id}", "delete"): _RESULTS,
    ("/v1/turns/{delivery_id}/cancel", "post"): _RESULTS,
    ("/v1/presences/{presence_id}/commands", "post"): (CommandAnswer,),
    ("/v1/conversations", "post"): (Conversation,),
    ("/v1/conversations/{conversation_id}/messages", "post"): (RunReceipt,),
    ("/v1/forget", "post"): (Forgotten,),
    ("/v1/lanes/{lane_id}", "delete"): (Forgotten,),
}
"""What each route answers with 200."""

_STREAM: Final = ("/v1/presences/{presence_id}/actions", "get")
"""The route that streams actions, each under its name."""

_OPEN: Final = ("/healthz", "/readyz", "/metrics")
"""What needs no token."""


def install(app: FastAPI) -> None:
    """Publish ``/openapi.json`` with the shapes of the wire."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = describe


def _described(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    document["components"] = {
        "schemas": _schemas(),
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    }
    paths = document["paths"]
    for (path, method), model in _BODIES.items():
        paths[path][method]["requestBody"] = {**_content(model), "required": True}
    for (path, method), models in _ANSWERS.items():
        responses = paths[path][method]["responses"]
        responses["200"] = {"description": "Done", **_content(*models)}
        if models is _RESULTS:
            responses["202"] = {"description": "Not settled yet; wait at Location", **_content(Pending)}
    path, method = _STREAM
    events = _content(*ACTIONS.values(), media_type="text/event-stream")
    paths[path][method]["responses"]["200"] = {"description": "Actions as they come", **events}
    for path, operations in paths.items():
        for operation in operations.values():
            operation["responses"]["default"] = {
                "description": "A problem",
                **_content(Problem, media_type=PROBLEM_TYPE),
            }
            operation["responses"].pop("422", None)
            operation["security"] = [] if path in _OPEN else [{"token": []}]
    return document


def _schemas() -> dict[str, Any]:
    answers = {model for models in _ANSWERS.values() for model in models}
    inward = models_json_schema([(each, "validation") for each in _BODIES.values()], ref_template=_ref("{model}"))
    outward = models_json_schema(
        [(each, "serialization") for each in (*answers, *ACTIONS.values(), Pending, Problem)],
        ref_template=_ref("{model}"),
    )
    schemas = {name: schema for _, found in (inward, outward) for name, schema in found.get("$defs", {}).items()}
    return dict(sorted(schemas.items()))


def _ref(model: str) -> str:
    return f"#/components/schemas/{model}"


def _content(*models: type[WireModel], media_type: str = "application/json") -> dict[str, Any]:
    refs = [{"$ref": _ref(each.__name__)} for each in models]
    return {"content": {media_type: {"schema": refs[0] if len(refs) == 1 else {"oneOf": refs}}}}

"""What goes over the wire, as files that only a decision changes: `python -m tests.contracts.snapshots` writes them.

A change in one of them is a change of the wire: raise its version, or say why the other side does not mind.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clankie_captain import app as composition
from clankie_settings.wire.command import Command, CommandAnswer, Edit
from clankie_settings.wire.operator import Conversation, Forget, Forgotten, OperatorMessage, RunReceipt
from clankie_settings.wire.problem import Problem
from clankie_settings.wire.scalars import WireModel
from tests.captain.api.running import ToldLoop, settings
from tests.settings.wire.samples import ROOM, SAMPLES, Json

FRAMES = Path(__file__).with_name("frames")
OPENAPI = Path(__file__).with_name("openapi.json")

# Shapes that travel besides those whose every field is tried in tests/settings.
MORE: list[tuple[type[WireModel], Json]] = [
    (Edit, {"body": "hello again", "edited_at": "2026-01-02T03:04:06Z"}),
    (
        Command,
        {"command_id": "600", "name": "stop", "room": ROOM, "actor": {"actor_id": "11", "display_name": "Ann"}},
    ),
    (CommandAnswer, {"text": "Stopped."}),
    (Conversation, {"conversation_id": "c_1"}),
    (OperatorMessage, {"text": "hello", "delivery": "queue", "client_id": "1"}),
    (RunReceipt, {"run_receipt": "m_1", "state": "queued"}),
    (Forget, {"person": "11", "replies": True}),
    (Forgotten, {"lanes": 1, "entries": 2, "deliveries": 1}),
]

PROBLEM: Json = {
    "type": "about:blank",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "body: must not be blank",
    "code": "invalid_trigger",
    "field": "body",
}


def shapes() -> Iterator[tuple[str, type[WireModel], Json]]:
    """Every shape of the wire by the name of its file, with a document in which each field is present."""
    for kind, document in [*SAMPLES, *MORE, (Problem, PROBLEM)]:
        yield re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower(), kind, document


def frame(kind: type[WireModel], document: Json) -> str:
    """A document as the services write it, for a person to read."""
    written = kind.model_validate_json(json.dumps(document)).model_dump_json(exclude_none=True)
    return as_text(json.loads(written))


def published() -> dict[str, Any]:
    """The OpenAPI document of the captain, as it is served."""
    with tempfile.TemporaryDirectory() as state:
        app = composition.build(settings(Path(state)), make_loop=lambda _settings, _clock: ToldLoop())
        return app.openapi()


def as_text(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def write() -> None:
    """Take today's wire as the one that is agreed upon."""
    FRAMES.mkdir(exist_ok=True)
    for name, kind, document in shapes():
        (FRAMES / f"{name}.json").write_text(frame(kind, document), encoding="utf-8")
    OPENAPI.write_text(as_text(published()), encoding="utf-8")


if __name__ == "__main__":
    write()

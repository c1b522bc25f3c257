"""One full document of every shape of the wire, and how to change one place of it."""

import copy
from collections.abc import Iterator
from typing import Any

from clankie_settings.wire.action import ACTIONS
from clankie_settings.wire.lease import Lease, LeaseRequest, RoomLease, RoomLeaseRequest
from clankie_settings.wire.receipt import ActionReceipt, KnownRooms, OwedList, Receipt, ReceiptAnswer
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Silent
from clankie_settings.wire.scalars import WireModel
from clankie_settings.wire.trigger import Trigger

Json = dict[str, Any]
Place = tuple[str | int, ...]

ROOM: Json = {
    "platform": "discord",
    "guild_id": "200",
    "channel_id": "300",
    "parent_id": "301",
    "guild_name": "A guild",
    "channel_name": "general",
}
PICTURE: Json = {
    "id": "700",
    "url": "https://cdn.discordapp.com/attachments/1/2/a.gif",
    "motion_url": "https://cdn.discordapp.com/attachments/1/2/a.mp4",
    "media_type": "image/gif",
    "filename": "a.gif",
    "byte_size": 1024,
}
ARTIFACT: Json = {
    "ref": f"sha256:{'0' * 64}:plots/a.png",
    "filename": "a.png",
    "media_type": "image/png",
    "byte_size": 1024,
}
BACKLOG: Json = {
    "message_id": "401",
    "author_id": "11",
    "author_name": "Ann",
    "is_self": False,
    "body": "earlier",
    "sent_at": "2026-01-02T03:04:05Z",
}
TRIGGER: Json = {
    "wire_version": 1,
    "delivery_id": "400",
    "presence_id": "discord",
    "kind": "mention",
    "room": ROOM,
    "actor": {"actor_id": "11", "display_name": "Ann", "is_bot": False, "role_ids": ["21"]},
    "message_id": "400",
    "sent_at": "2026-01-02T03:04:06Z",
    "body": "look at this",
    "attachments": [PICTURE],
    "attachments_omitted": {"unsupported": 1, "too_large": 0, "over_limit": 0},
    "addressed": True,
    "reply_to": BACKLOG | {"message_id": "399"},
    "context": [BACKLOG],
    "context_visual": {"message_id": "401", "attachment": PICTURE | {"id": "701"}, "omitted": 1},
    "covers": ["398"],
    "delivery": "auto",
}
_SETTLED: Json = {"delivery_id": "400", "turn_id": "turn_1", "run_id": "run_1", "owed": True}
_ASKED: Json = {"action_id": "action_1", "delivery_id": "400"}

SAMPLES: list[tuple[type[WireModel], Json]] = [
    (Trigger, TRIGGER),
    (Replied, _SETTLED | {"state": "replied", "text": "Hello", "artifacts": [ARTIFACT], "after_action": 3}),
    (Absorbed, _SETTLED | {"state": "absorbed", "answered_by": "399"}),
    (Silent, _SETTLED | {"state": "silent"}),
    (Failed, _SETTLED | {"state": "failed", "code": "captain_turn_stalled", "notice": True}),
    (Pending, {"state": "queued", "delivery_id": "400"}),
    (Receipt, {"part": 1, "of": 2, "message_id": "500", "posted_at": "2026-01-02T03:04:06Z"}),
    (ReceiptAnswer, {"delivery_id": "400", "owed": False}),
    (ActionReceipt, {"ok": True, "message_id": "500", "code": "superseded"}),
    (
        OwedList,
        {
            "turns": [
                {
                    "delivery_id": "400",
                    "room": ROOM,
                    "message_id": "400",
                    "addressed": True,
                    "accepted_at": "2026-01-02T03:04:06Z",
                    "settled_at": "2026-01-02T03:04:07Z",
                    "parts_posted": 0,
                }
            ]
        },
    ),
    (RoomLeaseRequest, {"kind": "voice", "ttl_s": 15}),
    (RoomLease, {"kind": "voice", "room": "200:300", "ttl_s": 15, "renewed": True}),
    (LeaseRequest, {"instance_id": "bridge_2", "ttl_s": 15, "listening": True, "replaces": "bridge_1"}),
    (Lease, {"fence": 2, "missed_since": "2026-01-02T03:04:06Z", "last_action": 7}),
    (
        KnownRooms,
        {
            "rooms": [
                {"room": ROOM, "last_message_id": "400", "last_at": "2026-01-02T03:04:06Z", "last_state": "replied"}
            ],
            "last_alive_at": "2026-01-02T03:04:06Z",
        },
    ),
    (ACTIONS["typing"], {"delivery_id": "400"}),
    (
        ACTIONS["tool_activity"],
        {"delivery_id": "400", "state": "working", "categories": {"web": 2}, "elapsed_s": 5},
    ),
    (ACTIONS["clear"], {"delivery_id": "400"}),
    (ACTIONS["text_update"], _ASKED | {"text": "Still looking."}),
    (ACTIONS["react"], _ASKED | {"emoji": "👀"}),
    (ACTIONS["post"], _ASKED | {"room": ROOM, "reply_to": "400", "text": "Done", "artifacts": [ARTIFACT]}),
    (ACTIONS["speak"], _ASKED | {"room": ROOM, "text": "Hello"}),
]
"""Every shape with a document in which each of its fields is present."""


def places(document: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place of a document with what stands there, the whole first."""
    yield at, document
    if isinstance(document, dict):
        entries: list[tuple[str | int, Any]] = [*document.items()]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    elif isinstance(document, list):
        entries = [*enumerate(document)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    else:
        return
    for key, value in entries:
        yield from places(value, (*at, key))


def changed(document: Json, at: Place, value: Any) -> Json:
    """A copy of the document with another value at one place."""
    result = copy.deepcopy(document)
    target: Any = result
    for key in at[:-1]:
        target = target[key]
    target[at[-1]] = value
    return result


def without(document: Json, *keys: str) -> Json:
    """A copy of the document without these keys."""
    return {key: value for key, value in document.items() if key not in keys}


def dotted(at: Place) -> str:
    """A place as error answers name it."""
    return ".".join(str(each) for each in at)

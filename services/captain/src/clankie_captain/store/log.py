"""The lane log: one ``heard`` for each delivery, one ``said`` for each reply, and why a run broke.

Source: LANE-11, FAIL-4.
"""

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, select

from clankie_captain.core.run import Broken
from clankie_captain.core.turns import Heard
from clankie_captain.store import tables
from clankie_settings.wire.result import Replied

_one = tables.delivery.c
# One by one: SQLite looks no list of pairs up in an index, and would read every delivery there ever was.
_WORDS: Final = select(_one.trigger, _one.content_hash).where(
    _one.presence == bindparam("presence"), _one.id == bindparam("id")
)


def log_heard(connection: Connection, heard: Sequence[Heard]) -> list[tuple[Heard, str]]:
    """The deliveries whose words now reach the model, each with the payload of its log row.

    One whose words were erased since they were taken is left out: it is heard once what is left of them is.
    """
    rows = [
        (each, connection.execute(_WORDS, {"presence": each.presence, "id": each.delivery}).one()) for each in heard
    ]
    return [(each, row.trigger) for each, row in rows if row.content_hash == each.content]


def log_said(reply: Replied) -> tuple[str, str]:
    """The log row, as kind and payload, of a reply."""
    payload = {"delivery_id": reply.delivery_id, "run_id": reply.run_id, "text": reply.text}
    return "said", json.dumps(payload, ensure_ascii=False)


def log_broken(broken: Broken) -> tuple[str, str]:
    """The log row, as kind and payload, of a run that could not go on; the only place that keeps a provider's words."""
    payload = {"code": broken.code, "cause": broken.cause, "words": broken.words}
    return "broken", json.dumps(payload, ensure_ascii=False)

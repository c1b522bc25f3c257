"""Words that nobody waits for: a reply without a request behind it goes to its room as an action. Source: wire.md."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select

from clankie_captain.core.artifacts import newest
from clankie_captain.core.children import UNTOLD
from clankie_captain.core.origin import Homecoming
from clankie_captain.core.settlement import Settlement
from clankie_captain.core.turns import LiveRun
from clankie_captain.store import forks, tables
from clankie_captain.store.numbering import store
from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import Post
from clankie_settings.wire.result import Failed, Replied
from clankie_settings.wire.trigger import Trigger

_one = tables.delivery.c

_UNAWAITED: Final = select(_one.trigger).where(
    _one.presence == bindparam("presence"), _one.id == bindparam("id"), _one.awaited.is_(False)
)


def report(
    connection: Connection, run: LiveRun, decided: Settlement, owners: Mapping[str, PresenceId], at: datetime
) -> frozenset[PresenceId]:
    """Store a settled run's reply as an action where nobody waits for it; the presence that is to post it.

    Where a child's end could not be told of, the room is told that (ROOM-8). It is part of
    the settlement's transaction: the result and the words come about together.

    Source: DUR-1.
    """
    posted: set[PresenceId] = set()
    if run.lane.forked_from is not None:
        # A child speaks to its lane alone.
        return frozenset(posted)
    for result in decided.results:
        if not isinstance(result, Replied | Failed) or result.owed:
            continue
        presence = owners[result.turn_id]
        stored = connection.execute(_UNAWAITED, {"presence": presence, "id": result.delivery_id}).scalar()
        trigger = None if stored is None else Trigger.model_validate_json(stored)
        # On the console the conversation's own events say it.
        if trigger is None or trigger.room.platform != "discord":
            continue
        post = _post(connection, run, trigger, result)
        # One short word is enough where somebody who had joined is owed one as well.
        if post is not None and not (post.notice and any(each.owed for each in decided.results)):
            store(connection, presence, post, at, run=run.run)
            posted.add(presence)
    return frozenset(posted)


def _post(connection: Connection, run: LiveRun, trigger: Trigger, result: Replied | Failed) -> Post | None:
    came = forks.origin(connection, trigger.presence_id, trigger.delivery_id)
    told = Post(
        action_id=f"post_{run.run}",
        delivery_id=result.delivery_id,
        room=trigger.room,
        reply_to=trigger.reply_to.message_id if trigger.reply_to is not None else None,
        text=result.text if isinstance(result, Replied) else UNTOLD,
        notice=isinstance(result, Failed),
    )
    if isinstance(result, Failed):
        # Of all that the captain sets in motion itself, the room knows only of work that it was told of.
        return told if isinstance(came, Homecoming) else None
    pictures = came.pictures if isinstance(came, Homecoming) else ()
    return told.model_copy(update={"artifacts": newest([*pictures, *result.artifacts])})

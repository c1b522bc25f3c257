"""Replies that a voice says aloud, and how they go back to text. Source: VOX-2."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, select, update

from clankie_captain.core.settlement import Settlement
from clankie_captain.core.turns import LiveRun
from clankie_captain.core.voice import Holding, left, owns, room_key, speaker, spoken
from clankie_captain.store import rows, tables
from clankie_captain.store.numbering import store
from clankie_captain.store.rows import AnyRow
from clankie_settings.ids import PresenceId, RunId
from clankie_settings.wire.action import Post, Speak
from clankie_settings.wire.result import Replied
from clankie_settings.wire.trigger import Room, Trigger

RETURNED: Final = "returned"
"""The state of a ``speak`` whose words went back to text."""

_lease, _action, _delivery, _run = tables.room_lease.c, tables.action.c, tables.delivery.c, tables.run.c

_HELD: Final = select(_lease.presence, _lease.renewed_at, _lease.ttl_s).where(_lease.room == bindparam("room"))
_OWNER: Final = select(_delivery.trigger, _delivery.awaited).where(
    _delivery.presence == bindparam("presence"), _delivery.id == bindparam("id")
)
_ANSWERED: Final = (
    select(_delivery.presence, _delivery.trigger)
    .join(tables.run, (_run.owner_presence == _delivery.presence) & (_run.owner_delivery == _delivery.id))
    .where(_run.id == bindparam("run"))
)
_PENDING: Final = (
    select(tables.action)
    .where(_action.presence == bindparam("presence"), _action.state == "pending", _action.name == Speak.name)
    .order_by(_action.seq)
)
_UNSAID: Final = (
    select(tables.delivery)
    .where(_delivery.presence == bindparam("presence"), _delivery.owed, _delivery.state == "done")
    .where(_delivery.parts_posted == 0)
    .order_by(_delivery.seq)
)
_JOINED: Final = (
    select(_delivery.trigger)
    .where(_delivery.run == bindparam("run"), _delivery.presence != bindparam("voice"), _delivery.heard)
    .order_by(_delivery.seq)
)
_SETTLE: Final = update(tables.delivery).where(
    _delivery.presence == bindparam("of_presence"), _delivery.id == bindparam("of_delivery")
)
_MARK: Final = update(tables.action).where(_action.id == bindparam("of_action"))


def held(connection: Connection, room: Room) -> Holding | None:
    """The lease of a room as it stands, living or not."""
    row = connection.execute(_HELD, {"room": room_key(room)}).one_or_none()
    return None if row is None else holding(row)


def holding(row: AnyRow) -> Holding:
    """A row of a room's lease."""
    return Holding(PresenceId(row.presence), row.renewed_at, timedelta(seconds=row.ttl_s))


def is_owned(connection: Connection, trigger: Trigger, at: datetime) -> bool:
    """Whether a voice owns a delivery that arrives now."""
    return owns(held(connection, trigger.room), trigger, at)


def say(
    connection: Connection, run: LiveRun, decided: Settlement, owners: Mapping[str, PresenceId], at: datetime
) -> tuple[Settlement, frozenset[PresenceId]]:
    """Store a voice run's reply to typed words as one to speak; the settlement as it is then, and who is to act.

    It is part of the settlement's transaction: either a voice has the words, or the turn is owed them. A reply to an
    utterance whose presence has left is posted where typed words wait for it too.
    """
    if run.lane.kind != "voice":
        return decided, frozenset()
    told: set[PresenceId] = set()
    results = list(decided.results)
    for place, each in enumerate(results):
        if not isinstance(each, Replied):
            continue
        row = connection.execute(_OWNER, {"presence": owners[each.turn_id], "id": each.delivery_id}).one()
        owner = Trigger.model_validate_json(row.trigger)
        holding_now = held(connection, owner.room)
        voice = speaker(owner, each, holding_now, at) if row.awaited else None
        if voice is not None:
            words = Speak(action_id=f"speak_{run.run}", delivery_id=each.delivery_id, room=owner.room, text=each.text)
            store(connection, voice, words, at, run=run.run)
            results[place] = spoken(each)
            told.add(voice)
        elif left(owner, holding_now, at) and (waits := _write(connection, owner, each, at)) is not None:
            results[place] = each.model_copy(update={"owed": False})
            told.add(waits)
    return replace(decided, results=tuple(results)), frozenset(told)


def give_back(connection: Connection, speak: AnyRow, code: str | None) -> frozenset[PresenceId]:
    """Let the presence that waited for an answer post what was not spoken, once; which it is.

    ``speak`` is the action's row, still pending. Its receipt and this are one decision: whichever comes first holds.
    """
    connection.execute(_MARK, {"of_action": speak.id, "state": RETURNED, "code": code})
    answered = connection.execute(_ANSWERED, {"run": speak.run}).one_or_none()
    if answered is None:
        # Its room was forgotten meanwhile.
        return frozenset()
    words, said = Speak.model_validate_json(speak.payload), Trigger.model_validate_json(answered.trigger)
    post = Post(
        action_id=f"post_{speak.run}",
        delivery_id=words.delivery_id,
        room=words.room,
        reply_to=said.message_id if said.kind != "catch_up" else None,
        text=words.text,
    )
    presence = PresenceId(answered.presence)
    store(connection, presence, post, speak.created_at, run=speak.run)
    return frozenset({presence})


def give_all_back(connection: Connection, voice: PresenceId, room: str) -> frozenset[PresenceId]:
    """Give back all that a voice was to speak in a room and has not acknowledged; who is to post it.

    Its answer to an utterance is among that where typed words joined the utterance: their author waits in text.
    """
    posts: set[PresenceId] = set()
    for row in connection.execute(_PENDING, {"presence": voice}).all():
        if room_key(Speak.model_validate_json(row.payload).room) == room:
            posts |= give_back(connection, row, "lease_ended")
    for row in connection.execute(_UNSAID, {"presence": voice}).all():
        said, reply = Trigger.model_validate_json(row.trigger), rows.result(row.result, owed=True)
        if said.kind != "voice" or room_key(said.room) != room or not isinstance(reply, Replied):
            continue
        if (waits := _write(connection, said, reply, row.settled_at)) is not None:
            connection.execute(_SETTLE, {"of_presence": row.presence, "of_delivery": row.id, "owed": False})
            posts.add(waits)
    return frozenset(posts)


def _write(connection: Connection, utterance: Trigger, reply: Replied, at: datetime) -> PresenceId | None:
    """Let the answer to an utterance be posted for the typed words that joined it; by whom, None where none did."""
    joined = {"run": reply.run_id, "voice": utterance.presence_id}
    heard = [Trigger.model_validate_json(each) for each in connection.execute(_JOINED, joined).scalars()]
    said = next((each for each in heard if each.kind != "voice"), None)
    if said is None:
        return None
    presence = PresenceId(said.presence_id)
    post = Post(
        action_id=f"post_{reply.run_id}",
        delivery_id=said.delivery_id,
        room=said.room,
        reply_to=said.message_id if said.kind != "catch_up" else None,
        text=reply.text,
        artifacts=reply.artifacts,
    )
    store(connection, presence, post, at, run=RunId(reply.run_id))
    return presence

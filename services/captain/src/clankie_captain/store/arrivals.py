"""How deliveries come into their lanes, and how runs start. Source: WIRE-5, LANE-2, DUR-1."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, assert_never

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.admission import (
    Admission,
    Floor,
    LaneState,
    Queue,
    Refuse,
    Start,
    Steer,
    Stop,
    admission,
    steer_by,
)
from clankie_captain.core.allowance import Allowance, over
from clankie_captain.core.commands import is_quiet, is_stop
from clankie_captain.core.lane import LaneKey, room_of_voice, voice_lane
from clankie_captain.core.pictures import sources
from clankie_captain.core.settlement import failure
from clankie_captain.core.turns import Acceptance, LiveRun
from clankie_captain.core.voice import moves
from clankie_captain.errors import DeliveryConflictError
from clankie_captain.store import allowances, events, gauges, loops, one_shots, rows, speech, tables
from clankie_captain.store.presences import note_room, touch_presence
from clankie_captain.store.rows import AnyRow
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.result import RESULT, Failed, Silent
from clankie_settings.wire.trigger import Trigger, content_hash

_WAITING = ("queued", "steer")

_lane_columns, _delivery = tables.lane.c, tables.delivery.c

_FIND: Final = select(tables.delivery).where(
    _delivery.presence == bindparam("presence"), _delivery.id == bindparam("id")
)
_ARRIVED: Final = upsert(tables.lane)
# Bumping the sequence first takes the lane's row: the order of sequence is the order of admission.
_NEXT_PLACE: Final = _ARRIVED.on_conflict_do_update(
    index_elements=["id"],
    set_={"next_seq": _lane_columns.next_seq + 1, "touched_at": _ARRIVED.excluded.touched_at},
).returning(_lane_columns.next_seq, _lane_columns.live_run, _lane_columns.quiet_until)
_COUNT_WAITING: Final = select(func.count()).where(_delivery.lane == bindparam("lane"), _delivery.state.in_(_WAITING))
_ADD_DELIVERY: Final = insert(tables.delivery).returning(tables.delivery)
_BEGIN_RUN: Final = (
    update(tables.lane)
    .where(_lane_columns.id == bindparam("of_lane"), _lane_columns.live_run.is_(None))
    .values(epoch=_lane_columns.epoch + 1)
    .returning(_lane_columns.epoch)
)
_QUIET: Final = select(_lane_columns.quiet_until).where(_lane_columns.id == bindparam("lane"))
_LIVE: Final = select(_lane_columns.live_run).where(_lane_columns.id == bindparam("lane"))
_MOVE_ON: Final = update(tables.lane).where(_lane_columns.id == bindparam("of_lane"))
_ADD_RUN: Final = insert(tables.run)


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms deliveries are admitted: the owner's limits, and the names that he answers to."""

    allowance: Allowance = field(default_factory=Allowance)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery at the door, with the ids that are used where it is new.

    ``awaited`` says that its presence waits for the result; else the words go out as an action.
    """

    trigger: Trigger
    lane: LaneKey
    turn: TurnId
    run: RunId
    at: datetime
    awaited: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a new delivery stands: its place in its lane, and what is there already."""

    seq: int
    live: RunId | None
    waiting: int
    floor: Floor | None
    quiet_until: datetime | None


def accept(connection: Connection, arrival: Arrival, terms: Terms) -> Acceptance:
    """Find the delivery, or store it and decide its way into the lane.

    Raises:
        DeliveryConflictError: The id was accepted with other content.
    """
    found = find(connection, arrival.trigger)
    return found if found is not None else _admit(connection, arrival, terms)


def find(connection: Connection, trigger: Trigger) -> Acceptance | None:
    """The delivery, where it was accepted before.

    Raises:
        DeliveryConflictError: The id was accepted with other content.
    """
    row = connection.execute(_FIND, {"presence": trigger.presence_id, "id": trigger.delivery_id}).one_or_none()
    if row is None:
        return None
    if row.content_hash != content_hash(trigger):
        raise DeliveryConflictError(DeliveryId(trigger.delivery_id))
    return Acceptance(rows.turn(row), new=False)


def _admit(connection: Connection, arrival: Arrival, terms: Terms) -> Acceptance:
    trigger, at = arrival.trigger, arrival.at
    if arrival.awaited:
        touch_presence(connection, PresenceId(trigger.presence_id), at)
        note_room(connection, trigger, at)
    arrival, place = _place(connection, _by_voice(connection, arrival, terms))
    lane = arrival.lane
    decision = _decide(connection, arrival, terms, place)
    kept = _kept(decision, arrival)
    lines = events.accepted(lane.id, trigger, steered=isinstance(decision, Steer))
    if kept["result"] is not None:
        lines += events.settled(lane.id, [RESULT.validate_json(kept["result"])])
    kept["entry"] = events.append(connection, lane.id, lines, at)
    row = _insert(connection, arrival, place.seq, kept)
    if isinstance(decision, Stop):
        cancel_run(connection, decision.run)
        return Acceptance(rows.turn(row), new=True, stops=decision.run)
    started = None
    if isinstance(decision, Start):
        started = start(connection, lane, arrival.run, row, at, autonomous=trigger.kind == "catch_up")
    return Acceptance(rows.turn(row), new=True, started=started)


def _by_voice(connection: Connection, arrival: Arrival, terms: Terms) -> Arrival:
    """The delivery on its way to the voice lane, where a voice owns it and no live text run does.

    Source: VOX-2.
    """
    trigger, lane = arrival.trigger, arrival.lane
    if not arrival.awaited or not speech.is_owned(connection, trigger, arrival.at):
        return arrival
    if lane.kind == "one_shot":
        seat = one_shots.seat(connection, trigger, lane)
        live, floor = seat.live, seat.floor
    else:
        found = connection.execute(_LIVE, {"lane": lane.id}).scalar()
        live = None if found is None else RunId(found)
        floor = _floor(connection, lane, live, trigger)
    stopped = _stopped(connection, arrival, live) if is_stop(trigger.body, terms.names) else None
    compacting = gauges.is_compaction(connection, stopped or live)
    # However much the sender has added: what then waits, waits for the text lane, and not for a lane beside it.
    own = None if floor is None else Floor()
    view = LaneState(stopped or live, 0, stops=stopped is not None, compacting=compacting, floor=own)
    to_voice = moves(admission(view, trigger.delivery, steer_by(lane)))
    return replace(arrival, lane=voice_lane(trigger.room)) if to_voice else arrival


def _place(connection: Connection, arrival: Arrival) -> tuple[Arrival, _Place]:
    """Where the delivery goes: into its lane, or among the one-shots of its room."""
    if arrival.lane.kind != "one_shot":
        lane = arrival.lane
        state = _lane(connection, lane, arrival.at)
        live = None if state.live_run is None else RunId(state.live_run)
        typed = lane.kind == "voice" and arrival.trigger.kind != "voice"
        quiet = _quiet_at_home(connection, lane) if lane.grant is not None or typed else state.quiet_until
        floor = _floor(connection, lane, live, arrival.trigger)
        return arrival, _Place(state.next_seq, live, _waiting(connection, lane), floor, quiet)
    seat = one_shots.seat(connection, arrival.trigger, arrival.lane)
    state = _lane(connection, seat.lane, arrival.at)
    seq = max(state.next_seq, seat.last + 1)
    connection.execute(_MOVE_ON, {"of_lane": seat.lane.id, "next_seq": seq})
    place = _Place(seq, seat.live, seat.waiting, seat.floor, state.quiet_until)
    return replace(arrival, lane=seat.lane), place


def _quiet_at_home(connection: Connection, lane: LaneKey) -> datetime | None:
    home = room_of_voice(lane) if lane.kind == "voice" else lane.home
    return connection.execute(_QUIET, {"lane": home}).scalar()


def _floor(connection: Connection, lane: LaneKey, live: RunId | None, trigger: Trigger) -> Floor | None:
    return None if lane.grant is None else loops.floor(connection, lane.id, live, trigger.actor.actor_id)


def _decide(connection: Connection, arrival: Arrival, terms: Terms, place: _Place) -> Admission:
    trigger, lane, at = arrival.trigger, arrival.lane, arrival.at
    # Only a stop that ends something is exempt: any other one is a message like all the rest.
    spoken = arrival.awaited and is_stop(trigger.body, terms.names)
    stopped = _stopped(connection, arrival, place.live) if spoken else None
    stops = stopped is not None
    quiet = is_quiet(place.quiet_until, at)
    used = allowances.standing(connection, trigger, lane.home, terms.allowance, at, quiet=quiet)
    refused = None if stops else over(terms.allowance, used, trigger.actor.actor_id)
    if refused is not None:
        if refused.notice and trigger.addressed:
            allowances.told(connection, lane.home, at)
        return Refuse(refused.code, refused.notice)
    view = LaneState(
        live_run=stopped or place.live,
        # What the captain itself has to tell is never turned away.
        waiting=place.waiting if arrival.awaited else min(place.waiting, bounds.QUEUED_TURNS - 1),
        autonomous=lane.kind == "conversation" and _autonomous(connection, place.live),
        stops=stops,
        compacting=gauges.is_compaction(connection, stopped or place.live),
        floor=place.floor,
    )
    return admission(view, trigger.delivery, steer_by(lane))


def _kept(decision: Admission, arrival: Arrival) -> dict[str, Any]:
    """The columns of a new delivery that follow from what was decided."""
    delivery = DeliveryId(arrival.trigger.delivery_id)
    settled: Failed | Silent | None = None
    state, run = "queued", None
    match decision:
        case Start():
            state, run = "live", arrival.run
        case Steer(live):
            state, run = "steer", live
        case Queue():
            pass
        case Refuse(code, notice):
            settled = failure(delivery, arrival.turn, code, notice=notice and arrival.trigger.addressed)
        case Stop(stopped):
            settled = Silent(delivery_id=delivery, turn_id=arrival.turn, run_id=stopped, owed=False)
        case _:  # pragma: no cover
            assert_never(decision)
    if settled is None:
        return {"state": state, "run": run, "result": None, "settled_at": None, "owed": False}
    stored = settled.model_dump_json(exclude_none=True)
    return {"state": "done", "run": None, "result": stored, "settled_at": arrival.at, "owed": settled.owed}


def _autonomous(connection: Connection, run: str | None) -> bool:
    statement = select(tables.run.c.autonomous).where(tables.run.c.id == run)
    return bool(connection.execute(statement).scalar()) if run is not None else False


def _stopped(connection: Connection, arrival: Arrival, live: RunId | None) -> RunId | None:
    """The run that a plain "stop" ends: its own lane's, or another loop's of the room that answers its author."""
    if live is not None and _speaks(connection, live, arrival.trigger):
        return live
    beside = loops.live(connection, arrival.lane.home) if arrival.lane.grant is not None else ()
    own = [each.run for each in beside if each.actor == arrival.trigger.actor.actor_id]
    return own[-1] if own else None


def _speaks(connection: Connection, run: str, trigger: Trigger) -> bool:
    one = tables.delivery.c
    in_run = select(one.id).where(
        one.run == run, one.actor == trigger.actor.actor_id, one.state.in_(("live", "heard", "steer"))
    )
    return connection.execute(in_run.limit(1)).first() is not None


def _lane(connection: Connection, lane: LaneKey, at: datetime) -> AnyRow:
    fresh = {
        "id": lane.id, "kind": lane.kind, "authority": lane.authority, "owner": None, "epoch": 0, "live_run": None,
        "next_seq": 1, "next_entry": 1, "history_from": 1, "quiet_until": None, "touched_at": at,
    }  # fmt: skip
    return connection.execute(_NEXT_PLACE, fresh).one()


def _waiting(connection: Connection, lane: LaneKey) -> int:
    return connection.execute(_COUNT_WAITING, {"lane": lane.id}).scalar_one()


def _insert(connection: Connection, arrival: Arrival, seq: int, kept: dict[str, Any]) -> AnyRow:
    trigger = arrival.trigger
    values = {
        "presence": trigger.presence_id, "id": trigger.delivery_id, "turn": arrival.turn, "lane": arrival.lane.id,
        "seq": seq, "actor": trigger.actor.actor_id, "message_id": trigger.message_id,
        "addressed": trigger.addressed, "content_hash": content_hash(trigger),
        "trigger": trigger.model_dump_json(exclude_none=True), "heard": False, "ready": not sources(trigger),
        "accepted_at": arrival.at, "parts_posted": 0, "awaited": arrival.awaited, **kept,
    }  # fmt: skip
    return connection.execute(_ADD_DELIVERY, values).one()


def start(
    connection: Connection, lane: LaneKey, run: RunId, owner: AnyRow, at: datetime, *, autonomous: bool = False
) -> LiveRun:
    """Make ``run`` the lane's live one, owned by the delivery of ``owner``; its epoch is the lane's next.

    ``autonomous`` says that no person waits for it.
    """
    epoch = connection.execute(_BEGIN_RUN, {"of_lane": lane.id, "live_run": run}).scalar_one()
    values = {
        "id": run, "lane": lane.id, "epoch": epoch, "owner_presence": owner.presence, "owner_delivery": owner.id,
        "attempt": 1, "autonomous": autonomous, "cancelled": False, "started_at": at,
    }  # fmt: skip
    connection.execute(_ADD_RUN, values)
    return LiveRun(lane, run, epoch, 1, PresenceId(owner.presence), DeliveryId(owner.id), at)


def cancel_run(connection: Connection, run: RunId) -> None:
    """Write down inside a transaction that somebody asked for a run's end, so that no later captain goes on with it."""
    connection.execute(update(tables.run).where(tables.run.c.id == run).values(cancelled=True))

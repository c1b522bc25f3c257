"""What was used up: one actor's messages, tokens of a day. Source: ING-10."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from clankie_captain.core.allowance import Allowance, Standing
from clankie_captain.core.run import Usage
from clankie_captain.store import tables
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Trigger

ALL: Final = "*"
"""Stands for all lanes together."""

_WARNING: Final = f'"code":"{FailureCode.BUDGET_REACHED}","notice":true'
"""What the stored result of a refusal with a notice holds."""

_delivery = tables.delivery.c
# Up to now: what a clock that was set back once accepted in its future counts for nobody.
_MINE: Final = (
    _delivery.presence == bindparam("presence"),
    _delivery.actor == bindparam("actor"),
    _delivery.accepted_at > bindparam("since"),
    _delivery.accepted_at <= bindparam("now"),
    _delivery.awaited,
)
_WORKED_ON: Final = or_(_delivery.state != "done", _delivery.run.is_not(None))
_RECENT: Final = select(func.count()).select_from(
    select(_delivery.id).where(*_MINE, _WORKED_ON).limit(bindparam("most")).subquery()
)
_WARNED: Final = (
    select(_delivery.id).where(*_MINE, ~_WORKED_ON, _delivery.result.contains(_WARNING, autoescape=True)).limit(1)
)
_SPENT: Final = upsert(tables.spending)
_SPEND: Final = _SPENT.on_conflict_do_update(
    index_elements=["day", "lane"], set_={"tokens": tables.spending.c.tokens + _SPENT.excluded.tokens}
)


def standing(
    connection: Connection, trigger: Trigger, lane: str, allowance: Allowance, at: datetime, *, quiet: bool
) -> Standing:
    """What was used up before this delivery; only what is limited is counted."""
    messages, warned = _messages(connection, trigger, allowance, at)
    if allowance.room_tokens is None and allowance.tokens is None:
        return Standing(messages=messages, warned=warned, quiet=quiet)
    spent = {row.lane: row for row in connection.execute(_of_day(lane, at))}
    own, everyone = spent.get(lane), spent.get(ALL)
    return Standing(
        messages=messages,
        warned=warned,
        room_tokens=own.tokens if own else 0,
        tokens=everyone.tokens if everyone else 0,
        told=own.notified if own else False,
        quiet=quiet,
    )


def _messages(connection: Connection, trigger: Trigger, allowance: Allowance, at: datetime) -> tuple[int, bool]:
    if allowance.messages is None:
        return 0, False
    mine = {
        "presence": trigger.presence_id,
        "actor": trigger.actor.actor_id,
        "since": at - allowance.span,
        "now": at,
    }
    messages = connection.execute(_RECENT, {**mine, "most": allowance.messages}).scalar_one()
    if messages < allowance.messages:
        return messages, False
    return messages, connection.execute(_WARNED, mine).first() is not None


def spend(connection: Connection, lane: str, usage: Usage, at: datetime) -> None:
    """Count a run's tokens to its lane's day and to everybody's."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return
    rows = [{"day": _day(at), "lane": each, "tokens": tokens, "notified": False} for each in (lane, ALL)]
    connection.execute(_SPEND, rows)


def told(connection: Connection, lane: str, at: datetime) -> None:
    """Remember that the room was told of its spent day."""
    row = {"day": _day(at), "lane": lane, "tokens": 0, "notified": True}
    known = upsert(tables.spending).values(row)
    connection.execute(known.on_conflict_do_update(index_elements=["day", "lane"], set_={"notified": True}))


def tokens(connection: Connection, lane: str, at: datetime) -> int:
    """Tokens of a lane's day."""
    found = {row.lane: row.tokens for row in connection.execute(_of_day(lane, at))}
    return found.get(lane, 0)


def _of_day(lane: str, at: datetime) -> Select[Any, Any, Any]:
    one = tables.spending.c
    return select(one.lane, one.tokens, one.notified).where(one.day == _day(at), one.lane.in_((lane, ALL)))


def _day(at: datetime) -> str:
    return at.date().isoformat()

"""What was used up: one actor's messages, tokens of a day. Source: ING-10."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, func, or_, select
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
    one = tables.delivery.c
    # Up to now: what a clock that was set back once accepted in its future counts for nobody.
    span = (one.accepted_at > at - allowance.span, one.accepted_at <= at)
    mine = (one.presence == trigger.presence_id, one.actor == trigger.actor.actor_id, *span)
    worked_on = or_(one.state != "done", one.run.is_not(None))
    recent = select(one.id).where(*mine, worked_on).limit(allowance.messages)
    messages = connection.execute(select(func.count()).select_from(recent.subquery())).scalar_one()
    if messages < allowance.messages:
        return messages, False
    refused = select(one.id).where(*mine, ~worked_on, one.result.contains(_WARNING, autoescape=True)).limit(1)
    return messages, connection.execute(refused).first() is not None


def spend(connection: Connection, lane: str, usage: Usage, at: datetime) -> None:
    """Count a run's tokens to its lane's day and to everybody's."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return
    one = tables.spending.c
    for each in (lane, ALL):
        row = {"day": _day(at), "lane": each, "tokens": tokens, "notified": False}
        more = {"tokens": one.tokens + tokens}
        added = upsert(tables.spending).values(row).on_conflict_do_update(index_elements=["day", "lane"], set_=more)
        connection.execute(added)


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

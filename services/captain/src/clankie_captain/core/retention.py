"""When words and pictures are old enough to go; pure. Source: OPS-11."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_DISCORD_EPOCH: Final = datetime(2015, 1, 1, tzinfo=UTC)
_SNOWFLAKE_DIGITS: Final = range(17, 20)


@dataclass(frozen=True, slots=True)
class Written:
    """An entry by its place in its lane, the run that wrote it ("": none) and when."""

    seq: int
    run: str
    at: datetime


def snowflake_moment(message: str) -> datetime | None:
    """When Discord made this id; None for one that is not Discord's."""
    if not (message.isascii() and message.isdecimal() and len(message) in _SNOWFLAKE_DIGITS):
        return None
    return _DISCORD_EPOCH + timedelta(milliseconds=int(message) >> 22)


def snowflake(moment: datetime) -> str:
    """The id that Discord would give at this moment."""
    return str(((moment - _DISCORD_EPOCH) // timedelta(milliseconds=1)) << 22)


def proven(before: datetime | None, passed: timedelta, wall: datetime, messages: Iterable[str]) -> datetime:
    """How late it is for certain.

    The wall clock alone proves nothing: one that jumped a year ahead would make everything old at once. Time is proven
    by having passed while this captain ran (``passed`` since ``before``), or by Discord, which dates its messages. So
    after a time of rest it may be behind until somebody speaks, and is never ahead of the wall.
    """
    dated = [moment for moment in map(snowflake_moment, messages) if moment is not None]
    known = [*dated, *([] if before is None else [before + passed])]
    return min(wall, max(known)) if known else wall


def cutoff(now: datetime, days: int) -> datetime:
    """What is older than this goes: the beginning of a UTC day, so that a lane's prompt changes once a day at most."""
    return (now - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)


def cut(entries: Sequence[Written], before: datetime, *, whole: bool) -> int | None:
    """The place from which on a lane's oldest entries stay; None where all of them do.

    It lies between two runs, so that what stays begins with somebody's words. ``whole`` says that the lane has no more
    entries than these.
    """
    stays = next((index for index, each in enumerate(entries) if each.at >= before), None)
    if stays is None:
        # Of the last run something may still be to come.
        return entries[-1].seq + 1 if whole and entries else _start(entries, len(entries) - 1)
    return _start(entries, stays)


def _start(entries: Sequence[Written], index: int) -> int | None:
    """The place of the first entry of the run that wrote this one; None where nothing is before it."""
    while index > 0 and entries[index].run and entries[index - 1].run == entries[index].run:
        index -= 1
    return entries[index].seq if index > 0 else None

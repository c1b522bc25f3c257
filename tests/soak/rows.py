"""What the captain's database holds, read beside the captain and without disturbing it."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

OPEN_RESULT = ("queued", "steer", "heard", "live")
"""States of a delivery that has no result yet."""

NOTES_KEY: Final = re.compile(r"<<<notes-(\w+) from=yourself")
"""How notes open, whoever shows them. Source: CTX-7."""


@dataclass(frozen=True, slots=True)
class LaneRow:
    """A lane: how often it changed hands, the run that owns it now, and the entry at which its history begins."""

    id: str
    epoch: int
    live_run: str | None
    history_from: int = 1


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run of a turn, or one that compacts its lane and belongs to no delivery.

    ``settled_at`` is in microseconds, None while the run is live.
    """

    id: str
    lane: str
    epoch: int
    attempt: int
    owner: str
    outcome: str | None
    settled_at: int | None
    kind: str = "turn"


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery with the trigger that it came as and the result that it got."""

    id: str
    lane: str
    seq: int
    state: str
    run: str | None
    trigger: Json
    result: Json | None
    owed: bool
    accepted_at: int = 0
    settled_at: int | None = None

    @property
    def outcome(self) -> str:
        """``replied``, ``absorbed``, ``silent``, ``failed``, or empty while there is no result."""
        return "" if self.result is None else str(self.result["state"])


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """What became of one part of a reply or of a notice."""

    delivery: str
    part: int
    of: int
    message_id: str | None
    code: str | None


@dataclass(frozen=True, slots=True)
class ActionRow:
    """A stored action; ``text`` where it carries words."""

    id: str
    delivery: str
    name: str
    text: str
    state: str
    message_id: str | None
    code: str | None


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A line of a lane's log.

    ``told`` is the delivery that was heard, the key of notes, or how a compaction ended as JSON; else empty.
    """

    lane: str
    seq: int
    run: str
    kind: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything at one instant; ``heard`` counts the lane log's lines by delivery, ``said`` by run."""

    lanes: tuple[LaneRow, ...] = ()
    runs: tuple[RunRow, ...] = ()
    deliveries: tuple[DeliveryRow, ...] = ()
    receipts: tuple[ReceiptRow, ...] = ()
    actions: tuple[ActionRow, ...] = ()
    entries: tuple[EntryRow, ...] = ()
    heard: dict[str, int] = field(default_factory=dict[str, int])
    said: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Glance:
    """The little that is looked at again and again: lanes, live runs by lane, and how much is not done.

    Attributes:
        ids: The deliveries that were accepted.
        unheard: Those that no run has taken up yet.
        settled: Those that were settled last.
    """

    lanes: tuple[LaneRow, ...]
    live: tuple[tuple[str, str], ...]
    ids: frozenset[str]
    unheard: frozenset[str]
    open: int
    owed: int
    settled: tuple[str, ...]

    @property
    def known(self) -> int:
        """How many deliveries were accepted."""
        return len(self.ids)


class Store:
    """The database file of a captain, which may be dead, frozen or at work."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def glance(self) -> Glance | None:
        """How the lanes stand; None where the file cannot be read just now."""
        try:
            with closing(self._opened()) as store:
                store.execute("BEGIN")
                lanes = tuple(_lanes(store))
                live = tuple(store.execute("SELECT lane, id FROM run WHERE settled_at IS NULL"))
                ids = frozenset(row[0] for row in store.execute("SELECT id FROM delivery WHERE presence = 'discord'"))
                waiting = store.execute("SELECT id FROM delivery WHERE state IN ('queued', 'steer')")
                unheard = frozenset(row[0] for row in waiting)
                counted = store.execute("SELECT total(state != 'done'), total(owed) FROM delivery").fetchone()
                newest = store.execute("SELECT id FROM delivery WHERE state = 'done' ORDER BY settled_at DESC LIMIT 50")
                settled = tuple(row[0] for row in newest)
        except sqlite3.OperationalError:
            return None
        return Glance(lanes, live, ids, unheard, int(counted[0]), int(counted[1]), settled)

    def everything(self) -> Rows:
        """All rows that the invariants speak of."""
        with closing(self._opened()) as store:
            store.execute("BEGIN")
            return Rows(
                tuple(_lanes(store)),
                tuple(_runs(store)),
                tuple(_deliveries(store)),
                tuple(_receipts(store)),
                tuple(_actions(store)),
                tuple(_entries(store)),
                _counted(store, "SELECT json_extract(payload, '$.delivery_id') FROM entry WHERE kind = 'heard'"),
                _counted(store, "SELECT run FROM entry WHERE kind = 'said'"),
            )

    def trigger(self, delivery: str) -> Json:
        """The trigger that a delivery came as."""
        with closing(self._opened()) as store:
            found = store.execute("SELECT trigger FROM delivery WHERE id = ?", (delivery,)).fetchone()
            return json.loads(found[0])

    def faults(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        with closing(self._opened()) as store:
            whole = [row[0] for row in store.execute("PRAGMA integrity_check") if row[0] != "ok"]
            foreign = [f"{row[0]} points to no row of {row[2]}" for row in store.execute("PRAGMA foreign_key_check")]
            journal = store.execute("PRAGMA journal_mode").fetchone()[0]
            return whole + foreign + ([] if journal == "wal" else [f"its journal is {journal}"])

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=5)


def _lanes(store: sqlite3.Connection) -> Iterator[LaneRow]:
    return (LaneRow(*row) for row in store.execute("SELECT id, epoch, live_run, history_from FROM lane"))


def _runs(store: sqlite3.Connection) -> Iterator[RunRow]:
    found = store.execute("SELECT id, lane, epoch, attempt, owner_delivery, outcome, settled_at, kind FROM run")
    return (RunRow(*row) for row in found)


def _deliveries(store: sqlite3.Connection) -> Iterator[DeliveryRow]:
    found = store.execute(
        "SELECT id, lane, seq, state, run, trigger, result, owed, accepted_at, settled_at "
        "FROM delivery WHERE presence = 'discord' ORDER BY lane, seq"
    )
    for id_, lane, seq, state, run, trigger, result, owed, accepted, settled in found:
        held = None if result is None else json.loads(result)
        yield DeliveryRow(id_, lane, seq, state, run, json.loads(trigger), held, bool(owed), accepted, settled)


def _receipts(store: sqlite3.Connection) -> Iterator[ReceiptRow]:
    found = store.execute("SELECT delivery, part, of, message_id, code FROM receipt WHERE presence = 'discord'")
    return (ReceiptRow(*row) for row in found)


def _actions(store: sqlite3.Connection) -> Iterator[ActionRow]:
    found = store.execute("SELECT id, delivery, name, payload, state, message_id, code FROM action")
    for id_, delivery, name, payload, state, message_id, code in found:
        yield ActionRow(id_, delivery, name, str(json.loads(payload).get("text", "")), state, message_id, code)


def _entries(store: sqlite3.Connection) -> Iterator[EntryRow]:
    found = store.execute(
        "SELECT lane, seq, run, kind, CASE kind WHEN 'heard' THEN json_extract(payload, '$.delivery_id') "
        "WHEN 'request' THEN '' ELSE payload END FROM entry "
        "WHERE kind IN ('heard', 'request', 'notes', 'compaction') ORDER BY lane, seq"
    )
    for lane, seq, run, kind, told in found:
        key = NOTES_KEY.search(told) if kind == "notes" else None
        yield EntryRow(lane, seq, run, kind, told if key is None else key[1])


def _counted(store: sqlite3.Connection, query: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for (key,) in store.execute(query):
        counts[key] = counts.get(key, 0) + 1
    return counts

"""What is said to a captain and what becomes of it, as a witness keeps it: whatever must hold of its lanes."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import Connection, text

from clankie_captain.core.children import FORK, UNTOLD, WORDLESS
from clankie_captain.core.grants import MACHINE, Powers, grant
from clankie_captain.core.lane import LaneKey, one_shots_beside
from clankie_captain.core.placement import withdrawn
from clankie_captain.core.settlement import Settled
from clankie_captain.core.voice import is_spoken
from clankie_captain.store.rows import AnyRow
from clankie_settings import bounds
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import RESULT, Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Trigger
from tests.captain.lanes.fakes import Thought

REFUSED = (FailureCode.ROOM_LOOP_GRANT_CHANGED, FailureCode.NOT_PERMITTED)
_ALL = text(
    "SELECT d.*, l.kind, l.authority, l.id AS lane_id FROM delivery d JOIN lane l ON l.id = d.lane ORDER BY d.seq"
)
_ACTIONS = text("SELECT presence, id, name, payload, state FROM action ORDER BY seq")


# Read again and again, and always alike.
_trigger = lru_cache(1000)(Trigger.model_validate_json)
_result = lru_cache(1000)(RESULT.validate_json)


@dataclass(frozen=True, slots=True)
class Seen:
    """A delivery as it lies in the store."""

    id: str
    presence: str
    lane: LaneKey
    seq: int
    state: str
    run: str | None
    owed: bool
    awaited: bool
    trigger: Trigger
    result: Settled | None

    @property
    def queue(self) -> str:
        """What it waits in: its lane, or the one-shots of its room."""
        mixed = self.lane.kind == "one_shot" and self.lane.forked_from is None
        return one_shots_beside(self.lane.id) if mixed else self.lane.id

    @property
    def goes_by_sender(self) -> bool:
        """Whether only the sender whom a run answers may join it."""
        return self.lane.kind == "one_shot" or self.lane.grant is not None

    @property
    def is_errand(self) -> bool:
        """Whether it is a child's task."""
        return self.id.startswith("child_")

    @property
    def is_report(self) -> bool:
        """Whether it tells of a child's end."""
        return self.id.startswith("report-")


@dataclass(frozen=True, slots=True)
class Errand:
    """What a child's lane had heard when it was forked, and the grant of whoever it is for."""

    heard: tuple[str, ...]
    fingerprint: str


@dataclass(slots=True)
class Chronicle:
    """All that was said, heard and answered; ``powers`` are the owner's settings as they are now."""

    powers: Callable[[], Powers]
    said: dict[str, str] = field(default_factory=dict[str, str])
    words: dict[str, str] = field(default_factory=dict[str, str])
    rows: dict[str, Seen] = field(default_factory=dict[str, Seen])
    heard: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    answers: dict[str, str] = field(default_factory=dict[str, str])
    errands: dict[str, Errand] = field(default_factory=dict[str, Errand])
    results: dict[str, Settled] = field(default_factory=dict[str, Settled])
    acknowledged: set[str] = field(default_factory=set[str])
    superseded: set[str] = field(default_factory=set[str])
    speaks: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    steered: set[str] = field(default_factory=set[str])

    def look(self, connection: Connection) -> dict[str, str]:
        """Read the store, see what has settled, and tell the live run of each lane."""
        self.rows = {row.id: _seen(row) for row in connection.execute(_ALL)}
        for row in self.rows.values():
            if row.result is not None and row.id not in self.results:
                self.results[row.id] = row.result
                self._settled(row, row.result)
            known = self.results.get(row.id)
            same = {"owed": row.result.owed} if row.result is not None else {}
            assert known is None or known.model_copy(update=same) == row.result, "a settled delivery changed its result"
        self.speaks = [(row.id, row.presence) for row in connection.execute(_ACTIONS) if row.name == "speak"]
        live = connection.execute(text("SELECT id, live_run FROM lane WHERE live_run IS NOT NULL"))
        return {row.id: row.live_run for row in live}

    def hear(self, thought: Thought) -> None:
        """A request of a run, as its model is given it."""
        heard = self.heard.setdefault(thought.order.run, [])
        fresh = [each.delivery for each in thought.heard[-1]]
        begins, heard[len(heard) :] = not heard, fresh
        for each, words in zip(fresh, thought.requests[-1], strict=True):
            assert self.rows[each].lane.id == thought.order.lane, "heard in another lane"
            assert self.words.get(each, "") in words, "heard otherwise than it stands"
            self._follows_its_own(self.rows[each])
        places = [self.rows[each].seq for each in heard]
        assert places == sorted(set(places)), "heard out of order, or twice"
        told = [each for each in heard[1:] if self.rows[each].is_errand or self.rows[each].is_report]
        assert not told, "what nobody wrote has steered a run"
        if self.rows[heard[0]].goes_by_sender:
            assert len({self._speaker(each) for each in heard}) == 1, "a word of another speaker in the run"
        if begins:
            self._begun(self.rows[fresh[0]])

    def may_call(self, run: str, tool: str) -> bool:
        """Whether everybody whose words are in a run may use a tool there."""
        heard, powers = self.heard_by(run), self.powers()
        social = self.rows[heard[0]].lane.authority == "social"
        may = all(grant(self.rows[each].trigger, powers).allows(tool) for each in heard)
        return may and not (social and tool in MACHINE)

    def heard_by(self, run: str) -> tuple[str, ...]:
        """The deliveries whose words are in a run, with those behind a child's task or its report."""
        behind = [self.errands[each.removeprefix("report-")].heard for each in self.heard[run] if each not in self.said]
        return (*self.heard[run], *(each for several in behind for each in several))

    def forked(self, run: str) -> None:
        """A run has forked: its newest child is not known yet."""
        (child,) = (row for row in self.rows.values() if row.is_errand and row.id not in self.errands)
        now = grant(child.trigger, self.powers()).fingerprint
        self.errands[child.id] = Errand(self.heard_by(run), now)

    def rest(self) -> None:
        """While all live runs stand still nothing waits for nothing, or for what one sender adds without end.

        Source: LOOP-9.
        """
        live = {row.queue for row in self.rows.values() if row.state == "live"}
        assert sum(each.startswith("turns/discord:") for each in live) <= 1, "two machine turns of a room at once"
        busy: Counter[str] = Counter(
            row.trigger.room.channel_id for row in self.rows.values() if row.is_errand and row.state == "live"
        )
        for row in self.rows.values():
            if row.state == "queued" and row.is_errand:
                assert busy[row.trigger.room.channel_id] == bounds.CHILDREN_A_ROOM, "a child waits for nothing"
            elif row.state == "queued":
                assert row.queue in live, "a turn waits for nothing"
            elif row.state == "live" and row.goes_by_sender:
                self._lets_others_in(row)

    def conclude(self, connection: Connection) -> None:
        """All has ended, and no voice is there any more."""
        reports = {f"report-{child}" for child in self.errands}
        assert set(self.rows) == {*self.said, *self.errands, *reports}, "a delivery was lost, or invented"
        assert set(self.results) == set(self.rows), "a delivery has no result"
        for child in self.errands:
            ended, told = self.results[child], self.rows[f"report-{child}"].trigger.body
            assert told == (ended.text if isinstance(ended, Replied) else WORDLESS), "told what it did not come to"
        actions = [_Action(row) for row in connection.execute(_ACTIONS)]
        speaks = [each for each in actions if each.name == "speak"]
        assert all(each.state != "pending" for each in speaks), "words wait for a voice that has gone"
        spoken = {each.id for each in speaks if each.state == "done"}
        assert spoken == self.acknowledged, "a receipt that was taken did not count"
        assert not self.superseded & self.acknowledged, "spoken, and posted as well"
        for row in self.rows.values():
            if isinstance(row.result, Absorbed) and row.trigger.kind != "voice":
                owner = self.rows[row.result.answered_by]
                assert not (owner.trigger.kind == "voice" and owner.owed), "typed words wait for a voice that has gone"
        ways = Counter(each.text for each in actions if each.name == "post" or each.id in spoken)
        ways.update(_replies(self.rows.values()))
        assert ways == Counter(self._owed()), "a reply went no way, or two"

    def _owed(self) -> Iterable[str]:
        """The answers that somebody is to have."""
        for row in self.rows.values():
            told = row.is_errand or (row.is_report and row.trigger.room.platform == "console")
            if row.result is not None and not told and (isinstance(row.result, Replied) or is_spoken(row.result)):
                yield self.answers[row.result.run_id or ""]
            elif isinstance(row.result, Failed) and row.is_report and not told:
                joined = (each.result for each in self.rows.values() if each.run == row.run and each.owed)
                yield from () if any(isinstance(each, Failed) for each in joined) else (UNTOLD,)

    def _lets_others_in(self, owner: Seen) -> None:
        beside, sender = [row for row in self.rows.values() if row.queue == owner.queue], self._speaker(owner.id)
        others = [row.seq for row in beside if row.state == "queued" and self._speaker(row.id) != sender]
        # What was withdrawn before it was heard makes no run longer.
        joined = [row.seq for row in beside if row.run == owner.run and row.result is None and row.id in self.steered]
        past = [seq for seq in joined if others and seq > min(others)]
        assert len(past) <= bounds.STEERS_PAST_OTHERS, "somebody is kept waiting"

    def _follows_its_own(self, row: Seen) -> None:
        left = [
            each.id
            for each in self.rows.values()
            if each.lane == row.lane and each.state == "queued" and each.seq < row.seq and each.id in self.said
            # One that asked for a turn of its own is let pass.
            if self._speaker(each.id) == self._speaker(row.id) and each.trigger.delivery != "queue"
        ]
        assert not (row.goes_by_sender and left), "overtaken by words of the same sender"

    def _begun(self, first: Seen) -> None:
        passed = [
            each.id
            for each in self.rows.values()
            if each.queue == first.queue and each.state in ("queued", "steer") and each.seq < first.seq
        ]
        assert not passed, "somebody was passed over"
        assert self._may_begin(first), "begun without its grant"

    def _may_begin(self, row: Seen) -> bool:
        powers, parent = self.powers(), row.lane.forked_from
        if withdrawn(parent or row.lane, row.trigger, powers) is not None:
            return False
        if parent is None:
            return True
        errand = self.errands[row.id]
        same = grant(row.trigger, powers).fingerprint == errand.fingerprint
        return same and all(grant(self.rows[each].trigger, powers).allows(FORK) for each in errand.heard)

    def _settled(self, row: Seen, result: Settled) -> None:
        heard = self.heard.get(result.run_id or "", [])
        match result:
            case Failed(code=code) if code in REFUSED:
                assert row.id not in heard, "refused after it was heard"
                assert not self._may_begin(row), "refused without a reason"
            case Failed():
                assert row.id in heard or result.run_id is None, "failed with a run that never heard it"
            case Silent():
                assert row.id in heard or self.words.get(row.id) == "stop", "answered, and never heard"
            case Replied():
                assert heard[:1] == [row.id], "answered, and never heard"
                assert result.text == self.answers[result.run_id or ""], "the answer of another run"
            case Absorbed():
                assert row.id in heard, "answered, and never heard"
                assert heard[0] == result.answered_by, "absorbed by a run of somebody else's"
                owner = self.rows[result.answered_by].result
                assert owner is not None
                assert isinstance(owner, Replied) or is_spoken(owner), "absorbed by what was never said"

    def _speaker(self, delivery: str) -> str:
        return self.said.get(delivery) or self.rows[delivery].trigger.actor.actor_id


def _replies(rows: Iterable[Seen]) -> Sequence[str]:
    """The answers that presences find as results; nobody gives receipts of these here."""
    return [row.result.text for row in rows if isinstance(row.result, Replied) and row.awaited and row.owed]


class _Action:
    def __init__(self, row: AnyRow) -> None:
        self.id, self.name, self.state = row.id, row.name, row.state
        self.text: str = json.loads(row.payload)["text"]


def _seen(row: AnyRow) -> Seen:
    result = None if row.result is None else _result(row.result)
    trigger = _trigger(row.trigger)
    return Seen(
        row.id, row.presence, LaneKey(row.lane_id, row.kind, row.authority), row.seq, row.state, row.run,
        bool(row.owed), bool(row.awaited), trigger, result,
    )  # fmt: skip

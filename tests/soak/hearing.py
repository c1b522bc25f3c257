"""What must hold of the words that he hears: edits, deletions, loops, notes. Source: ING-7, LOOP-2, LOOP-3, CTX-7."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from clankie_bridge.core.card import is_card
from clankie_settings.wire.failure import FailureCode
from tests.soak.facts import Check, Facts, Invariant, check
from tests.soak.ledger import Asked, worded
from tests.soak.rows import DeliveryRow, EntryRow, RunRow
from tests.soak.witness import MARK


def edits_are_heard_or_too_late(facts: Facts) -> Check:
    """Of an edited message he is shown one version alone: the one that its delivery holds."""
    ledger = facts.ledger

    def verdict(each: DeliveryRow) -> str | None:
        said = ledger.said[each.id]
        held = MARK.search(each.trigger.get("body", ""))
        versions = [worded(said.mark, count) for count in range(ledger.edits[each.id] + 1)]
        if held is None or held[0] not in versions:
            return f"{each.id}: holds {held and held[0]} of {versions}"
        read = ledger.read.get(each.id, [])
        return None if read in ([], [held[0]]) else f"{each.id}: holds {held[0]}, and {read} was shown"

    edited = (each for each in facts.rows.deliveries if ledger.edits.get(each.id) and each.id in ledger.said)
    return check("of an edited message one version is heard", map(verdict, edited))


def edits_make_nothing_twice(facts: Facts) -> Check:
    """An edited message is one delivery at most, heard once at most, and answered by one message at most."""
    deliveries = Counter(each.trigger["message_id"] for each in facts.rows.deliveries)
    answers = Counter(each.message_id for each in facts.rows.receipts if each.part == 1 and each.message_id)
    replies = Counter(each.answers for each in facts.posted if each.id in answers and not is_card(each.content))

    def verdict(message: str) -> str | None:
        counts = (deliveries[message], facts.rows.heard.get(message, 0), replies[message])
        return None if max(counts) <= 1 else f"{message}: deliveries, times heard and answers are {counts}"

    return check("an edit makes no second turn or answer", map(verdict, facts.ledger.edits))


def withdrawn_is_unheard(facts: Facts) -> Check:
    """What was taken away in time is in no request and no log, and has no answer, not even a notice."""
    read, deleted = facts.ledger.read, facts.ledger.deleted
    answered = {each.answers for each in facts.posted} | {each.delivery for each in facts.rows.receipts}

    def verdict(each: DeliveryRow) -> str | None:
        if each.id not in deleted:
            return f"{each.id}: withdrawn, and nobody took it away"
        if each.id in read or each.id in facts.rows.heard:
            return f"{each.id}: withdrawn, and heard as {read.get(each.id)}"
        said = each.id in answered or each.owed or (each.result or {}).get("notice")
        return f"{each.id}: withdrawn, and answered" if said else None

    return check("what is withdrawn is unheard and unanswered", map(verdict, withdrawn(facts)))


def withdrawn(facts: Facts) -> Iterator[DeliveryRow]:
    """The deliveries that were taken back before he heard them."""
    return (each for each in facts.rows.deliveries if (each.result or {}).get("code") == FailureCode.WITHDRAWN)


def is_loop(lane: str) -> bool:
    """Whether a lane is a room's loop for one exact grant."""
    return lane.startswith("rooms/") and "~" in lane


def loops_hear_one_sender(facts: Facts) -> Check:
    """In a loop's run there are the words of its owner's sender alone, whoever else speaks meanwhile."""
    deliveries = facts.deliveries()
    heard: dict[str, set[str]] = {}
    for each in facts.rows.entries:
        if each.kind == "heard":
            heard.setdefault(each.run, set()).add(_sender(deliveries[each.told]))
    for each in facts.rows.deliveries:
        if each.result is not None and each.result.get("run_id"):
            heard.setdefault(each.result["run_id"], set()).add(_sender(each))

    def verdict(run: RunRow) -> str | None:
        senders = heard.get(run.id, set()) | {_sender(deliveries[run.owner])}
        return None if len(senders) == 1 else f"{run.id} in {run.lane}: heard {sorted(senders)}"

    mine = (each for each in facts.rows.runs if each.kind == "turn" and is_loop(each.lane))
    return check("a loop's run hears its sender alone", map(verdict, mine))


def loops_are_for_one_grant(facts: Facts) -> Check:
    """Each delivery is in the loop of its sender's grant where its room has loops, and else in the room's lane."""
    lanes: dict[tuple[str, str], str] = {}
    grants: dict[str, str] = {}

    def verdict(each: DeliveryRow) -> str | None:
        room, sender = each.trigger["room"]["channel_id"], _sender(each)
        grant = sender if sender in facts.granted and room in facts.looped else "everybody"
        mine = lanes.setdefault((room, grant), each.lane)
        theirs = grants.setdefault(each.lane, grant)
        well = is_loop(each.lane) is (room in facts.looped) and mine == each.lane and theirs == grant
        return None if well else f"{each.id} of {sender} in {room}: in {each.lane}, which is for {theirs}"

    return check("a room's lanes are for one grant each", map(verdict, facts.rows.deliveries))


def compactions_end_once(facts: Facts) -> Check:
    """A compaction ends once, with notes or without, and a lane begins where its latest notes say."""
    told: dict[str, list[EntryRow]] = {}
    for each in facts.rows.entries:
        if each.kind in ("notes", "compaction"):
            told.setdefault(each.run, []).append(each)

    def verdicts() -> Iterator[str | None]:
        begins: dict[str, int] = {}
        for run in (each for each in facts.rows.runs if each.kind == "compaction"):
            entries = told.get(run.id, [])
            ended = [json.loads(each.told) for each in entries if each.kind == "compaction"]
            notes = sum(each.kind == "notes" for each in entries)
            # One whose captain died came to nothing, and says no more than that.
            wanted = [] if run.outcome == "interrupted" else [run.outcome]
            well = [each["outcome"] for each in ended] == wanted and notes == (run.outcome == "compacted")
            yield None if well else f"{run.id} in {run.lane}: {run.outcome}, with {notes} notes and {ended}"
            kept = [each["kept_from"] for each in ended if "kept_from" in each]
            begins[run.lane] = max(begins.get(run.lane, 1), *kept, 1)
        for lane in facts.rows.lanes:
            first = begins.get(lane.id, 1)
            yield None if lane.history_from == first else f"{lane.id}: begins at {lane.history_from}, not at {first}"

    return check("a compaction ends once, and its lane begins there", verdicts())


def messages_are_kept_once(facts: Facts) -> Check:
    """Each request holds what its lane has heard so far, once and in order, but for what its notes stand for."""
    histories = _histories(facts)
    lane_of = {each.told: each.lane for each in facts.rows.entries if each.kind == "heard"}

    def verdict(asked: Asked) -> str | None:
        lane = lane_of.get(asked.shown[-1])
        if lane is None:
            return f"{asked.shown[-1]} was shown, and no lane has heard it"
        begins = histories.notes.get((lane, asked.notes)) if asked.notes else 1
        if begins is None:
            return f"{lane}: notes {asked.notes} are not its own"
        heard = [message for message, first in histories.heard[lane] if first >= begins]
        wanted = heard[: heard.index(asked.shown[-1]) + 1] if asked.shown[-1] in heard else heard
        return None if [*asked.shown] == wanted else f"{lane}: {_difference(asked.shown, wanted)}"

    return check("a message is in its notes or in the request, once", map(verdict, _with_words(facts)))


def notes_stand_for_the_rest(facts: Facts) -> Check:
    """Notes are made of just what their lane begins without, since it was made shorter last."""
    histories = _histories(facts)
    records = {each.record: each for each in facts.ledger.asked if each.record is not None}

    def verdicts() -> Iterator[str | None]:
        begun: dict[str, int] = {}
        for (lane, key), begins in histories.notes.items():
            earlier, record = begun.get(lane, 0), records.get(key)
            begun[lane] = begins
            wanted = [message for message, first in histories.heard.get(lane, []) if earlier <= first < begins]
            if record is None:
                yield f"{lane}: nobody asked for the notes {key}"
            elif record.whole:
                yield None if [*record.shown] == wanted else f"{lane}: notes {_difference(record.shown, wanted)}"
            else:
                more = {*record.shown} - {*wanted}
                yield f"{lane}: notes of {sorted(more)} besides" if more else None

    return check("notes are made of what their lane leaves out", verdicts())


def _with_words(facts: Facts) -> Iterator[Asked]:
    return (each for each in facts.ledger.asked if each.shown and each.record is None)


class _Histories:
    """What each lane has heard, with the entries at which the runs begin; and at which each notes' rest begins."""

    def __init__(self) -> None:
        self.heard: dict[str, list[tuple[str, int]]] = {}
        self.notes: dict[tuple[str, str], int] = {}


def _histories(facts: Facts) -> _Histories:
    found, first = _Histories(), dict[str, int]()
    for each in facts.rows.entries:
        if each.kind == "request":
            first.setdefault(each.run, each.seq)
    kept: Mapping[str, int] = {
        each.run: json.loads(each.told).get("kept_from", 0) for each in facts.rows.entries if each.kind == "compaction"
    }
    for each in facts.rows.entries:
        if each.kind == "heard":
            found.heard.setdefault(each.lane, []).append((each.told, first.get(each.run, each.seq)))
        elif each.kind == "notes":
            found.notes[each.lane, each.told] = kept.get(each.run, 0)
    return found


def _difference(shown: tuple[str, ...], wanted: list[str]) -> str:
    lacks = [each for each in wanted if each not in shown]
    more = [each for each in shown if each not in wanted]
    twice = [each for each, count in Counter(shown).items() if count > 1]
    return f"lacks {lacks}, holds {more} besides and {twice} twice, up to {shown[-1:]}"


def _sender(delivery: DeliveryRow) -> str:
    return delivery.trigger["actor"]["actor_id"]


HEARING: tuple[Invariant, ...] = (
    edits_are_heard_or_too_late,
    edits_make_nothing_twice,
    withdrawn_is_unheard,
    loops_hear_one_sender,
    loops_are_for_one_grant,
    compactions_end_once,
    messages_are_kept_once,
    notes_stand_for_the_rest,
)

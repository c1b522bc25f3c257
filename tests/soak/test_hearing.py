"""Each invariant of what he hears lets a sound house pass, and sees the fault that it is there for."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from clankie_settings.wire.failure import FailureCode
from tests.soak import hearing, outside
from tests.soak.facts import Facts, Invariant, Posted
from tests.soak.ledger import Asked, Ledger, Said
from tests.soak.rows import DeliveryRow, EntryRow, Glance, LaneRow, ReceiptRow, Rows, RunRow
from tests.soak.witness import HEARD, MARK

ANN, BOB, OWNER = "7", "8", "9"
ROOM, LOOPED = "2", "3"
LANE, LOOP, OWNERS = "rooms/discord:1:2", "rooms/discord:1:3~aa", "rooms/discord:1:3~bb"
KEY = "k1"

Doctor = Callable[[Facts], Facts]


def delivery(id_: str, lane: str, run: str, sender: str, body: str, **result: object) -> DeliveryRow:
    room = ROOM if lane == LANE else LOOPED
    trigger = {"message_id": id_, "room": {"channel_id": room}, "actor": {"actor_id": sender}, "body": body}
    whole = {"delivery_id": id_, "run_id": run, "owed": False, **result}
    return DeliveryRow(id_, lane, int(id_), "done", run, trigger, whole, owed=False)


ENTRIES = (
    EntryRow(LANE, 1, "run_1", "heard", "10"),
    EntryRow(LANE, 2, "run_1", "request"),
    EntryRow(LANE, 3, "run_1", "heard", "11"),
    EntryRow(LANE, 4, "run_1", "request"),
    EntryRow(LANE, 5, "run_2", "compaction", json.dumps({"outcome": "compacted", "kept_from": 5})),
    EntryRow(LANE, 6, "run_2", "notes", KEY),
    EntryRow(LANE, 7, "run_3", "heard", "13"),
    EntryRow(LANE, 8, "run_3", "request"),
    EntryRow(LOOP, 1, "run_4", "heard", "14"),
    EntryRow(LOOP, 2, "run_4", "request"),
    EntryRow(OWNERS, 1, "run_5", "heard", "15"),
    EntryRow(OWNERS, 2, "run_5", "request"),
)
RUNS = (
    RunRow("run_1", LANE, 1, 1, "10", "replied", 100),
    RunRow("run_2", LANE, 2, 1, "10", "compacted", 200, "compaction"),
    RunRow("run_3", LANE, 3, 1, "13", "replied", 300),
    RunRow("run_4", LOOP, 1, 1, "14", "replied", 400),
    RunRow("run_5", OWNERS, 1, 1, "15", "replied", 500),
    RunRow("run_6", OWNERS, 2, 1, "15", "interrupted", 600, "compaction"),
)
DELIVERIES = (
    delivery("10", LANE, "run_1", ANN, "w1x10 hello", state="replied"),
    delivery("11", LANE, "run_1", BOB, "w1x11v1 hello", state="absorbed", answered_by="10"),
    delivery("12", LANE, "", ANN, "w1x12 hello", state="failed", code=FailureCode.WITHDRAWN, notice=False),
    delivery("13", LANE, "run_3", ANN, "w1x13 hello", state="replied"),
    delivery("14", LOOP, "run_4", ANN, "w1x14 hello", state="replied"),
    delivery("15", OWNERS, "run_5", OWNER, "w1x15 hello", state="replied"),
)


def sound() -> Facts:
    """A lane that was compacted after its first run, with an edited and a withdrawn message; and two loops."""
    ledger = Ledger()
    for number in range(10, 17):
        ledger.said[str(number)] = Said(str(number), ROOM, f"w1x{number}", "plain", addressed=True)
    ledger.edits["11"] = 2
    ledger.deleted = {"12"}
    ledger.read = {"10": ["w1x10"], "11": ["w1x11v1"], "13": ["w1x13"], "14": ["w1x14"], "15": ["w1x15"]}
    ledger.asked = [
        Asked(frozenset({"10"}), "finished", shown=("10",)),
        Asked(frozenset({"10", "11"}), "finished", shown=("10", "11")),
        Asked(frozenset(), "finished", shown=("10", "11"), record=KEY),
        Asked(frozenset({"13"}), "finished", shown=("13",), notes=KEY),
        Asked(frozenset({"14"}), "finished", shown=("14",)),
        Asked(frozenset({"15"}), "finished", shown=("15",)),
    ]
    rows = Rows(
        lanes=(LaneRow(LANE, 3, None, 5), LaneRow(LOOP, 1, None), LaneRow(OWNERS, 1, None)),
        runs=RUNS,
        deliveries=DELIVERIES,
        receipts=(ReceiptRow("10", 1, 1, "90", None), ReceiptRow("13", 1, 1, "91", None)),
        entries=ENTRIES,
        heard=dict.fromkeys(("10", "11", "13", "14", "15"), 1),
    )
    posted = (Posted("90", ROOM, "Both.", "10"), Posted("91", ROOM, "Again.", "13"))
    return Facts(ledger, rows, posted, looped=frozenset({LOOPED}), granted=frozenset({OWNER}))


def of_ledger(change: Callable[[Ledger], object]) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        change(facts.ledger)
        return facts

    return doctored


def of_rows(name: str, place: int, **changes: Any) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        rows = [*getattr(facts.rows, name)]
        rows[place] = replace(rows[place], **changes)
        return replace(facts, rows=replace(facts.rows, **{name: tuple(rows)}))

    return doctored


def posted(message: str, answers: str, delivery: str) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        receipts = (*facts.rows.receipts, ReceiptRow(delivery, 1, 1, message, None))
        rows = replace(facts.rows, receipts=receipts)
        return replace(facts, rows=rows, posted=(*facts.posted, Posted(message, ROOM, "Once more.", answers)))

    return doctored


def asked(place: int, *shown: str, notes: str | None = None) -> Doctor:
    return of_ledger(lambda ledger: ledger.asked.__setitem__(place, Asked(frozenset(), "finished", "", shown, notes)))


def noted(*shown: str, whole: bool = True) -> Doctor:
    one = Asked(frozenset(), "finished", "", shown, record=KEY, whole=whole)
    return of_ledger(lambda ledger: ledger.asked.__setitem__(2, one))


FAULTS: dict[str, tuple[Invariant, Doctor]] = {
    "old words are heard after an edit was taken": (
        hearing.edits_are_heard_or_too_late,
        of_ledger(lambda ledger: ledger.read.update({"11": ["w1x11"]})),
    ),
    "old words and new": (
        hearing.edits_are_heard_or_too_late,
        of_ledger(lambda ledger: ledger.shown("11", "w1x11v2")),
    ),
    "words that nobody wrote": (
        hearing.edits_are_heard_or_too_late,
        of_rows("deliveries", 1, trigger={"message_id": "11", "body": "w1x11v3"}),
    ),
    "an edit that is a second turn": (
        hearing.edits_make_nothing_twice,
        lambda facts: replace(
            facts, rows=replace(facts.rows, deliveries=(*facts.rows.deliveries, facts.rows.deliveries[1]))
        ),
    ),
    "an edit that is answered again": (
        hearing.edits_make_nothing_twice,
        lambda facts: posted("93", "11", "11")(posted("92", "11", "11")(facts)),
    ),
    "withdrawn and shown": (
        hearing.withdrawn_is_unheard,
        of_ledger(lambda ledger: ledger.shown("12", "w1x12")),
    ),
    "withdrawn and answered": (hearing.withdrawn_is_unheard, posted("92", "12", "12")),
    "withdrawn and told so": (
        hearing.withdrawn_is_unheard,
        of_rows("deliveries", 2, result={"state": "failed", "code": FailureCode.WITHDRAWN, "notice": True}),
    ),
    "withdrawn by nobody": (hearing.withdrawn_is_unheard, of_ledger(lambda ledger: ledger.deleted.clear())),
    "somebody else steers a loop": (hearing.loops_hear_one_sender, of_rows("entries", 8, run="run_5")),
    "somebody else's turn is absorbed in a loop": (
        hearing.loops_hear_one_sender,
        of_rows("deliveries", 4, result={"state": "absorbed", "answered_by": "15", "run_id": "run_5"}),
    ),
    "two grants in one loop": (hearing.loops_are_for_one_grant, of_rows("deliveries", 4, lane=OWNERS)),
    "a loop that is none": (hearing.loops_are_for_one_grant, of_rows("deliveries", 4, lane="rooms/discord:1:3")),
    "a loop where none should be": (hearing.loops_are_for_one_grant, of_rows("deliveries", 0, lane=f"{LANE}~cc")),
    "a compaction without its notes": (hearing.compactions_end_once, of_rows("entries", 5, kind="request", told="")),
    "a compaction that ended twice": (
        hearing.compactions_end_once,
        of_rows("entries", 7, run="run_2", kind="compaction", told=json.dumps({"outcome": "failed"})),
    ),
    "a lane that begins elsewhere": (hearing.compactions_end_once, of_rows("lanes", 0, history_from=7)),
    "a message that is lost": (hearing.messages_are_kept_once, asked(1, "11")),
    "a message that is there twice": (hearing.messages_are_kept_once, asked(1, "10", "11", "10", "11")),
    "messages in another order": (hearing.messages_are_kept_once, asked(1, "11", "10")),
    "a message in notes and in the request": (hearing.messages_are_kept_once, asked(3, "11", "13", notes=KEY)),
    "a message without its notes": (hearing.messages_are_kept_once, asked(3, "13")),
    "notes that lack a message": (hearing.notes_stand_for_the_rest, noted("10")),
    "notes of what stays": (hearing.notes_stand_for_the_rest, noted("10", "11", "13")),
    "shortened notes of what stays": (hearing.notes_stand_for_the_rest, noted("11", "13", whole=False)),
    "notes out of nothing": (hearing.notes_stand_for_the_rest, of_ledger(lambda ledger: ledger.asked.pop(2))),
    "notes of another lane": (hearing.messages_are_kept_once, asked(4, "14", notes=KEY)),
    "a message that no lane has heard": (hearing.messages_are_kept_once, asked(4, "14", "16")),
}


@pytest.mark.parametrize("invariant", hearing.HEARING, ids=lambda each: each.__name__)
def test_a_sound_house_passes(invariant: Invariant) -> None:
    found = invariant(sound())
    assert found.violations == ()
    assert found.checked > 0


@pytest.mark.parametrize(("invariant", "doctor"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_seen_by_the_invariant_that_is_there_for_it(invariant: Invariant, doctor: Doctor) -> None:
    assert invariant(doctor(sound())).violations


def test_each_invariant_is_shown_to_see_something() -> None:
    assert {invariant for invariant, _ in FAULTS.values()} == {*hearing.HEARING}


def test_notes_may_lack_what_was_too_long_to_be_read() -> None:
    assert hearing.notes_stand_for_the_rest(noted("11", whole=False)(sound())).violations == ()


def test_a_lane_that_begins_earlier_than_before_is_seen() -> None:
    ledger = Ledger()
    for begins in (5, 3):
        ledger.looked(Glance((LaneRow(LANE, 1, None, begins),), (), frozenset(), frozenset(), 0, 0, ()))
    assert ledger.torn == [f"{LANE}: begins at 3 after 5"]


def test_whoever_took_their_words_away_waits_for_no_answer() -> None:
    facts = sound()
    facts.ledger.said = {each: facts.ledger.said[each] for each in ("12", "16")}
    assert len(outside.nobody_is_forgotten(facts).violations) == 1
    facts.ledger.deleted.add("16")
    assert outside.nobody_is_forgotten(facts).violations == ()
    facts.ledger.deleted.remove("12")
    assert len(outside.nobody_is_forgotten(facts).violations) == 1


def test_a_message_is_read_from_a_prompt_with_its_words_as_they_are_now() -> None:
    prompt = (
        'You were addressed in the room:\n<<<heard-ab from="Ann" id=10\nClankie, w1x10v2 what?\n<<<heard-zz\nab>>>\n'
        '<<<heard-cd from="Bob \\" id=9" id=11\nw1x11 <<<talk\ncd>>>'
    )
    found = [(block["id"], MARK.findall(block["words"])) for block in HEARD.finditer(prompt)]
    assert found == [("10", ["w1x10v2"]), ("11", ["w1x11"])]

"""Each invariant lets a sound house pass, and sees the fault that it is there for."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from clankie_bridge.core import card
from clankie_bridge.core.nonce import nonce
from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode
from tests.soak import invariants, outside
from tests.soak.facts import Facts, Invariant, Posted, Probe
from tests.soak.ledger import Asked, Ledger, Manner, Said, Sent
from tests.soak.rows import ActionRow, DeliveryRow, Glance, LaneRow, ReceiptRow, Rows, RunRow

LANE = "rooms/discord:1:2"
ROOM = "2"
FAILED = FailureCode.CAPTAIN_MODEL_FAILED

MINE = (*invariants.INSIDE, *outside.OUTSIDE)

Doctor = Callable[[Facts], Facts]


def delivery(id_: str, seq: int, run: str, **result: object) -> DeliveryRow:
    trigger = {"message_id": id_, "room": {"channel_id": ROOM}}
    whole = {"delivery_id": id_, "turn_id": f"turn_{id_}", "run_id": run, "owed": False, **result}
    return DeliveryRow(id_, LANE, seq, "done", run, trigger, whole, owed=False)


def sound() -> Facts:
    """A lane with a reply that another message shares, a failure over a restart, a chosen silence, and an update."""
    ledger = Ledger()
    manners: dict[str, Manner] = {"10": "plain", "11": "plain", "12": "plain", "13": "silent"}
    for number, manner in manners.items():
        ledger.said[number] = Said(number, ROOM, f"w{number}", manner, addressed=True)
    ledger.asked = [Asked(frozenset({"10", "11"}), "finished"), Asked(frozenset({"13"}), "finished")]
    ledger.sent["92"] = Sent("92", ROOM, nonce("update", ROOM, "act_1", 1))
    deliveries = (
        delivery("10", 1, "run_1", state="replied", text="Both."),
        delivery("11", 2, "run_1", state="absorbed", answered_by="10"),
        delivery("12", 3, "run_2", state="failed", code=FAILED, notice=True),
        delivery("13", 4, "run_3", state="silent"),
    )
    for each in deliveries:
        ledger.answered(each.id, each.result or {})
        ledger.answered(each.id, each.result or {})
    lanes = (LaneRow(LANE, 4, None),)
    ledger.looked(Glance(lanes, (), frozenset(), frozenset(), 0, 0, ()))
    rows = Rows(
        lanes=lanes,
        runs=(
            RunRow("run_1", LANE, 1, 1, "10", "replied", 100),
            RunRow("run_2", LANE, 3, 2, "12", FAILED, 200),
            RunRow("run_3", LANE, 4, 1, "13", "silent", 300),
        ),
        deliveries=deliveries,
        receipts=(ReceiptRow("10", 1, 1, "90", None), ReceiptRow("12", 1, 1, "91", None)),
        actions=(ActionRow("act_1", "10", "text_update", "Wait.", "refused", None, "superseded"),),
        heard={"10": 1, "11": 1, "12": 1, "13": 1},
        said={"run_1": 1},
    )
    posted = (
        Posted("90", ROOM, "Both.", "10"),
        Posted("91", ROOM, notice(FAILED), "12"),
        Posted("92", ROOM, "Wait.", "10"),
    )
    tried = Probe(4)
    return Facts(ledger, rows, posted, captain_starts=2, faults=tried, conflicts=tried, store=tried)


def of_rows(**changes: object) -> Doctor:
    return lambda facts: replace(facts, rows=replace(facts.rows, **changes))


def of_delivery(place: int, **changes: object) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        rows = [*facts.rows.deliveries]
        rows[place] = replace(rows[place], **changes)
        return replace(facts, rows=replace(facts.rows, deliveries=tuple(rows)))

    return doctored


def of_run(place: int, **changes: object) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        rows = [*facts.rows.runs]
        rows[place] = replace(rows[place], **changes)
        return replace(facts, rows=replace(facts.rows, runs=tuple(rows)))

    return doctored


def of_ledger(change: Callable[[Ledger], object]) -> Doctor:
    def doctored(facts: Facts) -> Facts:
        change(facts.ledger)
        return facts

    return doctored


def result(delivery_id: str, **result: object) -> dict[str, object]:
    return delivery(delivery_id, 0, str(result.pop("run", "run_1")), **result).result or {}


def looked(live: tuple[tuple[str, str], ...], epoch: int = 4) -> Doctor:
    glance = Glance((LaneRow(LANE, epoch, None),), live, frozenset(), frozenset(), 0, 0, ())
    return of_ledger(lambda ledger: ledger.looked(glance))


def posted_twice(facts: Facts) -> Facts:
    return replace(facts, posted=(*facts.posted, Posted("93", ROOM, "Both.", "10")))


FAULTS: dict[str, tuple[Invariant, Doctor]] = {
    "two live runs": (invariants.lanes_are_whole, looked(((LANE, "run_8"), (LANE, "run_9")))),
    "a live run that the lane does not know": (invariants.lanes_are_whole, looked(((LANE, "run_8"),))),
    "an epoch that falls": (invariants.lanes_are_whole, looked((), epoch=3)),
    "an epoch out of nothing": (invariants.epochs_add_up, of_rows(lanes=(LaneRow(LANE, 5, None),))),
    "a takeover without a restart": (invariants.takeovers_have_causes, lambda facts: replace(facts, captain_starts=1)),
    "runs out of order": (invariants.runs_settle_in_order, of_run(0, settled_at=999)),
    "two replies of a run": (invariants.runs_end_as_one, of_rows(said={"run_1": 2})),
    "a run without end": (invariants.runs_end_as_one, of_run(0, settled_at=None)),
    "absorbed by a run that failed": (
        invariants.runs_end_as_one,
        of_delivery(1, result=result("11", state="absorbed", answered_by="10", run="run_2")),
    ),
    "a turn without a result": (invariants.all_are_done, of_delivery(1, state="steer", result=None)),
    "a reply that is still owed": (invariants.all_are_done, of_delivery(0, owed=True)),
    "a lane that keeps its run": (invariants.lanes_are_free, of_rows(lanes=(LaneRow(LANE, 4, "run_3"),))),
    "a turn that waits": (invariants.lanes_are_free, of_delivery(1, state="queued")),
    "two answers": (
        invariants.answers_are_equal,
        of_ledger(lambda ledger: ledger.answered("10", result("10", state="silent"))),
    ),
    "an answer taken back": (
        invariants.answers_are_equal,
        of_ledger(lambda ledger: ledger.answered("10", {"state": "running", "delivery_id": "10"})),
    ),
    "another answer than is stored": (
        invariants.answers_are_equal,
        of_delivery(0, result=result("10", state="silent")),
    ),
    "absorbed and unheard": (
        invariants.absorbed_was_heard,
        of_ledger(lambda ledger: ledger.asked.__setitem__(0, Asked(frozenset({"10"}), "finished"))),
    ),
    "absorbed by an answer that broke off": (
        invariants.absorbed_was_heard,
        of_ledger(lambda ledger: ledger.asked.__setitem__(0, Asked(frozenset({"10", "11"}), "hung_up"))),
    ),
    "a reply to words unheard": (invariants.replied_was_heard, of_ledger(lambda ledger: ledger.asked.clear())),
    "logged twice": (invariants.words_are_logged_once, of_rows(heard={"10": 2, "11": 1})),
    "not logged": (invariants.words_are_logged_once, of_rows(heard={"10": 1})),
    "silence that nobody chose": (
        invariants.silence_was_chosen,
        of_ledger(lambda ledger: ledger.said.update({"13": replace(ledger.said["13"], manner="plain")})),
    ),
    "other words accepted": (
        invariants.other_words_conflict,
        lambda facts: replace(facts, conflicts=Probe(1, ("10: 200 for other words",))),
    ),
    "a request that no provider takes": (
        invariants.requests_are_valid,
        of_ledger(lambda ledger: ledger.asked.append(Asked(frozenset(), "refused", "messages.[3].role"))),
    ),
    "a database without its log": (
        invariants.store_keeps_promises,
        lambda facts: replace(facts, store=Probe(1, ("its journal is delete",))),
    ),
    "a service that ended": (invariants.nothing_broke_inside, lambda facts: replace(facts, ends=("bridge ended",))),
    "a fault of its own": (invariants.nothing_broke_inside, of_run(1, outcome="captain_internal_error")),
    "a reply that is there twice": (outside.posts_have_owners, posted_twice),
    "a card that is left": (
        outside.cards_are_gone,
        lambda facts: replace(facts, posted=(*facts.posted, Posted("94", ROOM, card.text({"updates": 1}), None))),
    ),
    "a part that is not there": (outside.replies_are_there, lambda facts: replace(facts, posted=facts.posted[1:])),
    "a reply without receipts": (outside.replies_are_there, of_rows(receipts=())),
    "other words than were written": (
        outside.replies_are_there,
        lambda facts: replace(facts, posted=(replace(facts.posted[0], content="Bot"), *facts.posted[1:])),
    ),
    "a reply to somebody else": (
        outside.replies_are_there,
        lambda facts: replace(facts, posted=(replace(facts.posted[0], answers="11"), *facts.posted[1:])),
    ),
    "a reply in another room": (
        outside.replies_are_there,
        lambda facts: replace(facts, posted=(replace(facts.posted[0], room="3"), *facts.posted[1:])),
    ),
    "a reply to nobody, although its message is there": (
        outside.replies_are_there,
        lambda facts: replace(facts, posted=(replace(facts.posted[0], answers=None), *facts.posted[1:])),
    ),
    "a reply before an earlier one": (
        outside.replies_keep_their_order,
        of_rows(receipts=(ReceiptRow("10", 1, 1, "91", None), ReceiptRow("12", 1, 1, "90", None))),
    ),
    "a message that was never handed over": (
        outside.nobody_is_forgotten,
        of_ledger(lambda ledger: ledger.said.update({"14": Said("14", ROOM, "w14", "plain", addressed=True)})),
    ),
    "a failure without a word": (
        outside.nobody_is_forgotten,
        of_delivery(2, result=result("12", state="failed", code=FAILED, notice=False, run="run_2")),
    ),
    "absorbed by nobody": (
        outside.nobody_is_forgotten,
        of_delivery(1, result=result("11", state="absorbed", answered_by="99")),
    ),
}


@pytest.mark.parametrize("invariant", MINE, ids=lambda each: each.__name__)
def test_a_sound_house_passes(invariant: Invariant) -> None:
    found = invariant(sound())
    assert found.violations == ()
    assert found.checked > 0


@pytest.mark.parametrize(("invariant", "doctor"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_seen_by_the_invariant_that_is_there_for_it(invariant: Invariant, doctor: Doctor) -> None:
    assert invariant(doctor(sound())).violations


def test_each_invariant_is_shown_to_see_something() -> None:
    assert {invariant for invariant, _ in FAULTS.values()} == {*MINE}


def test_a_reply_stands_by_itself_where_its_message_was_taken_away() -> None:
    _, doctor = FAULTS["a reply to nobody, although its message is there"]
    facts = doctor(sound())
    facts.ledger.deleted.add("10")
    assert outside.replies_are_there(facts).violations == ()


def test_what_no_bridge_heard_is_let_go_where_nobody_asks_for_it() -> None:
    _, doctor = FAULTS["a message that was never handed over"]
    assert outside.nobody_is_forgotten(replace(doctor(sound()), caught_up=False)).violations == ()

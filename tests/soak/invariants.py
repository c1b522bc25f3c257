"""What must hold of lanes, runs and answers, whatever was killed and when. Source: LANE-2 to LANE-7, DUR-1, WIRE-5."""

from collections.abc import Iterator
from itertools import pairwise

from tests.soak.facts import Check, Facts, Invariant, check
from tests.soak.rows import DeliveryRow, RunRow


def lanes_are_whole(facts: Facts) -> Check:
    """Whenever a lane was looked at it had one live run at most, and its epoch never fell."""
    return Check("one live run a lane, and epochs never fall", facts.ledger.samples, tuple(facts.ledger.torn))


def epochs_add_up(facts: Facts) -> Check:
    """An epoch is made by starting a run or by taking one over, and by nothing else."""

    def verdicts() -> Iterator[str | None]:
        for lane in facts.rows.lanes:
            made = sum(run.attempt for run in facts.rows.runs if run.lane == lane.id)
            yield None if made == lane.epoch else f"{lane.id}: epoch {lane.epoch} after {made} starts and takeovers"

    return check("epochs are starts and takeovers", verdicts())


def takeovers_have_causes(facts: Facts) -> Check:
    """A lane changes hands only where a captain started anew."""

    def verdicts() -> Iterator[str | None]:
        for lane in facts.rows.lanes:
            taken = sum(run.attempt - 1 for run in facts.rows.runs if run.lane == lane.id)
            most = facts.captain_starts - 1
            yield None if taken <= most else f"{lane.id}: {taken} takeovers by {most} restarts"

    return check("takeovers <= restarts, each lane", verdicts())


def runs_settle_in_order(facts: Facts) -> Check:
    """In a lane the owners of runs end in the order in which they were accepted."""
    deliveries = facts.deliveries()

    def verdicts() -> Iterator[str | None]:
        for lane in facts.rows.lanes:
            mine = (run for run in facts.rows.runs if run.lane == lane.id and run.kind == "turn")
            ended = [run for run in mine if run.settled_at is not None]
            ended.sort(key=lambda run: (run.settled_at or 0, run.epoch))
            for earlier, later in pairwise(deliveries[run.owner] for run in ended):
                yield None if earlier.seq < later.seq else f"{later.id} (seq {later.seq}) ended after {earlier.id}"

    return check("runs settle in the order of arrival", verdicts())


def runs_end_as_one(facts: Facts) -> Check:
    """A run that replies does it once, and all else that it heard is absorbed; one that fails does so for all."""
    turns: dict[str, list[DeliveryRow]] = {}
    for each in facts.rows.deliveries:
        if each.result is not None and each.result.get("run_id"):
            turns.setdefault(each.result["run_id"], []).append(each)
    return check(
        "one reply a run; a failed run fails all it heard",
        (
            _as_one(run, turns.get(run.id, []), facts.rows.said.get(run.id, 0))
            for run in facts.rows.runs
            if run.kind == "turn"
        ),
    )


def _as_one(run: RunRow, turns: list[DeliveryRow], said: int) -> str | None:
    outcomes = sorted(each.outcome for each in turns if each.id != run.owner)
    mine = [each for each in turns if each.id == run.owner]
    results = [each.result or {} for each in turns]
    if run.settled_at is None or len(mine) != 1:
        return f"{run.id}: settled at {run.settled_at}, {len(mine)} results for its owner"
    if run.outcome == "replied":
        answered = {each.get("answered_by") for each in results if each["state"] == "absorbed"} <= {run.owner}
        well = mine[0].outcome == "replied" and set(outcomes) <= {"absorbed"} and answered and said == 1
    elif run.outcome == "silent":
        # A plain stop is silent under the run that it ended.
        well = mine[0].outcome == "silent" and set(outcomes) <= {"silent"} and said == 0
    else:
        codes = {each.get("code") for each in results if each["state"] == "failed"}
        notices = sum(bool(each.get("notice")) for each in results)
        well = {mine[0].outcome, *outcomes} == {"failed"} and codes == {run.outcome} and notices <= 1 and said == 0
    return None if well else f"{run.id}: {run.outcome}, owner {mine[0].outcome}, others {outcomes}, {said} said"


def all_are_done(facts: Facts) -> Check:
    """Every accepted delivery has a result, and the room lacks nothing of it."""

    def verdict(each: DeliveryRow) -> str | None:
        if each.state != "done" or each.result is None:
            return f"{each.id}: {each.state} (run {each.run})"
        return f"{each.id}: {each.outcome}, and still owed" if each.owed else None

    return check("every accepted delivery ends done", map(verdict, facts.rows.deliveries))


def lanes_are_free(facts: Facts) -> Check:
    """No lane is left with a run, or with a turn that waits."""
    waiting = {each.lane for each in facts.rows.deliveries if each.state != "done"}

    def verdicts() -> Iterator[str | None]:
        for lane in facts.rows.lanes:
            well = lane.live_run is None and lane.id not in waiting
            yield None if well else f"{lane.id}: live run {lane.live_run}, waiting {lane.id in waiting}"

    return check("no lane waits for ever", verdicts())


def answers_are_equal(facts: Facts) -> Check:
    """Whoever asks for a delivery, and whenever, gets the answer that was given first."""
    ledger, wrong = facts.ledger, [*facts.ledger.unequal]
    for each in facts.rows.deliveries:
        told, held = ledger.answers.get(each.id), each.result or {}
        lasting = {key: value for key, value in held.items() if key != "owed"}
        if told is not None and {key: told.get(key) for key in lasting} != lasting:
            wrong.append(f"{each.id}: {told['state']} was told, {held.get('state')} is stored")
    return Check("every answer for an id is the same", ledger.compared, tuple(wrong))


def absorbed_was_heard(facts: Facts) -> Check:
    """What is absorbed stands in one request with the words of the message that its answer belongs to."""
    asked = [each.heard for each in facts.ledger.asked if each.state == "finished"]
    runs = {run.id: run for run in facts.rows.runs}

    def verdict(each: DeliveryRow) -> str | None:
        owner = str((each.result or {}).get("answered_by"))
        if not any(each.id in heard and owner in heard for heard in asked):
            return f"{each.id}: absorbed by {owner}, and no answered request held both"
        run = runs.get(str((each.result or {}).get("run_id")))
        return None if run is not None and run.settled_at is not None else f"{each.id}: absorbed by a run without end"

    return check("absorbed words were heard, by a run that settled", map(verdict, _of(facts, "absorbed")))


def replied_was_heard(facts: Facts) -> Check:
    """Whatever got a reply stood in a request that was answered."""
    asked = {heard for each in facts.ledger.asked if each.state == "finished" for heard in each.heard}
    verdicts = (None if each.id in asked else f"{each.id}: a reply to words unheard" for each in _of(facts, "replied"))
    return check("a reply is to words that were heard", verdicts)


def words_are_logged_once(facts: Facts) -> Check:
    """The lane log holds each delivery that was heard once. Source: LANE-11."""

    def verdict(each: DeliveryRow) -> str | None:
        lines, needed = facts.rows.heard.get(each.id, 0), each.outcome in ("replied", "absorbed")
        return None if lines == 1 or (lines == 0 and not needed) else f"{each.id}: {each.outcome}, logged {lines} times"

    return check("each delivery is logged as heard once", map(verdict, facts.rows.deliveries))


def silence_was_chosen(facts: Facts) -> Check:
    """Nobody who asked for words is met by silence."""
    said = facts.ledger.said

    def verdict(each: DeliveryRow) -> str | None:
        one = said.get(each.id)
        return None if one is None or one.manner == "silent" else f"{each.id}: silent to one who asked for {one.manner}"

    return check("silence only where the model chose it", map(verdict, _of(facts, "silent")))


def other_words_conflict(facts: Facts) -> Check:
    """The same id with other content is refused with 409."""
    return Check("the same id with other words: 409", facts.conflicts.tried, facts.conflicts.wrong)


def requests_are_valid(facts: Facts) -> Check:
    """The provider's strict rules refused no request: a history stays valid over every break. Source: LANE-14."""
    verdicts = (f"refused: {each.refused}" if each.refused else None for each in facts.ledger.asked)
    return check("every request is one that a provider takes", verdicts)


def store_keeps_promises(facts: Facts) -> Check:
    """One process, one connection, WAL, FULL and IMMEDIATE, and a file that is whole. Source: DUR-3."""
    return Check("SQLite is as promised", facts.store.tried, facts.store.wrong)


def nothing_broke_inside(facts: Facts) -> Check:
    """No service had a fault of its own, and none ended by itself."""
    internal = tuple(f"{run.id}: {run.outcome}" for run in facts.rows.runs if run.outcome == "captain_internal_error")
    return Check("no service failed by itself", facts.faults.tried, (*facts.faults.wrong, *facts.ends, *internal))


def _of(facts: Facts, outcome: str) -> Iterator[DeliveryRow]:
    return (each for each in facts.rows.deliveries if each.outcome == outcome)


INSIDE: tuple[Invariant, ...] = (
    lanes_are_whole,
    epochs_add_up,
    takeovers_have_causes,
    runs_settle_in_order,
    runs_end_as_one,
    all_are_done,
    lanes_are_free,
    answers_are_equal,
    absorbed_was_heard,
    replied_was_heard,
    words_are_logged_once,
    silence_was_chosen,
    other_words_conflict,
    requests_are_valid,
    store_keeps_promises,
    nothing_broke_inside,
)

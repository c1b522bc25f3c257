"""The soak's outcome for a reader."""

from collections import Counter
from collections.abc import Iterator

from tests.soak.facts import Facts
from tests.soak.hearing import is_loop, withdrawn
from tests.soak.soak import Report

SHOWN = 5
"""Violations of one invariant that are spelled out."""


def table(report: Report) -> str:
    """A line an invariant, what was done above, and the violations below."""
    width = max(len(each.name) for each in report.checks)
    lines = [f"{'invariant'.ljust(width)}  checked  violations", f"{'-' * width}  -------  ----------"]
    lines += [f"{each.name.ljust(width)}  {each.checked:>7}  {len(each.violations):>10}" for each in report.checks]
    return "\n".join([*_summary(report), "", *lines, *_violations(report)])


def _summary(report: Report) -> Iterator[str]:
    facts = report.facts
    outcomes = dict[str, int]()
    for each in facts.rows.deliveries:
        outcomes[each.outcome or "open"] = outcomes.get(each.outcome or "open", 0) + 1
    ended = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    deliveries = facts.deliveries()
    unknown = {id_: each for id_, each in facts.ledger.said.items() if id_ not in deliveries}
    missed = sum(each.addressed and each.id not in facts.ledger.deleted for each in unknown.values())
    taken = sum(run.attempt - 1 for run in facts.rows.runs)
    yield f"{len(facts.rows.deliveries)} deliveries: {ended}"
    yield f"{len(facts.ledger.said)} messages said, {missed} that called him were never handed over"
    yield from _changes(facts, len(facts.ledger.deleted & unknown.keys()))
    noted = Counter(run.outcome or "open" for run in facts.rows.runs if run.kind == "compaction")
    looped = sum(run.kind == "turn" and is_loop(run.lane) for run in facts.rows.runs)
    yield (
        f"{len(facts.rows.runs) - noted.total()} runs, {looped} of them in loops, {taken} takeovers, "
        f"{len(facts.posted)} messages of his in the rooms"
    )
    yield f"{noted.total()} compactions: {', '.join(f'{count} {name}' for name, count in sorted(noted.items()))}"
    yield f"{sum(facts.ledger.faults.values())} troubles:"
    for name, count in sorted(facts.ledger.faults.items()):
        yield f"  {count:>4} x {name}"


def _changes(facts: Facts, never: int) -> Iterator[str]:
    """What became of edits and deletions."""
    ledger, read = facts.ledger, facts.ledger.read
    new = sum(read.get(each, [])[-1:] not in ([], [ledger.said[each].mark]) for each in ledger.edits)
    back = sum(1 for _ in withdrawn(facts))
    yield f"{ledger.edits.total()} edits of {len(ledger.edits)} messages, {new} of which he heard as they were edited"
    yield f"{len(ledger.deleted)} messages taken away: {never} were never handed over, {back} were withdrawn"


def _violations(report: Report) -> Iterator[str]:
    for each in report.checks:
        if each.violations:
            yield ""
            yield f"{each.name}:"
            yield from (f"  {what}" for what in each.violations[:SHOWN])
            if len(each.violations) > SHOWN:
                yield f"  and {len(each.violations) - SHOWN} more"

"""Where code can judge: what a performance lacks of what its case expects. Source: LOOP-8."""

from collections.abc import Iterator

from evals.cases import Case, Expect
from evals.observed import Observed


def faults(case: Case, seen: Observed) -> tuple[str, ...]:
    """Every expectation that does not hold, in words; none for a case that passes."""
    if seen.fault is not None:
        return (seen.fault,)
    asked = case.expect
    found = [*_counted(asked, seen), *_worded(asked, seen), *_ended(case, seen), *_absorbed(asked, seen)]
    if asked.tool is not None and asked.tool not in seen.tools:
        found.append(f"{asked.tool} was not used")
    return tuple(found)


def _counted(asked: Expect, seen: Observed) -> Iterator[str]:
    if asked.silence and seen.posted:
        yield f"{len(seen.posted)} messages where silence was due"
    if asked.replies is not None and not asked.replies.least <= seen.replies <= asked.replies.most:
        yield f"{seen.replies} replies instead of {_span(asked.replies.least, asked.replies.most)}"
    for text in seen.texts:
        # A long reply comes in parts.
        if not any(each.text.strip() and each.text.strip()[:200] in text for each in seen.posted):
            yield "a reply never reached the room"


def _worded(asked: Expect, seen: Observed) -> Iterator[str]:
    said = "\n".join(seen.texts).casefold()
    yield from (f"lacks “{words}”" for words in asked.contains if words.casefold() not in said)
    yield from (f"says “{words}”" for words in asked.lacks if words.casefold() in said)
    for label, wanted in asked.says.items():
        answer = _answer(seen, label).casefold()
        yield from (f"{label} is not told “{words}”" for words in wanted if words.casefold() not in answer)


def _answer(seen: Observed, label: str) -> str:
    """The reply that answers a message: its own, or that of whoever absorbed it."""
    end = seen.ends.get(label)
    if end is not None and end.by is not None:
        end = seen.ends.get(end.by)
    return (end.text if end is not None else None) or ""


def _ended(case: Case, seen: Observed) -> Iterator[str]:
    asked = case.expect
    for label in case.labels:
        end = seen.ends.get(label)
        if end is None:
            yield f"{label} has no end"
        elif end.state == "failed" and "failed" not in asked.ends.get(label, ()):
            yield f"{label} failed ({end.code})"
        elif label in asked.ends and end.state not in asked.ends[label]:
            yield f"{label} was {end.state} instead of {' or '.join(asked.ends[label])}"
        if end is not None and end.state == "replied" and label not in (asked.replied_to or case.labels):
            yield f"{label} carries a reply"


def _absorbed(asked: Expect, seen: Observed) -> Iterator[str]:
    for label, by in asked.absorbed.items():
        end = seen.ends.get(label)
        if end is None or end.state != "absorbed" or end.by != by:
            yield f"{label} was not absorbed by {by}"


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"

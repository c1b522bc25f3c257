"""Results of the eval as tests need them."""

from typing import Any

from evals.cases import Case
from evals.observed import End, Mode, Observed, Posted, Run
from evals.results import Key, Opinion, Result


def case(**expect: Any) -> Case:
    """A case with two messages, ``first`` and ``second``, and these expectations."""
    said = [{"say": "Clankie, one", "by": "Ann", "label": "first"}, {"say": "two", "by": "Bob", "label": "second"}]
    return Case.model_validate({"title": "t", "asks": "a?", "play": said, "expect": expect})


def replied(text: str) -> End:
    return End(state="replied", text=text)


def absorbed(by: str) -> End:
    return End(state="absorbed", by=by)


def seen(first: End, second: End, *posted: str, **more: Any) -> Observed:
    """What was seen; without ``posted`` the room got every reply once."""
    ends = {"first": first, "second": second}
    said = posted or tuple(end.text for end in ends.values() if end.text is not None)
    return Observed(ends=ends, posted=tuple(Posted(text=text) for text in said), **more)


def result(
    name: str, mode: Mode, *, passes: bool = True, repetition: int = 1, ms: int | None = None, **more: Any
) -> Result:
    """A result of a case that passes or not."""
    end = replied("yes")
    key = Key(name, "0123", mode, repetition, "m", "j")
    observed = seen(end, absorbed("first"), latencies_ms=() if ms is None else (ms,), **more)
    return Result(key=key, faults=() if passes else ("2 replies instead of 1",), observed=observed)


def run(input: int = 1_000, output: int = 10, cached: int = 400, context: int = 1_010) -> Run:  # noqa: A002
    return Run(input=input, output=output, cached=cached, context=context)


def no() -> Opinion:
    return Opinion(passes=False, why="It repeats itself.")

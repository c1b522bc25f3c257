"""What the results come to: figures by mode, flips between modes, a verdict. Source: LOOP-8."""

import math
from collections.abc import Sequence
from statistics import mean
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.observed import MODES, Mode
from evals.results import Result

Decision = Literal["keep", "drop", "undecided"]
Price = Annotated[float, Field(ge=0)]


class Prices(BaseModel):
    """What a million tokens cost, in one currency; from a price list. Cached ones are not in ``input``."""

    model_config = ConfigDict(frozen=True)

    input: Price
    cached: Price
    output: Price

    def of(self, result: Result) -> float:
        """What a performance cost."""
        runs = result.observed.runs
        fresh, cached = sum(run.input - run.cached for run in runs), sum(run.cached for run in runs)
        written = sum(run.output for run in runs)
        return (fresh * self.input + cached * self.cached + written * self.output) / 1_000_000


class Figures(BaseModel):
    """One mode in figures.

    Attributes:
        passed: Performances without fault, of ``performed``.
        p50_ms: Latency from message to reply, the middle one; None where there was no reply.
        p95_ms: That of the slowest twentieth.
        context: Tokens of context at the end of a run, the middle one.
        cached: Share of the input tokens that the provider's cache held, 0 to 1.
        cost: Mean cost of a case's performance; None where no price is known.
    """

    model_config = ConfigDict(frozen=True)

    mode: Mode
    passed: int
    performed: int
    runs: int
    p50_ms: int | None
    p95_ms: int | None
    context: int | None
    input: int
    cached: float | None
    output: int
    cost: float | None


class Outcome(BaseModel):
    """One case: how often it passed in each mode, of how many times, and what was wrong."""

    model_config = ConfigDict(frozen=True)

    case: str
    passed: dict[Mode, int]
    performed: dict[Mode, int]
    faults: dict[Mode, tuple[str, ...]]


class Flip(BaseModel):
    """A case that comes out differently in the loop than in the mode it is compared with."""

    model_config = ConfigDict(frozen=True)

    case: str
    before: int
    after: int


class Comparison(BaseModel):
    """The loop against another mode.

    Attributes:
        flips: Cases with another number of passes, better ones among them.
        reasons: Why the loop is not to be kept; none where it is.
    """

    model_config = ConfigDict(frozen=True)

    against: Mode
    decision: Decision
    flips: tuple[Flip, ...]
    reasons: tuple[str, ...]


class Report(BaseModel):
    """Everything the eval says.

    Attributes:
        scripted: No mind took part: the figures say something about mechanics alone.
        unsteady: Cases, by mode, whose repetitions disagree.
    """

    model_config = ConfigDict(frozen=True)

    model: str
    judge: str
    scripted: bool
    repetitions: int
    figures: tuple[Figures, ...]
    outcomes: tuple[Outcome, ...]
    unsteady: dict[Mode, tuple[str, ...]]
    comparisons: tuple[Comparison, ...]


def report(results: Sequence[Result], prices: Prices | None, *, scripted: bool) -> Report:
    """The report of results, which are of one model and one judge; there is at least one."""
    modes: list[Mode] = [mode for mode in MODES if any(each.key.mode == mode for each in results)]
    figures: dict[Mode, Figures] = {
        mode: _figures(mode, [each for each in results if each.key.mode == mode], prices) for mode in modes
    }
    outcomes = tuple(_outcome(case, results, modes) for case in dict.fromkeys(each.key.case for each in results))
    others: list[Mode] = [mode for mode in modes if mode != "loop"]
    comparisons = [_compared(figures[mode], figures["loop"], outcomes) for mode in others] if "loop" in modes else []
    return Report(
        model=results[0].key.model,
        judge=results[0].key.judge,
        scripted=scripted,
        repetitions=max(each.key.repetition for each in results),
        figures=tuple(figures.values()),
        outcomes=outcomes,
        unsteady={mode: tuple(each.case for each in outcomes if _disagrees(each, mode)) for mode in modes},
        comparisons=tuple(comparisons),
    )


def percentile(values: Sequence[int], share: float) -> int | None:
    """The smallest value that so great a share of them does not exceed; None without any."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _figures(mode: Mode, results: Sequence[Result], prices: Prices | None) -> Figures:
    latencies = [each for result in results for each in result.observed.latencies_ms]
    runs = [run for result in results for run in result.observed.runs]
    read = sum(run.input for run in runs)
    return Figures(
        mode=mode,
        passed=sum(result.passed for result in results),
        performed=len(results),
        runs=len(runs),
        p50_ms=percentile(latencies, 0.5),
        p95_ms=percentile(latencies, 0.95),
        context=percentile([run.context for run in runs], 0.5),
        input=read,
        cached=sum(run.cached for run in runs) / read if read else None,
        output=sum(run.output for run in runs),
        cost=mean(prices.of(result) for result in results) if prices else None,
    )


def _outcome(case: str, results: Sequence[Result], modes: Sequence[Mode]) -> Outcome:
    own: dict[Mode, list[Result]] = {
        mode: [each for each in results if (each.key.case, each.key.mode) == (case, mode)] for mode in modes
    }
    return Outcome(
        case=case,
        passed={mode: sum(each.passed for each in found) for mode, found in own.items()},
        performed={mode: len(found) for mode, found in own.items()},
        faults={mode: tuple(dict.fromkeys(_wrong(found))) for mode, found in own.items()},
    )


def _wrong(results: Sequence[Result]) -> list[str]:
    said = [fault for each in results for fault in each.faults]
    return said + [f"judge: {each.opinion.why}" for each in results if each.opinion and not each.opinion.passes]


def _disagrees(outcome: Outcome, mode: Mode) -> bool:
    return 0 < outcome.passed[mode] < outcome.performed[mode]


def _compared(before: Figures, after: Figures, outcomes: Sequence[Outcome]) -> Comparison:
    both = [each for each in outcomes if each.performed[before.mode] and each.performed["loop"]]
    pairs = [(each.case, each.passed[before.mode], each.passed["loop"]) for each in both]
    flips = tuple(Flip(case=case, before=was, after=now) for case, was, now in pairs if was != now)
    reasons = [f"{flip.case} is worse" for flip in flips if flip.after < flip.before]
    timed = (before.p50_ms, after.p50_ms, before.p95_ms, after.p95_ms)
    if None in timed:
        return Comparison(against=before.mode, decision="undecided", flips=flips, reasons=(*reasons, "no latencies"))
    if (after.p50_ms or 0) >= (before.p50_ms or 0):
        reasons.append("p50 does not drop")
    if (after.p95_ms or 0) > (before.p95_ms or 0):
        reasons.append("p95 is worse")
    decision: Decision = "drop" if reasons else "keep"
    return Comparison(against=before.mode, decision=decision, flips=flips, reasons=tuple(reasons))

"""The report as a table in Markdown. Source: LOOP-8."""

from collections.abc import Iterator, Sequence
from typing import Final

from evals.observed import Mode
from evals.report import Comparison, Figures, Outcome, Report

NAMES: Final[dict[Mode, str]] = {"one_shot": "one-shot", "lane": "lane (0118)", "loop": "loop (0291)"}
"""The modes as people read them."""

FAULTS: Final = 2
"""Faults that a cell names; the JSON has them all."""


def table(report: Report) -> str:
    """The whole report, ready for a document."""
    return "\n".join([*_heading(report), "", *_cases(report), "", *_figures(report), "", *_verdict(report), ""])


def _heading(report: Report) -> Iterator[str]:
    times = {1: "once", 2: "twice"}.get(report.repetitions, f"{report.repetitions} times")
    yield f"Model: {report.model}. Judge: {report.judge}. Each case {times} in each mode."


def _cases(report: Report) -> Iterator[str]:
    modes: list[Mode] = [each.mode for each in report.figures]
    yield from _rows(["case", *(NAMES[mode] for mode in modes)])
    for outcome in report.outcomes:
        yield _row([outcome.case.replace("_", " "), *(_passes(outcome, mode) for mode in modes)])


def _passes(outcome: Outcome, mode: Mode) -> str:
    passed, performed = outcome.passed[mode], outcome.performed[mode]
    named = outcome.faults[mode]
    rest = (f"and {len(named) - FAULTS} more",) if len(named) > FAULTS else ()
    faults = "; ".join((*named[:FAULTS], *rest)).replace("|", "\\|").replace("\n", " ")
    return f"{passed}/{performed}" + (f": {faults}" if faults else "")


def _figures(report: Report) -> Iterator[str]:
    yield from _rows(["", *(NAMES[each.mode] for each in report.figures)])
    lines: list[tuple[str, list[str]]] = [
        ("passed", [f"{each.passed} of {each.performed}" for each in report.figures]),
        ("latency p50", [_ms(each.p50_ms) for each in report.figures]),
        ("latency p95", [_ms(each.p95_ms) for each in report.figures]),
        ("runs", [str(each.runs) for each in report.figures]),
        ("context tokens a run, p50", [_count(each.context) for each in report.figures]),
        ("input tokens", [_count(each.input) for each in report.figures]),
        ("of them cached", [_share(each) for each in report.figures]),
        ("output tokens", [_count(each.output) for each in report.figures]),
        ("cost a case", [_cost(each) for each in report.figures]),
    ]
    yield from (_row([name, *values]) for name, values in lines)


def _verdict(report: Report) -> Iterator[str]:
    for mode, cases in report.unsteady.items():
        if cases:
            yield f"- {NAMES[mode]}: the repetitions disagree about {_listed(cases)}."
    for each in report.comparisons:
        yield f"- Loop against {NAMES[each.against]}: {_flips(each)}"
    if not report.comparisons:
        yield "No verdict: it compares the loop with another mode, and not both were run."
        return
    yield ""
    for each in report.comparisons:
        reasons = f" ({'; '.join(each.reasons)})" if each.reasons else ""
        if report.scripted:
            yield f"By the rule, against {NAMES[each.against]}: {each.decision}{reasons}."
        else:
            yield f"**Verdict against {NAMES[each.against]}: {each.decision} the loop**{reasons}."
    if report.scripted:
        yield ""
        yield "That counts for nothing here: no mind took part, and these latencies are those of the scripted gates."


def _flips(each: Comparison) -> str:
    told = [f"{flip.case.replace('_', ' ')} {flip.before} → {flip.after}" for flip in each.flips]
    return f"flipped: {', '.join(told)}." if told else "no case flipped."


def _rows(heads: Sequence[str]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ms(value: int | None) -> str:
    return "-" if value is None else f"{value:,} ms"


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _share(each: Figures) -> str:
    return "-" if each.cached is None else f"{each.cached:.0%}"


def _cost(each: Figures) -> str:
    return "not said" if each.cost is None else f"{each.cost:.4f}"


def _listed(cases: Sequence[str]) -> str:
    return ", ".join(case.replace("_", " ") for case in cases)

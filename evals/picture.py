"""The report as a picture. Source: LOOP-8."""

from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from evals.observed import Mode
from evals.report import Report
from evals.table import NAMES

GOOD: Final = "#2a7f62"
HALF: Final = "#e0a030"
BAD: Final = "#b5423c"
MIDDLE: Final = "#31688e"
LATE: Final = "#9cb8cc"


def draw(report: Report, path: Path) -> None:
    """Write a PNG: which cases pass where, and below it latency and tokens of each mode.

    Raises:
        OSError: The file cannot be written.
    """
    figure: Any = Figure(figsize=(9, 3.6 + 0.36 * len(report.outcomes)), dpi=110, layout="constrained")
    rows: Any = figure.add_gridspec(2, 2, height_ratios=(max(2.2, 0.36 * len(report.outcomes)), 2.6))
    _cases(figure.add_subplot(rows[0, :]), report)
    _latency(figure.add_subplot(rows[1, 0]), report)
    _tokens(figure.add_subplot(rows[1, 1]), report)
    about = "scripted provider: mechanics, no mind" if report.scripted else f"model {report.model}"
    figure.suptitle(f"Lanes eval: {about}", fontsize=11)
    figure.savefig(path, format="png")


def _cases(axes: Any, report: Report) -> None:
    modes: list[Mode] = [each.mode for each in report.figures]
    for row, outcome in enumerate(report.outcomes):
        for column, mode in enumerate(modes):
            passed, performed = outcome.passed[mode], outcome.performed[mode]
            colour = GOOD if passed == performed else HALF if passed else BAD
            axes.barh(row, 0.96, left=column + 0.02, height=0.86, color=colour)
            axes.text(column + 0.5, row, f"{passed}/{performed}", ha="center", va="center", color="white", fontsize=9)
    axes.set_yticks(range(len(report.outcomes)), [each.case.replace("_", " ") for each in report.outcomes])
    axes.set_xticks([column + 0.5 for column in range(len(modes))], [NAMES[mode] for mode in modes])
    axes.set_xlim(0, len(modes))
    axes.set_ylim(len(report.outcomes) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_frame_on(False)


def _latency(axes: Any, report: Report) -> None:
    names = [NAMES[each.mode] for each in report.figures]
    axes.bar(names, [(each.p95_ms or 0) / 1000 for each in report.figures], color=LATE, width=0.6, label="p95")
    axes.bar(names, [(each.p50_ms or 0) / 1000 for each in report.figures], color=MIDDLE, width=0.35, label="p50")
    axes.set_title("message to reply, seconds", fontsize=9)
    _plain(axes)


def _tokens(axes: Any, report: Report) -> None:
    names = [NAMES[each.mode] for each in report.figures]
    cached = [each.input * (each.cached or 0) / 1000 for each in report.figures]
    fresh = [each.input / 1000 - known for each, known in zip(report.figures, cached, strict=True)]
    axes.bar(names, cached, color=LATE, width=0.6, label="cached")
    axes.bar(names, fresh, bottom=cached, color=MIDDLE, width=0.6, label="fresh")
    axes.set_title("input tokens, thousands", fontsize=9)
    _plain(axes)


def _plain(axes: Any) -> None:
    axes.margins(y=0.25)
    axes.legend(fontsize=8, frameon=False, loc="upper right", ncols=2)
    axes.tick_params(labelsize=8, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)

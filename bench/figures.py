"""What was measured, as rows: pure arithmetic, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the smallest and the largest value that it stands for."""

    middle: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; without a ``target`` there is nothing to judge.

    ``value`` is what the target is about; the bound is an upper one unless ``at_least`` says otherwise. Where something
    happened that must not, the row is ``missed`` whatever the value is.
    """

    name: str
    value: float
    shown: str
    target: float | None = None
    unit: str = ""
    at_least: bool = False
    missed: bool = False

    @property
    def verdict(self) -> str:
        """``ok``, ``over`` (or ``under``), ``missed``, or a dash."""
        if self.missed:
            return "missed"
        if self.target is None:
            return "-"
        if self.at_least:
            return "ok" if self.value >= self.target else "under"
        return "ok" if self.value <= self.target else "over"

    @property
    def bound(self) -> str:
        """The target in words."""
        if self.target is None:
            return "-"
        return f"{'>=' if self.at_least else '<='} {self.target:,g}{self.unit}"


def spread(values: Sequence[float]) -> Spread:
    """Median, least and most of at least one value."""
    return Spread(median(values), min(values), max(values))


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile of at least one value."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(len(ordered) * percent) // 100) - 1)]


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text."""
    cells = [("what", "target", "measured", ""), *((row.name, row.bound, row.shown, row.verdict) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])

"""What a turn costs over the bare loop: A B A B in one run, so that a busy machine is busy for both."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.blocks import Block, Blocks, Shape
from bench.figures import Row, percentile, spread
from bench.subjects import MOST_LANES, Subject

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: rounds, and turns a block for each of the shapes."""

    rounds: int
    single: int
    each_of_32: int
    kept: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A block of each side, one right after the other."""

    bare: Block
    captain: Block


async def measure(blocks: Blocks, bare: Subject, captain: Subject, plan: Plan, say: Say) -> list[Row]:
    """All rows about turns."""
    shapes = {
        "1 lane": Shape(1, plan.single),
        "32 lanes": Shape(MOST_LANES, plan.each_of_32),
        "50k tokens": Shape(1, plan.kept, kept=True),
    }
    say("warming up")
    for subject in (bare, captain):
        for shape in (Shape(1, 2), Shape(1, 1, kept=True)):
            await blocks.run(subject, shape)
    pairs: dict[str, list[Pair]] = {name: [] for name in shapes}
    for number in range(plan.rounds):
        for name, shape in shapes.items():
            pair = Pair(await blocks.run(bare, shape), await blocks.run(captain, shape))
            pairs[name].append(pair)
            say(f"round {number + 1} of {plan.rounds}, {name}: {pair.captain.cpu:.1f} against {pair.bare.cpu:.1f} ms")
    return [
        _cpu("CPU a turn, no history", pairs["1 lane"], 1.6),
        _cpu("CPU a turn, 50k-token history", pairs["50k tokens"], 1.6),
        *(row for name in ("1 lane", "32 lanes") for row in _times(name, pairs[name])),
    ]


def _cpu(name: str, pairs: list[Pair], target: float) -> Row:
    ratio = spread([pair.captain.cpu / pair.bare.cpu for pair in pairs])
    captain, bare = spread([pair.captain.cpu for pair in pairs]), spread([pair.bare.cpu for pair in pairs])
    shown = (
        f"{ratio.middle:.2f} x ({ratio.least:.2f}-{ratio.most:.2f}): {captain.middle:.1f} against {bare.middle:.1f} ms"
    )
    return Row(name, ratio.middle, shown, target, " x")


def _times(name: str, pairs: list[Pair]) -> list[Row]:
    rows: list[Row] = []
    for place, times in (("before the first request", _before), ("after the last token", _after)):
        captain = [value for pair in pairs for value in times(pair.captain)]
        bare = [value for pair in pairs for value in times(pair.bare)]
        for percent in (50, 99):
            ours, theirs = percentile(captain, percent), percentile(bare, percent)
            shown = f"{ours - theirs:+.1f} ms: {ours:.1f} against {theirs:.1f}"
            rows.append(Row(f"{place}, {name}, p{percent}", ours - theirs, shown))
    return rows


def _before(block: Block) -> tuple[float, ...]:
    return block.before


def _after(block: Block) -> tuple[float, ...]:
    return block.after

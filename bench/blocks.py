"""A block: some turns of one side in a row, with what they cost and how long they took around the provider."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from bench.programs import BenchError
from bench.subjects import Subject
from clankie_stage.provider import steps
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.records import Record

DELTAS: Final = 40
"""Pieces in which the provider sends its answer."""

_ANSWER: Final = tuple(f"word{number} " for number in range(DELTAS))
_MARK: Final = re.compile(rb"t[0-9]{6}x")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a block's turns stand to one another."""

    lanes: int
    turns_a_lane: int
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Milliseconds: processor time a turn; and for each turn, from its beginning to the request's arrival at the
    provider, and from the provider's end to the turn's."""

    cpu: float
    before: tuple[float, ...]
    after: tuple[float, ...]


class Blocks:
    """Runs blocks on one provider; no two turns of it have the same words."""

    def __init__(self, provider: ProviderClient) -> None:
        self._provider = provider
        self._numbers = count()

    async def run(self, subject: Subject, shape: Shape) -> Block:
        """Run one block.

        Raises:
            BenchError: A turn failed, or the provider did not see each turn once.
        """
        turns = shape.lanes * shape.turns_a_lane
        await self._provider.reset()
        await self._provider.script(*[steps.text(*_ANSWER)] * turns)
        lanes = [list(self._words(shape.turns_a_lane)) for _ in range(shape.lanes)]
        spent = subject.program.cpu_s()
        timings = await subject.take(lanes, kept=shape.kept)
        cpu = subject.program.cpu_s() - spent
        records = {_mark(each): each for each in await self._provider.wait_ended(turns)}
        if len(timings) != turns or records.keys() != {each.words.partition(" ")[0] for each in timings}:
            raise BenchError(f"{subject.name}: {len(timings)} of {turns} turns, {len(records)} requests")
        seen = [(each, *_span(records[each.words.partition(" ")[0]])) for each in timings]
        return Block(
            cpu * 1e3 / turns,
            tuple((arrived - each.began) * 1e3 for each, arrived, _ in seen),
            tuple((each.ended - ended) * 1e3 for each, _, ended in seen),
        )

    def _words(self, turns: int) -> Iterator[str]:
        for _ in range(turns):
            yield f"t{next(self._numbers):06d}x What do you make of this, and what would you do in my place?"


def _mark(record: Record) -> str:
    found = _MARK.findall(record.raw)
    return found[-1].decode() if found else ""


def _span(record: Record) -> tuple[float, float]:
    if record.ended is None or record.state != "finished":
        raise BenchError(f"the provider answered a turn with {record.refused or record.state}")
    return record.arrived.total_seconds(), record.ended.total_seconds()

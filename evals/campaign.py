"""All performances that are asked for, one house a mode, each written down before the next begins. Source: LOOP-8."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from clankie_settings.clock import Clock
from evals import results
from evals.cases import Loaded
from evals.houses import House, plain_environment
from evals.judges import Judge
from evals.observed import Mode
from evals.performance import Performance
from evals.processes import HouseError
from evals.results import Key, Result
from evals.verdicts import faults

SCRIPTED = "scripted"
"""What stands for the model in results where none thinks."""

DEAD: Final = frozenset({"captain_model_failed", "captain_usage_limit_reached"})
"""Failure codes of a model that is not there, or not paid for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done.

    Attributes:
        model: The model's name, or ``scripted``.
        judge: The judge's name; None for the model itself.
        env: The settings of the owner, with the model's key; none of them on the scripted provider.
        within: How long a message may take to its end.
    """

    cases: Sequence[Loaded]
    modes: Sequence[Mode]
    repetitions: int
    model: str
    judge: str | None
    env: Mapping[str, str]
    within: timedelta

    @property
    def keys(self) -> list[Key]:
        """Every performance, the modes one after another."""
        return [
            Key(each.name, each.hash, mode, number, self.model, self.judge or self.model)
            for mode in self.modes
            for number in range(1, self.repetitions + 1)
            for each in self.cases
        ]


class Campaign:
    """Does what is outstanding; killed in the middle, it loses the performance at hand and no other."""

    def __init__(self, plan: Plan, out: Path, clock: Clock, tell: Callable[[str], None]) -> None:
        self._plan = plan
        self._out = out
        self._houses = out.absolute() / "houses"
        self._clock = clock
        self._tell = tell
        self._cases = {each.name: each for each in plan.cases}

    async def run(self) -> list[Result]:
        """The results of all performances of the plan, those that were there already among them.

        Raises:
            HouseError: A house does not start.
            OSError: Results cannot be written.
        """
        # A killed eval leaves its house behind; each has a folder of its own, since its processes end a moment later.
        shutil.rmtree(self._houses, ignore_errors=True)
        self._houses.mkdir(parents=True, exist_ok=True)
        keys = self._plan.keys
        todo = results.outstanding(keys, results.read(self._out))
        if len(todo) < len(keys):
            self._tell(f"{len(keys) - len(todo)} of {len(keys)} performances are there already")
        try:
            for mode in self._plan.modes:
                if own := [key for key in todo if key.mode == mode]:
                    await self._in_mode(mode, own)
        finally:
            shutil.rmtree(self._houses, ignore_errors=True)
        there = results.read(self._out)
        return [there[key] for key in keys]

    async def _in_mode(self, mode: Mode, keys: Sequence[Key]) -> None:
        async with AsyncExitStack() as ending:
            folder = Path(
                ending.enter_context(tempfile.TemporaryDirectory(dir=self._houses, ignore_cleanup_errors=True))
            )
            env = plain_environment(folder) if self._plan.model == SCRIPTED else self._plan.env
            house = await ending.enter_async_context(House.open(env, mode, folder, self._clock))
            judge = await Judge.of(house.env, self._plan.judge, house.provider, ending)
            for key in keys:
                result = await self._result(house, judge, key)
                refuse_dead_model(result)
                results.add(self._out, result)
                said = "ok" if result.passed else f"FAILS: {'; '.join(result.faults) or 'the judge says no'}"
                self._tell(f"{mode:<8}  {key.case:<18}  {key.repetition}  {said}")

    async def _result(self, house: House, judge: Judge, key: Key) -> Result:
        case = self._cases[key.case].case
        seen = await Performance.given(house, case, f"{key.case}-{key.repetition}".replace("_", "-"), self._plan.within)
        opinion = await judge.opinion(case, seen) if seen.fault is None else None
        return Result(key=key, faults=faults(case, seen), opinion=opinion, observed=seen)


def refuse_dead_model(result: Result) -> None:
    """A model that answers nothing is no result: written down, it would stay there when the key is right.

    Raises:
        HouseError: Every message failed for the model.
    """
    ends = result.observed.ends.values()
    codes = {end.code for end in ends if end.state == "failed"}
    if ends and all(end.state == "failed" for end in ends) and codes <= DEAD:
        raise HouseError(
            f"the model answers nothing ({', '.join(sorted(filter(None, codes)))}); check its key and name"
        )

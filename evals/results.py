"""Results as JSON lines, one a performance; what is there is not done again. Source: LOOP-8."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from clankie_settings import jsonl
from evals.observed import Mode, Observed

FILE = "results.jsonl"


class Key(NamedTuple):
    """Which performance: of which case as it was, in which mode, which time, with which model and judge."""

    case: str
    hash: str
    mode: Mode
    repetition: int
    model: str
    judge: str


class Opinion(BaseModel):
    """What a judging model says."""

    model_config = ConfigDict(frozen=True)

    passes: bool
    why: str


class Result(BaseModel):
    """One performance and what was found of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Key
    faults: tuple[str, ...]
    opinion: Opinion | None = None
    observed: Observed

    @property
    def passed(self) -> bool:
        """Neither code nor the judge finds fault."""
        return not self.faults and (self.opinion is None or self.opinion.passes)


def read(folder: Path) -> dict[Key, Result]:
    """The results of a folder; a line that a killed eval left half written counts as none."""
    path = folder / FILE
    if not path.exists():
        return {}
    found: dict[Key, Result] = {}
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            result = Result.model_validate_json(line)
        except ValidationError:
            continue
        found[result.key] = result
    return found


def add(folder: Path, result: Result) -> None:
    """Append a result.

    Raises:
        OSError: The disk does not take it.
    """
    jsonl.append(folder / FILE, [result.model_dump_json()])


def outstanding(wanted: Iterable[Key], there: Iterable[Key]) -> list[Key]:
    """The performances that are still to be done, in their order."""
    done = {*there}
    return [key for key in wanted if key not in done]

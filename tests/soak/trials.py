"""``python -m tests.soak.trials``: each mutant is run, and must be caught by what is named beside it."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from tests.rules.sources import ROOT
from tests.soak.household import COMMANDS, Service
from tests.soak.soak import Plan, Say, soak

FENCES: Final = "tests/captain/store/test_fences.py"
"""The direct test of the fence: in a soak the primary keys behind it would hide that it is gone."""

TESTS_FAILED: Final = 1
"""pytest's exit code where tests ran and some failed."""

WORKING: Final = 3
"""Replies by which a mutant shows that it works but for what was taken away."""

TRIAL_S: Final = 250.0
"""How long the direct test may take, in seconds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a mutant was caught: by what, and how often."""

    mutant: str
    by: str
    times: int
    detail: str

    @property
    def caught(self) -> bool:
        """Whether somebody would have noticed."""
        return self.times > 0


def without_fence(_folder: Path, _say: Say) -> Verdict:
    """The direct test of the fence, run on a store that has none."""
    pytest = ("pytest", "-q", "-p", "no:cacheprovider", FENCES)
    done = subprocess.run(
        _mutant("no-fence", *pytest), cwd=ROOT, capture_output=True, text=True, timeout=TRIAL_S, check=False
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    times = len(failed) if done.returncode == TESTS_FAILED else 0
    return Verdict("no-fence", FENCES, times, "\n".join(failed) or done.stdout[-2_000:] + done.stderr[-2_000:])


def with_torn_settle(folder: Path, say: Say) -> Verdict:
    """A soak without any trouble: a message that comes between the two transactions is never heard."""
    plan = Plan(
        "torn-settle",
        deliveries=60,
        most=timedelta(seconds=100),
        patience=timedelta(seconds=8),
        pace=0.1,
        kinds=(),
        services=(),
        commands=_commands("torn-settle", "captain"),
    )
    return _soaked("torn-settle", "every accepted delivery ends done", plan, folder, say)


def without_nonce(folder: Path, say: Say) -> Verdict:
    """A soak in which Discord loses answers: what is sent again stands in the room twice."""
    plan = Plan(
        "no-nonce",
        deliveries=20,
        most=timedelta(seconds=100),
        patience=timedelta(seconds=60),
        pace=0.1,
        wrong_s=(0.05, 0.4),
        kinds=("discord",),
        services=(),
        commands=_commands("no-nonce", "bridge"),
        caught_up=False,
    )
    return _soaked("no-nonce", "each of his messages belongs to one part", plan, folder, say)


TRIALS: Final[dict[str, Callable[[Path, Say], Verdict]]] = {
    "no-fence": without_fence,
    "torn-settle": with_torn_settle,
    "no-nonce": without_nonce,
}


def _soaked(mutant: str, invariant: str, plan: Plan, folder: Path, say: Say) -> Verdict:
    report = asyncio.run(soak(plan, folder, say))
    (check,) = [each for each in report.checks if each.name == invariant]
    # A mutant in which nothing goes well is only broken, and catching that would prove nothing.
    works = sum(each.outcome == "replied" for each in report.facts.rows.deliveries) >= WORKING
    found = [f"{each.name}: {what}" for each in report.checks for what in each.violations]
    return Verdict(mutant, f"soak: {invariant}", len(check.violations) * works, "\n".join(found))


def _commands(mutant: str, service: Service) -> Mapping[Service, Sequence[str]]:
    _, *program = _mutant(mutant, *COMMANDS[service][1:])
    return {**COMMANDS, service: program}


def _mutant(name: str, *program: str) -> list[str]:
    return [sys.executable, "-m", "tests.soak.mutants", name, *program]


def main() -> int:
    """Try them all; 0 where each was caught."""
    verdicts: list[Verdict] = []
    for name, trial in TRIALS.items():
        print(f"soak: trying {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            verdicts.append(trial(Path(folder), lambda line: print(f"soak: {line}", file=sys.stderr, flush=True)))
    print(f"{'mutant':<12}  {'caught':<6}  {'times':>5}  by")
    for each in verdicts:
        print(f"{each.mutant:<12}  {'yes' if each.caught else 'NO':<6}  {each.times:>5}  {each.by}")
        if not each.caught:
            print(each.detail)
    return 0 if all(each.caught for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())

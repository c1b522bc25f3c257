"""``python -m evals``: what ``clankie eval`` runs. Source: LOOP-8."""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

from pydantic import ValidationError

from clankie_captain.agent.model import chosen_model
from clankie_captain.errors import ConfigurationError
from clankie_settings.clock import SystemClock
from clankie_settings.environment import SettingsError, captain_settings, launch_settings, process_environment
from evals.campaign import SCRIPTED, Campaign, Plan
from evals.cases import FOLDER, CaseError, load_all
from evals.observed import MODES, Mode
from evals.processes import HouseError
from evals.report import Prices, Report, report
from evals.table import table

EX_CONFIG: Final = 78
"""The exit code that says: a setting or an argument must change first (sysexits)."""

EX_UNAVAILABLE: Final = 69
"""The exit code of an eval whose house does not stand."""

PATIENCE: Final = timedelta(minutes=5)
SCRIPTED_PATIENCE: Final = timedelta(seconds=60)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the eval; 0 when it was done, whatever its verdict is."""
    given = _parser().parse_args(arguments)
    try:
        plan = planned(given, process_environment())
        prices = _prices(given.price)
        return asyncio.run(_done(plan, Path(given.out), prices))
    except (CaseError, SettingsError, ConfigurationError, ValueError) as error:
        return _said(str(error), EX_CONFIG)
    except HouseError as error:
        return _said(f"{error}; what was done is kept: the same command goes on from there", EX_UNAVAILABLE)
    except OSError as error:
        return _said(f"{given.out} cannot be written ({error.strerror}); choose another folder with --out", EX_CONFIG)


def planned(given: argparse.Namespace, env: Mapping[str, str]) -> Plan:
    """What the command line asks for.

    Raises:
        CaseError: A case cannot be used.
        ConfigurationError: There is no model.
        SettingsError: A setting is unusable.
    """
    cases = load_all(Path(given.cases), tuple(given.case or ()))
    modes = cast("list[Mode]", [mode for mode in MODES if mode in (given.mode or MODES)])
    if given.scripted:
        return Plan(cases, modes, given.repetitions, SCRIPTED, None, {}, SCRIPTED_PATIENCE)
    provider, name = chosen_model(captain_settings(env))
    model = name if provider == name else f"{provider}:{name}"
    if provider == name:
        raise ConfigurationError("CLANKIE_MODEL=rehearsal is a rule book: say --scripted, or set a model and its key")
    judge = given.judge or launch_settings(env).eval_judge
    return Plan(cases, modes, given.repetitions, model, judge, env, PATIENCE)


async def _done(plan: Plan, out: Path, prices: Prices | None) -> int:
    results = await Campaign(plan, out, SystemClock(), lambda line: print(line, flush=True)).run()
    found = report(results, prices, scripted=plan.model == SCRIPTED)
    write(found, out)
    print(f"\n{table(found)}\n{out / 'report.md'}, report.json and report.png say the same.")
    return 0


def write(found: Report, out: Path) -> None:
    """Write the report as Markdown, JSON and a picture.

    Raises:
        OSError: The folder does not take it.
    """
    # Loading it takes seconds and leaves a cache at home: only where a picture is drawn.
    from evals.picture import draw

    (out / "report.md").write_text(table(found), encoding="utf-8")
    (out / "report.json").write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draw(found, out / "report.png")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "clankie eval", description="Play the same cases in three ways of thinking, and compare: one-shot, lane, loop."
    )
    parser.add_argument("--scripted", action="store_true", help="on the scripted provider: mechanics, without a key")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode; may be repeated")
    parser.add_argument("--case", metavar="NAME", action="append", help="only this case; may be repeated")
    parser.add_argument("--cases", metavar="FOLDER", default=str(FOLDER), help="cases of your own (*.yaml)")
    parser.add_argument("--repetitions", metavar="N", type=_repetitions, default=2, help="how often each; 2")
    parser.add_argument("--judge", metavar="MODEL", help="provider:name that judges; unsaid, CLANKIE_EVAL_JUDGE or he")
    parser.add_argument(
        "--price", metavar="IN,CACHED,OUT", help="what a million tokens cost, such as 3,0.3,15; unsaid, no cost is said"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", default="eval-results", help="results and report; goes on from there"
    )
    return parser


def _repetitions(value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value) <= 100:
        raise argparse.ArgumentTypeError("a whole number from 1 to 100")
    return int(value)


def _prices(given: str | None) -> Prices | None:
    if given is None:
        return None
    try:
        fresh, cached, output = (float(each) for each in given.split(","))
        return Prices(input=fresh, cached=cached, output=output)
    except (ValueError, ValidationError):
        raise ValueError("--price: expected three prices of a million tokens: input, cached input, output") from None


def _said(text: str, code: int) -> int:
    print(f"clankie eval: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

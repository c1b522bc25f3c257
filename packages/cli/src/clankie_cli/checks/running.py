"""What runs: the captain, and the bridge as the captain knows it."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from clankie_cli import status
from clankie_cli.checks.finding import Finding, ok, skipped, wrong
from clankie_cli.checks.folders import holder
from clankie_settings.schema import LaunchSettings
from clankie_settings.secrets import TokenFileError

AWAY_AFTER: Final = timedelta(minutes=1)
"""A presence that was not heard of for so long has gone; a live one is heard of every quarter of a minute."""

Json = dict[str, Any]


async def looked_at(settings: LaunchSettings, state: Path, now: datetime) -> list[Finding]:
    """A line for the captain and one for the bridge."""
    try:
        found = await status.ask(settings)
    except TokenFileError as error:
        return [wrong("captain", str(error)), skipped("bridge", "the captain comes first")]
    if not found.reachable:
        return [_unreachable(found, state), skipped("bridge", "the captain comes first")]
    if found.problem:
        return [wrong("captain", f"{found.url}: {found.problem}"), skipped("bridge", "the captain comes first")]
    held = status.held_back(state, now)
    bridge = _bridge(found.stats, now) if held is None else wrong("bridge", held)
    return [ok("captain", f"ready at {found.url}, version {found.stats.get('version')}"), bridge]


def _unreachable(found: status.Found, state: Path) -> Finding:
    process = holder(state / "captain.lock")
    if process is None:
        return wrong("captain", f"{found.url}: {found.problem}")
    said = f"process {process} holds the state folder, and nothing answers at {found.url}"
    return wrong("captain", f"{said}: set CLANKIE_CAPTAIN_URL as that captain has it, or end it")


def _bridge(stats: Json, now: datetime) -> Finding:
    for each in cast("list[Json]", stats.get("presences") or []):
        if each.get("id") == "discord":
            try:
                away = now - datetime.fromisoformat(str(each.get("alive_at")))
            except (TypeError, ValueError):
                break
            if away <= AWAY_AFTER:
                return ok("bridge", "the captain hears of it")
            return wrong(
                "bridge", f"last heard of {round(away.total_seconds())} s ago: see its log; clankie up starts it"
            )
    return wrong("bridge", "it never reached the captain: see its log; clankie up starts it")

"""``clankie status``: how the captain is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

import httpx

from clankie_cli.plan import trial_folder
from clankie_cli.tokens import bearer
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import launch_settings
from clankie_settings.heartbeat import Heartbeat
from clankie_settings.schema import LaunchSettings

ANSWER_WITHIN: Final = timedelta(seconds=5)
"""How long the captain may take to answer."""

UP, NOT_READY, NOT_REACHABLE = 0, 1, 3

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What the captain said. ``problem`` is what is wrong and what to do, or None.

    ``held_back`` is why the bridge of this state folder asks Discord nothing, or None.
    """

    url: str
    reachable: bool = False
    ready: bool = False
    problem: str | None = None
    held_back: str | None = None
    stats: Json = field(default_factory=dict[str, Any])

    @property
    def code(self) -> int:
        """The command's exit code."""
        if not self.reachable:
            return NOT_REACHABLE
        return UP if self.ready and self.problem is None and self.held_back is None else NOT_READY


async def run(env: Mapping[str, str], *, as_json: bool, clock: Clock | None = None) -> int:
    """Ask the captain and print what it said: exit code 0 up, 1 not ready, 3 not reachable.

    Raises:
        SettingsError: A setting is unusable.
        TokenFileError: The state folder can neither hold nor give the operator's token.
    """
    settings, now = launch_settings(env), (clock or SystemClock()).now()
    found = replace(await ask(settings), held_back=held_back(settings.state, now))
    print(json.dumps(asdict(found), indent=2) if as_json else table(found, now))
    return found.code


def held_back(state: Path, now: datetime) -> str | None:
    """Why the bridge of a state folder, or of its trial, asks Discord nothing; None where that is not so."""
    found = (Heartbeat.of(each).held_back(now) for each in (state, trial_folder(state)))
    return next((each for each in found if each is not None), None)


async def ask(settings: LaunchSettings) -> Found:
    """What the captain says about itself.

    Raises:
        TokenFileError: The state folder can neither hold nor give the operator's token.
    """
    url = settings.captain_url
    async with httpx.AsyncClient(base_url=url, timeout=ANSWER_WITHIN.total_seconds(), trust_env=False) as http:
        try:
            ready = await http.get("/readyz")
            if ready.status_code != 200:
                return Found(url, reachable=True, problem=_detail(ready))
            stats = await http.get("/v1/stats", headers=bearer(settings, "operator"))
        except httpx.HTTPError:
            return Found(url, problem="nothing answers there; start it with: clankie up")
    if stats.status_code in (401, 403):
        said = "it runs with another state folder: set CLANKIE_STATE or CLANKIE_OPERATOR_TOKEN as it has them"
        return Found(url, reachable=True, ready=True, problem=said)
    if stats.status_code != 200 or not (said := _object(stats)):
        return Found(url, reachable=True, ready=True, problem=_detail(stats))
    return Found(url, reachable=True, ready=True, stats=said)


def table(found: Found, now: datetime) -> str:
    """The answer as a person reads it."""
    word = "ready" if found.ready else "not ready" if found.reachable else "not reachable"
    rows = [("captain", f"{word} at {found.url}")]
    if found.problem:
        rows.append(("problem", found.problem))
    if found.held_back:
        rows.append(("bridge", found.held_back))
    if found.stats:
        uptime = timedelta(seconds=int(found.stats.get("uptime_s", 0)))
        rows += [
            ("version", f"{found.stats.get('version')}, up for {uptime}"),
            ("live runs", str(found.stats.get("live_runs"))),
            ("waiting", f"{found.stats.get('waiting')} turns"),
            ("background", _background(found.stats.get("children") or {})),
            ("lanes", str(found.stats.get("lanes"))),
            *_presences(found.stats.get("presences") or [], now),
        ]
    return "\n".join(f"{name:<10} {value}" for name, value in rows)


def _background(children: Json) -> str:
    return f"{children.get('running', 0)} at work, {children.get('waiting', 0)} waiting"


def _presences(presences: list[Json], now: datetime) -> list[tuple[str, str]]:
    if not presences:
        return [("presences", "none was ever here; the bridge says why in its log")]
    return [("presence", f"{each.get('id')}, last alive {_ago(each.get('alive_at'), now)}") for each in presences]


def _ago(moment: object, now: datetime) -> str:
    try:
        seconds = max(0, round((now - datetime.fromisoformat(str(moment))).total_seconds()))
    except (TypeError, ValueError):
        return "never"
    return f"{seconds} s ago" if seconds < 120 else f"{timedelta(seconds=seconds)} ago"


def _object(answer: httpx.Response) -> Json:
    try:
        said: Any = answer.json()
    except ValueError:
        return {}
    return cast("Json", said) if isinstance(said, dict) else {}


def _detail(answer: httpx.Response) -> str:
    detail = _object(answer).get("detail")
    return (
        str(detail) if detail else f"it answers {answer.status_code}, which is no captain's answer; is the port right?"
    )

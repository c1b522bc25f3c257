"""``clankie doctor``: look at everything that has to be right, and say what is not. Source: OPS-9."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from clankie_cli.checks import bot, folders, guilds, programs, running
from clankie_cli.checks.discord import Discord
from clankie_cli.checks.finding import Finding, ok, skipped, wrong
from clankie_cli.plain import plain
from clankie_cli.plan import trial_folder
from clankie_settings.clock import Clock, SystemClock
from clankie_settings.environment import CONFIG, SettingsError, bridge_settings, captain_settings, launch_settings
from clankie_settings.schema import BridgeSettings, CaptainSettings

NO_DISCORD = "DISCORD_BOT_TOKEN is not set, so clankie up runs on the stage; clankie init sets up your own Discord"

OF_A_TRIAL = ("rooms", "roles", "actors", "tool_sets", "system_actors", "machine_network")
"""What a trial reads in its own ``clankie.toml``, of all that is looked at here."""


async def run(env: Mapping[str, str], *, ask_model: bool, as_json: bool) -> int:
    """Print a line a check; 0 where nothing is wrong, 1 where something is."""
    found = await examined(env, ask_model=ask_model)
    fine = not any(each.state == "wrong" for each in found)
    if as_json:
        print(json.dumps({"ok": fine, "checks": [asdict(each) for each in found]}, indent=2))
    else:
        print(table(found))
    return 0 if fine else 1


def table(found: Sequence[Finding]) -> str:
    """The findings as a person reads them, a line each."""
    return "\n".join(f"{each.state:<8} {each.check:<12} {plain(each.said)}" for each in found)


async def examined(
    env: Mapping[str, str], *, ask_model: bool = False, runs: bool = True, clock: Clock | None = None
) -> list[Finding]:
    """Every finding; without ``runs`` whatever is not started yet is left out."""
    try:
        launch, captain, bridge = launch_settings(env), captain_settings(env), bridge_settings(env)
        trial = launch.discord_bot_token is None
        state = trial_folder(launch.state) if trial else launch.state
        captain = _of_trial(captain, state) if trial else captain
    except SettingsError as error:
        return [wrong("settings", str(error)), skipped("the rest", "the settings come first")]
    time = clock or SystemClock()
    async with asyncio.TaskGroup() as group:
        file = {CONFIG: str(_file_of_trial(state))} if trial else {}
        refusal = group.create_task(programs.refusal({**env, **file}))
        outside = group.create_task(_discord(bridge, time))
        models = group.create_task(programs.models(env, captain, ask=ask_model, trial=trial))
        database = group.create_task(programs.database(env, captain, state))
        films = group.create_task(programs.ffmpeg(env))
        machine = group.create_task(programs.machine(env, captain, state))
        pages = group.create_task(programs.pages(env, captain))
        served = group.create_task(programs.servers(env, captain))
        alive = group.create_task(running.looked_at(launch, state, time.now())) if runs else None
    return [
        _settings(bridge, refusal.result()),
        *outside.result(),
        *models.result(),
        films.result(),
        pages.result(),
        machine.result(),
        *served.result(),
        programs.paintings(captain),
        *folders.state(state),
        folders.secrets(state, Path(".env")),
        # A trial takes no folder over.
        folders.attachments(
            *[state / "attachments" if trial else each.discord_attachment_root for each in (captain, bridge)]
        ),
        *database.result(),
        *(alive.result() if alive else ()),
    ]


def _of_trial(captain: CaptainSettings, state: Path) -> CaptainSettings:
    """What the captain of a trial would read: who may do what stands in the trial's folder, and nowhere else."""
    file = _file_of_trial(state)
    try:
        own = captain_settings({CONFIG: str(file)})
    except SettingsError as error:
        raise SettingsError(error.name, f"{error.reason} (the trial's, {file})") from error
    fields = OF_A_TRIAL if "tools" in captain.model_fields_set else (*OF_A_TRIAL, "tools")
    return captain.model_copy(update={field: getattr(own, field) for field in fields})


def _file_of_trial(state: Path) -> Path:
    file = state / "clankie.toml"
    return file if file.exists() else Path(os.devnull)


def _settings(bridge: BridgeSettings, refusal: str | None) -> Finding:
    if refusal is not None:
        return wrong("settings", refusal)
    if bridge.discord_dm_policy == "owner" and bridge.owner_id is None:
        return wrong("settings", "CLANKIE_DISCORD_DM_POLICY is owner, and nobody is: set CLANKIE_OWNER_ID to your id")
    if bridge.discord_dm_policy == "allowlist" and bridge.owner_id is None and not bridge.discord_users:
        return wrong("settings", "CLANKIE_DISCORD_DM_POLICY is allowlist, and it is empty: set CLANKIE_DISCORD_USERS")
    return ok("settings", "every setting is known and usable")


async def _discord(settings: BridgeSettings, clock: Clock) -> list[Finding]:
    if settings.discord_bot_token is None:
        return [skipped("token", NO_DISCORD)]
    async with Discord.opened(settings.discord_bot_token, settings.discord_rest_url) as discord:
        known, found = await bot.looked_at(discord, clock.now())
        if known is None:
            return [*found, skipped("server", "the token comes first")]
        return [*found, *await guilds.looked_at(discord, known, settings)]

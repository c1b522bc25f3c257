"""What ``clankie up`` starts, in which folder and with which environment. Decides, and starts nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from clankie_cli.errors import CannotRun
from clankie_settings.environment import bridge_settings, captain_settings, variable
from clankie_settings.schema import CaptainSettings, LaunchSettings, SharedSettings

NO_MODEL: Final = (
    "there is a Discord token, but no model: set ANTHROPIC_API_KEY or OPENAI_API_KEY in .env "
    "(or CLANKIE_MODEL and CLANKIE_MODEL_BASE_URL for a model server of your own)"
)
NO_NAME: Final = "CLANKIE_MODEL_BASE_URL is set, but no model: set CLANKIE_MODEL too, for example openai:NAME"
NO_REHEARSAL: Final = (
    "CLANKIE_MODEL=rehearsal is the stage's model, and the stage does not run beside your Discord: "
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or leave DISCORD_BOT_TOKEN empty to rehearse"
)

FORWARDED: Final = (
    "model", "model_base_url", "model_fallbacks", "model_window", "anthropic_api_key", "openai_api_key",
    "google_api_key", "persona_file", "images", "stall_seconds", "drain_seconds", "live_runs", "names", "reply_policy",
    "catch_up_minutes", "discord_bots", "actor_messages", "room_tokens_a_day", "tokens_a_day", "tools",
    "keep_days", "keep_picture_days", "otel_exporter_otlp_endpoint",
    "browser", "browser_sandbox", "image_model", "image_base_url", "mcp_file",
    "search", "search_url", "brave_api_key",
    "captain_url", "captain_bind", "captain_token", "operator_token",
)  # fmt: skip
"""What a trial on the stage takes over from the settings."""

NOT_FORWARDED: Final = frozenset({
    "state", "discord_attachment_root", "database_url", "discord_bot_token", "discord_rest_url", "cdn_loopback",
    "discord_guilds", "discord_channels", "discord_users", "discord_roles", "discord_dm_policy", "owner_id",
    "rooms", "room_loop", "presences", "actors", "roles", "tool_sets", "system_actors", "system_rooms",
    "workspace", "machine_network",
})  # fmt: skip
"""What a trial has of its own: its state, the stage's addresses, and who is where on it."""


@dataclass(frozen=True, slots=True)
class Program:
    """One process to run.

    Attributes:
        name: What the log calls it.
        module: What ``python -m`` runs.
        env: Its whole environment.
        folder: Where it runs; None is here.
    """

    name: str
    module: str
    env: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """What a running stage says about itself: its address, the bot's token, the owner, and the people on it."""

    url: str
    token: str
    owner_id: str
    people: tuple[str, ...]


def trial_folder(state: Path) -> Path:
    """The state folder of trials on the stage, so that a trial never mixes with the real thing."""
    return state / "stage"


def make_trial_folder(state: Path) -> None:
    """Make the state folder of trials, in which their programs run.

    Raises:
        CannotRun: It cannot be made.
    """
    folder = trial_folder(state)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise CannotRun(f"{folder}: {reason}; set CLANKIE_STATE to a folder that can be written") from error


def on_discord(settings: LaunchSettings, env: Mapping[str, str]) -> tuple[Program, ...]:
    """Captain and bridge as they are set up.

    Raises:
        CannotRun: No model is configured, or one that only the stage has.
    """
    if settings.model == "rehearsal" and settings.model_base_url is None:
        raise CannotRun(NO_REHEARSAL)
    if not _has_model(settings):
        raise CannotRun(NO_NAME if settings.model_base_url else NO_MODEL)
    return _services({**env, **_direct(env)}, None)


def stage(settings: LaunchSettings, env: Mapping[str, str]) -> Program:
    """The stage itself.

    Raises:
        CannotRun: A model server is named, and no model.
    """
    if settings.model_base_url is not None and not _has_model(settings):
        raise CannotRun(NO_NAME)
    arguments = ("--port", str(settings.stage_port), "--model", model_name(settings))
    return Program("stage", "clankie_stage", _foreign(env), arguments)


def on_stage(settings: LaunchSettings, env: Mapping[str, str], told: Stage) -> tuple[Program, ...]:
    """Captain and bridge for a trial: with a state folder of their own, and everybody on the stage admitted.

    They run in that folder, where neither the owner's ``.env`` nor ``clankie.toml`` narrows the trial.

    Raises:
        SettingsError: A setting is unusable.
    """
    folder = trial_folder(settings.state)
    forwarded = {**_forwarded(captain_settings(env)), **_forwarded(bridge_settings(env))}
    trial = {
        "CLANKIE_STATE": str(folder),
        "DISCORD_BOT_TOKEN": told.token,
        "CLANKIE_DISCORD_REST_URL": f"{told.url}/api/v10",
        "CLANKIE_CDN_LOOPBACK": f"{told.url}/cdn",
        "CLANKIE_DISCORD_GUILDS": "*",
        # Everybody, since a DM is read only from somebody who is named, and who is not named is not heard in rooms.
        "CLANKIE_DISCORD_USERS": ",".join(told.people),
        "CLANKIE_DISCORD_DM_POLICY": "allowlist",
        "CLANKIE_OWNER_ID": told.owner_id,
    }
    if model_name(settings) == "rehearsal" and settings.model_base_url is None:
        trial |= {"CLANKIE_MODEL": "rehearsal", "CLANKIE_MODEL_BASE_URL": f"{told.url}/provider/v1"}
    return _services({**_foreign(env), **_direct(env), **forwarded, **trial}, folder)


def model_name(settings: LaunchSettings) -> str:
    """The model as it is shown to a person."""
    if settings.model is not None:
        return settings.model
    providers = (("anthropic", settings.anthropic_api_key), ("openai", settings.openai_api_key))
    return next((f"{name}'s default" for name, key in providers if key is not None), "rehearsal")


def _has_model(settings: LaunchSettings) -> bool:
    return any((settings.model, settings.anthropic_api_key, settings.openai_api_key))


def _services(env: Mapping[str, str], folder: Path | None) -> tuple[Program, ...]:
    return (
        Program("captain", "clankie_captain", env, folder=folder),
        Program("bridge", "clankie_bridge", env, folder=folder),
    )


def _foreign(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without anything that is Clankie's."""
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "BRAVE_API_KEY")
    ours = ("CLANKIE_", "DISCORD_BOT_TOKEN", *keys)
    return {name: value for name, value in env.items() if not name.startswith(ours)}


def _direct(env: Mapping[str, str]) -> dict[str, str]:
    """No proxy between processes of one machine."""
    given = env.get("no_proxy") or env.get("NO_PROXY") or ""
    hosts = ",".join(dict.fromkeys([*(each for each in given.split(",") if each), "127.0.0.1", "localhost", "::1"]))
    return {"NO_PROXY": hosts, "no_proxy": hosts}


def _forwarded(settings: SharedSettings) -> dict[str, str]:
    chosen = settings.model_fields_set & set(FORWARDED)
    found = {variable(field): _text(getattr(settings, field)) for field in sorted(chosen)}
    if isinstance(settings, CaptainSettings) and "tools" in chosen:
        # Written out, since the sets stay behind.
        sets = settings.tool_sets
        found[variable("tools")] = _text([tool for name in settings.tools for tool in sets.get(name, (name,))])
    return found


def _text(value: Any) -> str:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value.expanduser().absolute())
        case str():
            return value
        case Sequence():
            return ",".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        case _:
            return str(value)

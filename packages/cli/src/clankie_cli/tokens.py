"""``clankie token``: a token for curl."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from clankie_cli.plan import trial_folder
from clankie_settings import secrets
from clankie_settings.environment import launch_settings
from clankie_settings.schema import LaunchSettings

NAMES: Final = {"captain": "captain-token", "operator": "operator-token"}
"""Files of the state folder's ``secrets``, by whose token they hold."""


def run(env: Mapping[str, str], of: str) -> int:
    """Print the token.

    Raises:
        SettingsError: A setting is unusable.
        TokenFileError: The state folder can neither hold nor give it.
    """
    print(token(launch_settings(env), of).get_secret_value())
    return 0


def token(settings: LaunchSettings, of: str) -> SecretStr:
    """The token of ``captain`` (the bridge's at the captain) or ``operator``: as set, else as the state folder has it.

    Raises:
        TokenFileError: The state folder can neither hold nor give it.

    Source: SEC-1.
    """
    given = settings.captain_token if of == "captain" else settings.operator_token
    return secrets.token(given, _state(settings, NAMES[of]), NAMES[of])


def bearer(settings: LaunchSettings, of: str) -> dict[bytes, bytes]:
    """The header that carries the token; as bytes, since what somebody set may hold any letter.

    Raises:
        TokenFileError: The state folder can neither hold nor give it.
    """
    return {b"Authorization": f"Bearer {token(settings, of).get_secret_value()}".encode()}


def _state(settings: LaunchSettings, name: str) -> Path:
    """The folder of whatever runs: the trial's without a Discord token, unless only the other one has such a file."""
    trial = trial_folder(settings.state)
    if settings.discord_bot_token is not None:
        return settings.state
    return settings.state if _has(settings.state, name) and not _has(trial, name) else trial


def _has(state: Path, name: str) -> bool:
    return (state / "secrets" / name).exists()

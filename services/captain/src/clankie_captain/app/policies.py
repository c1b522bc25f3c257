"""What the owner's settings mean for the captain as a whole."""

from pathlib import Path
from typing import Final

from clankie_captain.api.auth import Keys
from clankie_captain.errors import ConfigurationError
from clankie_settings import secrets
from clankie_settings.ids import PresenceId
from clankie_settings.schema import CaptainSettings

DISCORD: Final = PresenceId("discord")
"""The presence whose token is ``CLANKIE_CAPTAIN_TOKEN``."""


def keys(settings: CaptainSettings) -> Keys:
    """The tokens of the presences and of the operator.

    Raises:
        ConfigurationError: Two are alike, or a table takes the bridge's name.
        TokenFileError: The state folder can neither hold nor give one.
    """
    discord = secrets.token(settings.captain_token, settings.state, "captain-token").get_secret_value()
    operator = secrets.token(settings.operator_token, settings.state, "operator-token").get_secret_value()
    own = {PresenceId(name): each.token.get_secret_value() for name, each in settings.presences.items()}
    if DISCORD in own:
        raise ConfigurationError("presences.discord: its token is CLANKIE_CAPTAIN_TOKEN; remove the table")
    presences = {DISCORD: discord, **own}
    if len({*presences.values(), operator}) != len(presences) + 1:
        raise ConfigurationError("two tokens are alike; give each presence and the operator one of their own")
    return Keys(presences, operator)


def database_url(settings: CaptainSettings) -> str:
    """Where the lanes are kept.

    Raises:
        ConfigurationError: In no database of this version.
    """
    url = settings.database_url or f"sqlite+aiosqlite:///{settings.state / 'captain.db'}"
    if not url.startswith("sqlite+aiosqlite:"):
        raise ConfigurationError("CLANKIE_DATABASE_URL: this version keeps its lanes in SQLite; unset the variable")
    return url


def persona(path: Path | None) -> str | None:
    """The owner's text of who he is, word for word.

    Raises:
        ConfigurationError: It cannot be read.
    """
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("CLANKIE_PERSONA_FILE: the file cannot be read as UTF-8 text") from error

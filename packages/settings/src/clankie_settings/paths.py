"""State folder and attachment root: one derivation for every process.

Two processes that read one path differently lose a reply's picture, and once lost its words as well;
so nobody else derives these. Source: ART-1.
"""

from collections.abc import Mapping
from pathlib import Path

import platformdirs


def _set(env: Mapping[str, str], name: str) -> str | None:
    value = env.get(name, "").strip()
    return value or None


def state_folder(env: Mapping[str, str]) -> Path:
    """The folder that holds everything durable, absolute.

    ``CLANKIE_STATE``, or the platform's user state folder; a blank value is unset.

    Source: ART-1.
    """
    chosen = _set(env, "CLANKIE_STATE")
    folder = Path(chosen).expanduser() if chosen else platformdirs.user_state_path("clankie", appauthor=False)
    return folder.absolute()


def attachment_root(env: Mapping[str, str]) -> Path:
    """The folder under which tools write pictures and the bridge resolves them, absolute.

    ``CLANKIE_DISCORD_ATTACHMENT_ROOT``, else ``<state>/attachments``; a blank value is unset.

    Source: ART-1.
    """
    chosen = _set(env, "CLANKIE_DISCORD_ATTACHMENT_ROOT")
    return Path(chosen).expanduser().absolute() if chosen else state_folder(env) / "attachments"

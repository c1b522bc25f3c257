"""How the bridge shows whether it lives, in files that a health check and the command line read. Source: C49."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

CODES: Final = "401 wants a new token (DISCORD_BOT_TOKEN), 403 permissions (clankie doctor), 429 patience"
"""What to do about the answers for which Discord would ban an address."""


class Heartbeat:
    """One file that is touched while the bridge lives, and one that says until when it asks Discord nothing.

    Args:
        folder: The bridge's own folder.
    """

    def __init__(self, folder: Path) -> None:
        self._alive = folder / "alive"
        self._held = folder / "held-back"

    @classmethod
    def of(cls, state: Path) -> "Heartbeat":
        """That of the bridge of a state folder."""
        return cls(state / "bridge")

    def beat(self) -> None:
        """Show that it lives and asks what it likes.

        Raises:
            OSError: The folder or the disk does not take it.
        """
        self._alive.parent.mkdir(parents=True, exist_ok=True)
        self.release()
        self._alive.touch()

    def hold(self, until: datetime) -> None:
        """Show that Discord is asked nothing until then.

        Raises:
            OSError: The folder or the disk does not take it.
        """
        self._held.parent.mkdir(parents=True, exist_ok=True)
        self._held.write_text(until.astimezone(UTC).isoformat(), "ascii")

    def release(self) -> None:
        """Show that nothing is held back.

        Raises:
            OSError: The disk does not take it.
        """
        self._held.unlink(missing_ok=True)

    def held_back(self, now: datetime) -> str | None:
        """Why the bridge is not well although it runs, until when, and what to do; None where that is not so."""
        try:
            until = datetime.fromisoformat(self._held.read_text("ascii"))
        except (OSError, ValueError):
            return None
        if until.tzinfo is None or until <= now:
            return None
        return (
            f"held back by Discord's limits until {until.astimezone(UTC):%H:%M} UTC: nothing is sent, nothing is lost. "
            f"See the codes in its log: {CODES}"
        )

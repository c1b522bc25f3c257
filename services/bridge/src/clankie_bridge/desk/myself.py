"""Who he is on this platform, as soon as the gateway has said it."""

from clankie_bridge.core.addressing import Identity, Names
from clankie_bridge.discord.directory import Directory


class Myself:
    """His own id, and by it who he is in each guild.

    Attributes:
        id: None before the gateway is ready.
    """

    def __init__(self, directory: Directory, names: Names) -> None:
        self._directory = directory
        self._names = names
        self.id: str | None = None

    def identity(self, guild_id: str | None) -> Identity:
        """Who he is in a guild."""
        bot_id = self.id or ""
        return Identity(bot_id, self._directory.roles_of(guild_id, bot_id), self._names)

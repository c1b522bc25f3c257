"""Verbs that look at what happened, and wait for it."""

from clankie_stage.discord.recording import fits
from clankie_stage.discord.verbs.parts import Verbs
from clankie_stage.discord.world import Json

PATIENCE_S = 60.0
"""Seconds that a wait lasts when the caller does not say."""


class Looking(Verbs):
    """The recording, the rooms, and waiting with a deadline."""

    def messages(self, room: str = "general") -> list[Json]:
        """The messages of a room, oldest first, as REST shows them."""
        return [
            self.parts.happenings.payloads.rest(each) for each in self.parts.world.room_named(room).messages.values()
        ]

    def shown(self, room: str = "general") -> list[Json]:
        """The messages of a room as the page shows them: with who reacted."""
        place = self.parts.world.room_named(room)
        return [self.parts.happenings.payloads.shown(each) for each in place.messages.values()]

    def recorded(self, match: Json | None = None, *, after: int = 0) -> list[Json]:
        """Recorded entries beyond an index that fit ``match``; see `recording.fits`."""
        return [entry.payload() for entry in self.parts.recording.matching(match or {}, after)]

    def typings(self, room: str = "general", *, after: int = 0) -> list[Json]:
        """The bot's typing calls in a room."""
        path = f"/channels/{self.parts.world.room_named(room).id}/typing"
        return self.recorded({"kind": "rest", "method": "POST", "path": path}, after=after)

    def mark(self) -> int:
        """The index of the newest recorded entry, to look only at later ones."""
        return self.parts.recording.last

    async def wait(self, match: Json, *, count: int = 1, after: int = 0, within_s: float = PATIENCE_S) -> list[Json]:
        """Recorded entries that fit, once there are ``count`` of them.

        Raises:
            TimeoutError: there were fewer in time.
        """
        found: list[Json] = []
        seen = after

        def enough() -> list[Json] | None:
            nonlocal seen
            found.extend(self.recorded(match, after=seen))
            seen = max(self.mark(), after)
            return found if len(found) >= count else None

        return await self.parts.changes.until(enough, within_s)

    async def wait_messages(
        self, room: str = "general", *, match: Json | None = None, count: int = 1, within_s: float = PATIENCE_S
    ) -> list[Json]:
        """Messages of a room that fit, once there are ``count`` of them; ``{"author": {"bot": true}}`` are replies.

        Raises:
            TimeoutError: there were fewer in time.
        """

        def enough() -> list[Json] | None:
            found = [each for each in self.messages(room) if fits(match or {}, each)]
            return found if len(found) >= count else None

        return await self.parts.changes.until(enough, within_s)

    async def wait_connected(self, *, count: int = 1, within_s: float = PATIENCE_S) -> int:
        """How many sessions are connected, once there are ``count``.

        Raises:
            TimeoutError: there were fewer in time.
        """
        return await self.parts.changes.until(
            lambda: (n := len(self.parts.sessions.connected())) >= count and n, within_s
        )

    async def wait_held(self, hold: str, *, within_s: float = PATIENCE_S) -> None:
        """Return once a request is held under this name.

        Raises:
            TimeoutError: none was in time.
        """
        await self.parts.changes.until(lambda: hold in self.parts.faults.held, within_s)

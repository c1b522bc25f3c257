"""How beats reach a client: the port that each wire shape fills."""

from typing import Protocol

from clankie_stage.provider.beats import Call, Fail, FinishReason, Search


class Voice(Protocol):
    """One answer being given, in some provider's wire shape."""

    async def open(self) -> None:
        """Send status and headers."""
        ...

    async def say(self, text: str) -> None:
        """Send answer text."""
        ...

    async def think(self, text: str) -> None:
        """Send reasoning."""
        ...

    async def decline(self, text: str) -> None:
        """Send words of a refusal."""
        ...

    async def call(self, call: Call) -> None:
        """Send a tool call."""
        ...

    async def search(self, search: Search) -> None:
        """Send a search of the provider's own and what it found."""
        ...

    async def ping(self) -> None:
        """Send bytes that mean nothing."""
        ...

    async def fail(self, fail: Fail) -> None:
        """Send an error, and end."""
        ...

    async def finish(self, reason: FinishReason) -> None:
        """Send the terminal event, and end."""
        ...

    async def end(self) -> None:
        """End without a terminal event."""
        ...

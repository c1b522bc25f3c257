"""Where the captain's parts meet; ``app.py`` joins them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from clankie_captain.core.run import Draft, Finish, Order, Usage, Words

UpdateFate = Literal["posted", "refused", "unknown"]
"""What became of mid-turn words: in the room, not in the room, or nobody knows and it must not be repeated."""


@dataclass(frozen=True, slots=True)
class UpdateOutcome:
    """The fate of mid-turn words; ``reason`` is a sentence for the model where they were refused. Source: ROOM-3."""

    fate: UpdateFate
    reason: str = ""


class RunLine(Protocol):
    """A live run's line to its lane: the loop tells it what happens and takes what was steered.

    Every method that writes first proves that the run still owns its lane.

    Raises:
        FencedError: The run no longer owns its lane; the loop must end at once, whatever it holds.
    """

    async def boundary(self) -> Sequence[Words]:
        """The words that were steered into the run and that no request carries yet, in the order of acceptance.

        Called before each model request; what it returned must be part of the very next request.

        Source: LANE-3, LANE-16.
        """
        ...

    async def record(self, drafts: Sequence[Draft]) -> None:
        """Store entries: a request before it is sent, a response once it is whole.

        With a request, the words that the last ``boundary`` returned (and the order's own) become heard.

        Source: LANE-13, DUR-1.
        """
        ...

    async def cut(self, kept: int) -> None:
        """Leave out of the lane's history everything but the newest ``kept`` entries, from now on. Source: CTX-8."""
        ...

    def event(self) -> None:
        """A token, hidden reasoning, a tool call, a tool's progress, or a retry: a sign of life. Source: FAIL-3."""
        ...

    def received(self) -> None:
        """Bytes came from the provider without making an event. Source: FAIL-3."""
        ...

    def requesting(self) -> None:
        """A model request begins: what the model wrote before is not its answer. Source: ROOM-2."""
        ...

    def wrote(self, text: str) -> None:
        """The model wrote these further words of the present response. Counts as an event. Source: ROOM-2."""
        ...

    def spent(self, usage: Usage) -> None:
        """One model request was answered and cost this. Source: OPS-6."""
        ...

    async def update(self, text: str) -> UpdateOutcome:
        """Post mid-turn words to the room as a reply to the message being answered. Source: ROOM-3."""
        ...


class Loop(Protocol):
    """A model with its tools, asked until it has answered."""

    async def think(self, order: Order, line: RunLine) -> Finish:
        """Run until the model's last response, or until it cannot go on.

        Never raises for what a provider does; that is a ``Broken``. Cancelling it closes the provider's stream.

        Raises:
            FencedError: The line refused.
            asyncio.CancelledError: The run was aborted.
        """
        ...

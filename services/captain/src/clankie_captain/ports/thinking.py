"""What thinks, and whom it tells; ``agent`` keeps these promises."""

from collections.abc import Sequence
from typing import Protocol

from clankie_captain.core.activity import ToolState
from clankie_captain.core.children import Calls, ForkOutcome
from clankie_captain.core.compaction import Digest
from clankie_captain.core.run import (
    Broken,
    CallEnd,
    Draft,
    Finish,
    Order,
    UpdateOutcome,
    Usage,
    Words,
)
from clankie_captain.ports.hands import Hands
from clankie_captain.ports.web import Searcher


class Vitals(Protocol):
    """Whom the loop tells that a model is at work, and what it cost. Source: FAIL-3."""

    def event(self) -> None:
        """A token, hidden reasoning, or another try: a sign of life."""
        ...

    def received(self) -> None:
        """Bytes came from the provider without making an event."""
        ...

    def spent(self, usage: Usage) -> None:
        """One model request was answered and cost this. Source: OPS-6."""
        ...


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

    async def picture(self, digest: str) -> bytes | None:
        """The bytes of a stored picture; None where they are gone. Source: IMG-7."""
        ...

    async def unsee(self, gone: Sequence[str]) -> None:
        """Let words stand in the lane's history, from now on, where these stand-ins of pictures do. Source: LANE-14."""
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

    def tool(self, name: str, state: ToolState) -> None:
        """A tool call began, or has its result. Counts as an event. Source: ROOM-4."""
        ...

    def spent(self, usage: Usage, *, aside: bool = False) -> None:
        """One model request was answered and cost this; one ``aside`` was a tool's own, and not the lane's.

        Source: OPS-6.
        """
        ...

    async def refusal(self, tool: str) -> str | None:
        """Why the run may not call a tool now, in words for the model; None where it may.

        Asked at each call: what somebody could do when the run began may be withdrawn by now.

        Source: GRANT-3, GRANT-5.
        """
        ...

    @property
    def hands(self) -> Hands:
        """What its tools work with."""
        ...

    async def update(self, text: str, call: str | None = None) -> UpdateOutcome:
        """Post mid-turn words to the room as a reply to the message being answered.

        ``call`` is the id of the tool call that sends them.

        Source: ROOM-3.
        """
        ...

    async def fork(self, task: str, calls: Calls) -> ForkOutcome:
        """Let work go on in the background, with the lane's history as its beginning. Source: LOOP-6."""
        ...

    async def finish(self, call: str, payload: str) -> None:
        """Keep the result of a call whose tool has ended, until a request carries it. Source: DUR-2."""
        ...

    async def finished(self, call: str) -> CallEnd | None:
        """What is known of a call that a history ends in, None where its outcome is unknown. Source: DUR-2."""
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

    @property
    def window(self) -> int | None:
        """The model's context window in tokens; None where nobody knows. Source: CTX-7."""
        ...

    @property
    def searcher(self) -> Searcher | None:
        """The search that its provider has; None where it has none. It ends with the loop."""
        ...

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        """Notes on older talk, as the payload of the entry that holds them.

        Never raises for what a provider does; that is a ``Broken``. Cancelling it closes the provider's stream.

        Source: CTX-7.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections to the provider; nothing thinks any more."""
        ...

"""A run's line to its lane that remembers having been refused."""

from collections.abc import Sequence

from clankie_captain.core.activity import ToolState
from clankie_captain.core.children import Calls, ForkOutcome
from clankie_captain.core.run import CallEnd, Draft, UpdateOutcome, Usage, Words
from clankie_captain.errors import FencedError
from clankie_captain.ports import Hands, RunLine


class Tether(RunLine):
    """Hands everything to the lane's line.

    What it raises passes through other people's code (tools, the loop library, HTTP clients), which may wrap it; so the
    refusal is kept in ``fence`` for whoever began the run.
    """

    def __init__(self, line: RunLine) -> None:
        self._line = line
        self.fence: FencedError | None = None

    async def boundary(self) -> Sequence[Words]:
        """Take what was steered."""
        try:
            return await self._line.boundary()
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def record(self, drafts: Sequence[Draft]) -> None:
        """Store entries."""
        try:
            await self._line.record(drafts)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def picture(self, digest: str) -> bytes | None:
        """The bytes of a stored picture."""
        return await self._line.picture(digest)

    async def unsee(self, gone: Sequence[str]) -> None:
        """Let words stand where pictures stood."""
        try:
            await self._line.unsee(gone)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def cut(self, kept: int) -> None:
        """Leave out older entries."""
        try:
            await self._line.cut(kept)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def refusal(self, tool: str) -> str | None:
        """Ask whether a tool may be called."""
        try:
            return await self._line.refusal(tool)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    @property
    def hands(self) -> Hands:
        """What tools work with."""
        return self._line.hands

    async def update(self, text: str, call: str | None = None) -> UpdateOutcome:
        """Post mid-turn words."""
        try:
            return await self._line.update(text, call)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def fork(self, task: str, calls: Calls) -> ForkOutcome:
        """Move work to the background."""
        try:
            return await self._line.fork(task, calls)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def finish(self, call: str, payload: str) -> None:
        """Keep the result of a call."""
        try:
            await self._line.finish(call, payload)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    async def finished(self, call: str) -> CallEnd | None:
        """What is known of a call."""
        try:
            return await self._line.finished(call)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def event(self) -> None:
        """Tell a sign of life."""
        try:
            self._line.event()
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def received(self) -> None:
        """Tell that bytes came."""
        try:
            self._line.received()
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def requesting(self) -> None:
        """Tell that a request begins."""
        try:
            self._line.requesting()
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def wrote(self, text: str) -> None:
        """Tell further words."""
        try:
            self._line.wrote(text)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def tool(self, name: str, state: ToolState) -> None:
        """Tell that a tool call began or ended."""
        try:
            self._line.tool(name, state)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def spent(self, usage: Usage, *, aside: bool = False) -> None:
        """Tell what a request cost."""
        try:
            self._line.spent(usage, aside=aside)
        except FencedError as refusal:
            raise self._fenced(refusal) from None

    def _fenced(self, refusal: FencedError) -> FencedError:
        self.fence = refusal
        return refusal

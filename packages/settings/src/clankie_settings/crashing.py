"""Crash points: named places in the code where a test ends the process. In service they are nothing."""

from typing import Protocol


class Crash(Protocol):
    """What happens at a crash point."""

    def reach(self, point: str) -> None:
        """The code stands at ``point``; a test's own may end the process here, and then never returns.

        Source: DUR-2.
        """
        ...


class NoCrash:
    """What every service is built with: no setting and no variable makes it another one."""

    def reach(self, point: str) -> None:
        """Nothing."""

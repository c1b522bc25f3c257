"""What a run's work in tools looks like from the room: counts by category, nothing else. Source: ROOM-4."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

ToolState = Literal["started", "ended"]
"""A tool call begins, or has its result."""

CATEGORIES: Final[Mapping[str, str]] = {
    "send_text_update": "updates",
    "draw_diagram": "pictures",
    "screenshot_page": "pictures",
    "generate_image": "pictures",
    "search_web": "web",
    "read_page": "web",
    "run_command": "machine",
    "read_file": "machine",
    "write_file": "machine",
    "fork": "background",
}
"""What a tool's calls are counted as."""

OTHER: Final = "tools"
"""What calls of any other tool are counted as."""


SERVED: Final = "servers"
"""What calls of a server's tool are counted as, whichever server it is: its name is its owner's."""


@dataclass(frozen=True, slots=True)
class Activity:
    """A run's calls so far, by category, how many are under way, and when the first began (elapsed time)."""

    began: timedelta
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    running: int = 0

    @property
    def working(self) -> bool:
        """Whether a call is under way."""
        return self.running > 0


def after(activity: Activity, tool: str, state: ToolState, *, served: bool = False) -> Activity:
    """The activity after one more call began or ended; ``served`` where the tool is a server's."""
    if state == "ended":
        return Activity(activity.began, activity.counts, max(0, activity.running - 1))
    category = SERVED if served else CATEGORIES.get(tool, OTHER)
    counts = {**activity.counts, category: activity.counts.get(category, 0) + 1}
    return Activity(activity.began, counts, activity.running + 1)

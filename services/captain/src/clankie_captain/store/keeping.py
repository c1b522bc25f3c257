"""What looks after the store, as the captain's door and its life see it."""

from dataclasses import dataclass

from clankie_captain.store.backup import Backups
from clankie_captain.store.forgetting import Forgetting
from clankie_captain.store.retention import Retention


@dataclass(frozen=True, slots=True)
class Keeping:
    """Backups on request, forgetting on request, and what goes by itself when it is old."""

    backups: Backups
    forgetting: Forgetting
    retention: Retention

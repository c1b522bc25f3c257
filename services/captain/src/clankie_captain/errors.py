"""The captain's errors.

CaptainError
├── DeliveryConflictError    same id, other content
├── UnknownDeliveryError     no such delivery for this presence
├── UnknownActionError       no such action for this presence
├── DrainingError            the captain stops and takes nothing new
├── FencedError              a run that no longer owns its lane tried to write
├── StoreError               the store cannot be used
│   ├── StoreLockedError     another captain holds the state folder
│   └── StoreVersionError    the database is newer than this captain
└── ConfigurationError       the captain cannot start as configured
"""

from pathlib import Path

from clankie_settings.ids import ActionId, DeliveryId, LaneId, RunId


class CaptainError(Exception):
    """Anything that the captain itself refuses or cannot do; a leaf has fields and no content."""


class DeliveryConflictError(CaptainError):
    """A delivery id came again with other content. Source: WIRE-5."""

    def __init__(self, delivery: DeliveryId) -> None:
        super().__init__("this delivery id was accepted with other content; take the stored result")
        self.delivery = delivery


class UnknownDeliveryError(CaptainError):
    """The asking presence has no such delivery."""

    def __init__(self, delivery: DeliveryId) -> None:
        super().__init__("no delivery of this presence has this id; post it")
        self.delivery = delivery


class StartedError(CaptainError):
    """A delivery cannot be changed any more: a run has heard it, or it is settled. Source: ING-7."""

    def __init__(self, delivery: DeliveryId) -> None:
        super().__init__("a run has heard these words already; its result stands")
        self.delivery = delivery


class UnknownActionError(CaptainError):
    """The asking presence was given no such action."""

    def __init__(self, action: ActionId) -> None:
        super().__init__("no stored action of this presence has this id")
        self.action = action


class DrainingError(CaptainError):
    """The captain is stopping; what it accepted stays, new deliveries wait outside. Source: DUR-5."""

    def __init__(self) -> None:
        super().__init__("the captain is stopping; post the delivery again in a few seconds")


class FencedError(CaptainError):
    """A run that is no longer its lane's live one tried to take or write. Source: LANE-2."""

    def __init__(self, lane: LaneId, run: RunId) -> None:
        super().__init__("the run no longer owns its lane")
        self.lane = lane
        self.run = run


class StoreError(CaptainError):
    """The store cannot be used; the message says what to do. Source: DUR-3."""


class StoreLockedError(StoreError):
    """Another captain holds the state folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"another captain holds {path}; stop it, or give this one its own CLANKIE_STATE")
        self.path = path


class StoreVersionError(StoreError):
    """The database was written by a newer captain."""

    def __init__(self) -> None:
        super().__init__("the database was written by a newer Clankie; upgrade this captain, or restore a backup")


class ConfigurationError(CaptainError):
    """The captain cannot start as configured; the message names the setting and what to do."""

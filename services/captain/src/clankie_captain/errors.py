"""The captain's errors.

CaptainError
├── DeliveryConflictError    same id, other content
├── UnknownDeliveryError     no such delivery for this presence
├── UnknownActionError       no such action for this presence
├── SupersededActionError    words that were to be spoken went back to text
├── DrainingError            the captain stops and takes nothing new
├── FencedError              a run that no longer owns its lane tried to write
├── LaneBusyError            a lane is at work, or owes a reply
├── RefusedAddressError      an outside address that is not reached
├── StoreError               the store cannot be used
│   ├── StoreLockedError     another captain holds the state folder
│   ├── StoreVersionError    the database is newer than this captain
│   ├── StoreShapeError      the database's tables are not this captain's
│   ├── StoreForeignError    the file holds another program's data
│   ├── StoreFullError       no space is left; passes by itself
│   ├── StoreUnwritableError the database or its folder cannot be written
│   └── StoreDamagedError    the file is damaged, or no database
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


class SupersededActionError(CaptainError):
    """A receipt of words to speak that are posted as text by now. Source: VOX-2."""

    def __init__(self, action: ActionId) -> None:
        super().__init__("these words went back to text, where they are posted; do not speak them")
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


class RefusedAddressError(CaptainError):
    """An outside address is not reached; ``reason`` says why, and nothing says which. Source: SEC-3."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the address is not reached ({reason}); only public web addresses are")
        self.reason = reason


class LaneBusyError(CaptainError):
    """A lane cannot be changed from outside: a run is live in it, words wait, or a reply is still owed."""

    def __init__(self, lane: LaneId) -> None:
        super().__init__("a lane is at work or still owes its room a reply; try again once it is done")
        self.lane = lane


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


class StoreShapeError(StoreError):
    """The database says it has this captain's schema, and its tables differ: another build of the same number."""

    def __init__(self) -> None:
        super().__init__(
            "the database's tables are not those of this Clankie (another build made them); run the captain that made "
            "it, restore a backup, or move captain.db aside with captain.db-wal and captain.db-shm"
        )


class StoreForeignError(StoreError):
    """The file is a database of something else."""

    def __init__(self) -> None:
        super().__init__("the database holds another program's data; set CLANKIE_DATABASE_URL to a file of its own")


class StoreFullError(StoreError):
    """There is no space left: nothing was written, and everything goes on once there is some."""

    def __init__(self) -> None:
        super().__init__("the disk of the state folder is full; make room, and everything goes on by itself")


class StoreUnwritableError(StoreError):
    """The database or its folder cannot be written."""

    def __init__(self) -> None:
        super().__init__("the database cannot be written; give the captain's user the state folder, on a writable disk")


class StoreDamagedError(StoreError):
    """The database is damaged, or is none; nothing more is written to it."""

    def __init__(self) -> None:
        super().__init__("the database is damaged, or no database; stop Clankie and put a backup in its place")


class ConfigurationError(CaptainError):
    """The captain cannot start as configured; the message names the setting and what to do."""

"""What there is to judge when all is quiet again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.soak.ledger import Ledger
from tests.soak.rows import DeliveryRow, Rows


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of his that is in a room at the end; ``answers`` is the message that it replies to."""

    id: str
    room: str
    content: str
    answers: str | None


@dataclass(frozen=True, slots=True)
class Probe:
    """Something that was tried at the end: how often, and where it went wrong."""

    tried: int = 0
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the invariants look at.

    Attributes:
        ledger: What was done and seen on the way.
        rows: The captain's rows at the end.
        posted: His messages in all rooms.
        captain_starts: How often a captain was started.
        ends: Services that ended by themselves.
        faults: Lines by which a service said that something of its own broke.
        conflicts: Other words were handed over under the ids of settled deliveries.
        store: The database's promises, read back.
        caught_up: Whether what was said while no bridge listened has to be answered as well. Source: ING-9.
        looped: The rooms, by Discord id, that think in one loop for each grant.
        granted: Who has a grant of their own, by the sender's id; everybody else has the same.
        cards_swept: Whether a card that a killed bridge left has to be gone as well. Source: ROOM-4.
    """

    ledger: Ledger
    rows: Rows
    posted: tuple[Posted, ...] = ()
    captain_starts: int = 1
    ends: tuple[str, ...] = ()
    faults: Probe = field(default_factory=Probe)
    conflicts: Probe = field(default_factory=Probe)
    store: Probe = field(default_factory=Probe)
    caught_up: bool = True
    looped: frozenset[str] = frozenset()
    granted: frozenset[str] = frozenset()
    cards_swept: bool = True

    def deliveries(self) -> dict[str, DeliveryRow]:
        """The accepted deliveries by id."""
        return {each.id: each for each in self.rows.deliveries}


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant: how many times it was looked at, and where it does not hold."""

    name: str
    checked: int
    violations: tuple[str, ...] = ()


Invariant = Callable[[Facts], Check]


def check(name: str, found: Iterable[str | None]) -> Check:
    """A check from one verdict for each thing that was looked at; None is well."""
    verdicts = [*found]
    return Check(name, len(verdicts), tuple(each for each in verdicts if each is not None))

"""When a turn's tool-activity card is shown and changed, and what it says. Source: ROOM-4."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

FIRST_AFTER: Final = timedelta(seconds=5)
"""A turn that works for less than this shows nothing. Source: ROOM-4."""

EDIT_EVERY: Final = timedelta(seconds=2)
"""The shortest time between two changes of a card. Source: ROOM-4."""

_HEAD: Final = "🛠️ At work: "

CATEGORIES: Final = 12
"""Categories that a card names; the rest is one number."""


@dataclass(frozen=True, slots=True)
class Card:
    """One turn's card; instants are on the clock of elapsed time.

    Attributes:
        began: When the work began.
        counts: Tool calls by category, as they were last heard of.
        shown: What stands in the room, or last stood there; None before the first.
        shown_at: When that was written.
        message_id: The card's message, while it is there.
        doubtful: Whether it may be there though no message is known.
        over: The turn has ended, or somebody took the card away: nothing more is shown.
    """

    began: timedelta
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    shown: str | None = None
    shown_at: timedelta = timedelta()
    message_id: str | None = None
    doubtful: bool = False
    over: bool = False

    def heard(self, counts: Mapping[str, int]) -> "Card":
        """After newer counts; the latest replace those before."""
        return self if self.over else replace(self, counts=dict(counts))

    def written(self, text: str, at: timedelta, message_id: str | None, *, doubtful: bool = False) -> "Card":
        """After an attempt to write it; ``message_id`` is None where no message of it is known."""
        return replace(self, shown=text, shown_at=at, message_id=message_id, doubtful=doubtful)

    def ended(self) -> "Card":
        """After the turn's end."""
        return replace(self, over=True)


@dataclass(frozen=True, slots=True)
class Write:
    """Post the card, or change it where it is there."""

    text: str


@dataclass(frozen=True, slots=True)
class Later:
    """Look again at this instant."""

    at: timedelta


@dataclass(frozen=True, slots=True)
class Remove:
    """Take it away."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Seek:
    """Seek it in its room, and take it away."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do until something is heard of."""


Step = Write | Later | Remove | Seek | Rest
"""What is to be done about a card."""


def step(card: Card, now: timedelta) -> Step:
    """What is to be done about a card now.

    Source: ROOM-4.
    """
    if card.over:
        return _ending(card)
    if not card.counts:
        return Rest()
    said = text(card.counts)
    if card.shown is None:
        due = card.began + FIRST_AFTER
    elif card.message_id is None or said == card.shown:
        # One card a turn: what is gone does not come again.
        return Rest()
    else:
        due = card.shown_at + EDIT_EVERY
    return Write(said) if now >= due else Later(due)


def _ending(card: Card) -> Step:
    if card.message_id is not None:
        return Remove(card.message_id)
    return Seek() if card.doubtful else Rest()


def is_card(words: str) -> bool:
    """Whether a message of his is a card."""
    return words.startswith(_HEAD)


def text(counts: Mapping[str, int]) -> str:
    """The card's words: categories and how often, nothing that a tool was asked or has found."""
    named = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    said = [f"{name.replace('_', ' ')} x {count}" for name, count in named[:CATEGORIES]]
    if len(named) > CATEGORIES:
        said.append(f"other x {sum(count for _, count in named[CATEGORIES:])}")
    return f"{_HEAD}{', '.join(said)}"

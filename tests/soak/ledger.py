"""What the soak itself did and saw while it went on: who said what, what was broken, what was answered."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from tests.soak.rows import Glance

Json = dict[str, Any]

Manner = Literal["plain", "slow", "tool", "silent", "long", "talk"]
"""What a message asks of the model: words, slow words, a tool, silence, a reply in parts; ``talk`` addresses nobody."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a person.

    Attributes:
        id: Its Discord id, which is its delivery's id as well.
        room: The Discord id of the room.
        mark: A word that no other message holds; ``worded`` gives it a number more with each edit.
        addressed: Whether it called him.
        at: When, on the clock of elapsed time.
    """

    id: str
    room: str
    mark: str
    manner: Manner
    addressed: bool
    at: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that Discord stored for the bot, by its first request; a card goes away again."""

    id: str
    room: str
    nonce: str
    is_card: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that reached the model.

    Attributes:
        heard: The messages that stand in it since its last answer; none where it asks for notes.
        state: How it ended.
        shown: All messages that stand in it as heard, in their order, as often as they do.
        notes: The key of the notes that it begins with.
        record: The key of the notes that it asks for: ``shown`` is what they are made of.
        whole: Whether nothing was left out of that for its length.
    """

    heard: frozenset[str]
    state: str
    refused: str = ""
    shown: tuple[str, ...] = ()
    notes: str | None = None
    record: str | None = None
    whole: bool = True


@dataclass(slots=True)
class Ledger:
    """Grows while the soak goes on.

    Attributes:
        said: By message id.
        edits: How often the author changed a message, by its id; told before Discord was.
        deleted: The messages that their authors took away; told before Discord was.
        read: The marks under which the model was shown each message, by its id, in the order of their coming.
        sent: By message id.
        posts: Requests to post that Discord got, answered or not.
        faults: How often each trouble was made.
        answers: The first settled answer for each delivery, without what may change (``owed``).
        compared: How many later answers were held against the first.
        unequal: Deliveries with two different answers.
        samples: How often the lanes were looked at.
        torn: What was seen amiss in a lane while it was at work.
        epochs: The highest epoch seen of each lane.
        begins: Where the history of each lane began last.
        glance: How the lanes stood last.
    """

    said: dict[str, Said] = field(default_factory=dict[str, Said])
    edits: Counter[str] = field(default_factory=Counter[str])
    deleted: set[str] = field(default_factory=set[str])
    read: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    sent: dict[str, Sent] = field(default_factory=dict[str, Sent])
    posts: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    faults: Counter[str] = field(default_factory=Counter[str])
    answers: dict[str, Json] = field(default_factory=dict[str, Json])
    compared: int = 0
    unequal: list[str] = field(default_factory=list[str])
    samples: int = 0
    torn: list[str] = field(default_factory=list[str])
    epochs: dict[str, int] = field(default_factory=dict[str, int])
    begins: dict[str, int] = field(default_factory=dict[str, int])
    glance: Glance | None = None

    @property
    def known(self) -> frozenset[str]:
        """The deliveries that the captain has."""
        return frozenset() if self.glance is None else self.glance.ids

    def waits(self, message: str) -> bool:
        """Whether the captain has a message and nobody had heard it when it was looked at last."""
        return self.glance is not None and message in self.glance.unheard

    def pending(self, since: timedelta) -> int:
        """How much is under way: open deliveries, and what was said since then and is none yet."""
        known, recent = self.known, 0
        for each in reversed(self.said.values()):
            if each.at < since:
                break
            recent += each.addressed and each.id not in known and each.id not in self.deleted
        return recent + (0 if self.glance is None else self.glance.open)

    def answered(self, delivery: str, answer: Json) -> None:
        """Hold an answer against the first that was given for its delivery."""
        if answer["state"] in ("queued", "running"):
            if delivery in self.answers:
                self.unequal.append(f"{delivery}: settled, and later {answer['state']}")
            return
        lasting = {key: value for key, value in answer.items() if key != "owed"}
        first = self.answers.setdefault(delivery, lasting)
        self.compared += first is not lasting
        if first != lasting:
            self.unequal.append(f"{delivery}: {first['state']}, and later {lasting['state']}")

    def looked(self, glance: Glance) -> None:
        """Note how the lanes stand, and what must never be seen in any of them."""
        self.samples += 1
        self.glance = glance
        live: dict[str, list[str]] = {}
        for lane, run in glance.live:
            live.setdefault(lane, []).append(run)
        for lane in glance.lanes:
            mine = live.pop(lane.id, [])
            if mine != ([] if lane.live_run is None else [lane.live_run]):
                self.torn.append(f"{lane.id}: the lane's live run is {lane.live_run}, runs without end are {mine}")
            if lane.epoch < self.epochs.get(lane.id, 0):
                self.torn.append(f"{lane.id}: epoch {lane.epoch} after {self.epochs[lane.id]}")
            if lane.history_from < self.begins.get(lane.id, 0):
                self.torn.append(f"{lane.id}: begins at {lane.history_from} after {self.begins[lane.id]}")
            self.epochs[lane.id], self.begins[lane.id] = lane.epoch, lane.history_from
        self.torn += [f"{lane}: runs {runs} of a lane that is not there" for lane, runs in live.items()]

    def shown(self, message: str, mark: str) -> None:
        """Note the words under which a message was shown to the model."""
        marks = self.read.setdefault(message, [])
        if mark not in marks:
            marks.append(mark)


def worded(mark: str, edits: int) -> str:
    """The mark of a message's words after so many edits."""
    return f"{mark}v{edits}" if edits else mark

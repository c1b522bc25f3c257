"""The soak itself: a house in which people talk while everything breaks, and the judgement when it is quiet again."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from clankie_bridge.core.card import is_card
from clankie_settings.clock import Clock, SystemClock
from tests.soak import premises, probes, standstill, troubles
from tests.soak.crossing import Crossing
from tests.soak.facts import Check, Facts, Probe
from tests.soak.household import COMMANDS, SERVICES, Household, Service
from tests.soak.ledger import Ledger
from tests.soak.outside import INVARIANTS
from tests.soak.premises import GRANTED, WINDOW
from tests.soak.rows import Store
from tests.soak.speakers import GIVEN_UP, PEOPLE, Place, Speaker
from tests.soak.together import SoakError, together
from tests.soak.troubles import Deck, Patient
from tests.soak.witness import Witness

Say = Callable[[str], None]

PAUSES = {"discord": 1.0, "gateway": 4.0, "model": 3.0, "way": 3.0}
"""The pause before a trouble of each kind, in pauses of the first: a lost connection takes longest to mend."""

CAUGHT_UP = True
"""Whether what was said while no bridge listened must be answered as well. Source: ING-9."""

CARDS_SWEPT = True
"""Whether every card that a killed bridge left must be gone. Source: ROOM-4."""

START_WITHIN = timedelta(seconds=120)
TELL_EVERY = timedelta(seconds=5)
_LOOK = timedelta(milliseconds=200)
_CARDS = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how hard, and by which dice.

    Attributes:
        seed: Decides who says what when, and what breaks; who wins which race it cannot decide.
        deliveries: Accepted deliveries after which nobody says more.
        most: The time after which nobody says more in any case.
        patience: How long everything may take to settle then.
        still: How long nothing at all may move then, until the soak is given up.
        pace: Factor on the model's pauses.
        wrong_s: Pause before a request to Discord goes wrong, in seconds, shortest and longest.
        kinds: What goes wrong besides services, of ``PAUSES``.
        services: What is killed and frozen.
        commands: How services are started; a mutant is started another way.
        work: Deliveries, fewest and most, that a service mostly gets to do between two of its troubles.
        caught_up: Whether what is said while no bridge listens must be answered.
        asked: Deliveries at most that are asked for and handed over once more at the end.
        window: The model's window in tokens; a small one lets lanes compact.
    """

    seed: str
    deliveries: int = 1_000
    most: timedelta = timedelta(minutes=30)
    patience: timedelta = timedelta(minutes=3)
    still: timedelta = timedelta(seconds=60)
    pace: float = 0.25
    wrong_s: tuple[float, float] = (0.5, 2.5)
    kinds: tuple[str, ...] = tuple(PAUSES)
    services: tuple[Service, ...] = SERVICES
    commands: Mapping[Service, Sequence[str]] = field(default_factory=lambda: COMMANDS)
    work: tuple[int, int] = (10, 60)
    caught_up: bool = CAUGHT_UP
    asked: int = 300
    window: int = WINDOW


@dataclass(frozen=True, slots=True)
class Report:
    """What came out: a check an invariant, and what there was."""

    checks: tuple[Check, ...]
    facts: Facts

    @property
    def violations(self) -> int:
        """Over all invariants."""
        return sum(len(each.violations) for each in self.checks)


async def soak(plan: Plan, folder: Path, say: Say) -> Report:
    """Let it rain, wait until it is dry, and look at what is there.

    Raises:
        SoakError: The house did not even come up, or stood still before everything had settled.
    """
    clock = SystemClock()
    async with premises.opened(folder, plan.window, plan.pace) as place:
        house = place.house
        ledger, store = Ledger(), Store(house.state / "captain.db")
        household = Household(house, plan.commands, clock)
        witness = Witness(house, store, ledger, random.Random(f"{plan.seed}:witness"), clock)
        async with together(household.keep(each) for each in SERVICES):
            for each in SERVICES:
                if not await household.ready(each, START_WITHIN):
                    raise SoakError(f"the {each} did not start: {household.ends or house.output}")
            async with together([witness.look(), witness.read(), witness.ask()]):
                storm = _Storm(plan, household, place.crossing, place.places, ledger, store, clock, say)
                await storm.greet()
                await storm.blow()
                await storm.calm()
            await witness.read_once()
            lines = [f"{name}: {line}" for name, line in household.lines()]
            (folder / "services.log").write_text("\n".join(lines), "utf-8")
            facts = await _found(plan, household, store, witness, ledger, place.looped)
    return Report(tuple(each(facts) for each in INVARIANTS), facts)


@dataclass(frozen=True, slots=True)
class _Storm:
    """The part in which things happen."""

    plan: Plan
    household: Household
    crossing: Crossing
    places: tuple[Place, ...]
    ledger: Ledger
    store: Store
    clock: Clock
    say: Say

    async def greet(self) -> None:
        """One word in every room before anything breaks, so that the captain knows them all."""
        await self._say_everywhere("greeting")
        if not await self._until(lambda: self._known() >= len(self.places), START_WITHIN, "greeting"):
            raise SoakError(f"nobody was heard in time\n{await self._story()}")

    async def _say_everywhere(self, scene: str) -> None:
        speakers = self._speakers(scene)
        for place in self.places:
            await speakers[place.people[0]].say(place, "plain")

    async def blow(self) -> None:
        """Talk and trouble until there are enough deliveries and everything broke once."""
        decks = self._decks()
        works = [each.talk() for each in self._speakers("storm").values()]
        for name, deck in decks.items():
            chance = random.Random(f"{self.plan.seed}:{name}:pauses")
            if name in SERVICES:
                patient = Patient(self.household, name, self.ledger, self.plan.work)
                works.append(troubles.go_down(patient, deck, chance, self.clock))
            else:
                works.append(troubles.go_wrong(deck, self._span(name), self._moves(name), chance, self.clock))

        def enough() -> bool:
            return self._known() >= self.plan.deliveries and all(deck.rounds for deck in decks.values())

        async with together(works):
            await self._until(enough, self.plan.most, "blowing")

    def _moves(self, kind: str) -> Callable[[], int]:
        """What has to move on before the next trouble of a kind."""
        ledger = self.ledger
        moves: dict[str, Callable[[], int]] = {"discord": lambda: ledger.posts, "model": lambda: len(ledger.asked)}
        return moves.get(kind, lambda: len(ledger.known) + len(ledger.sent))

    def _span(self, kind: str) -> tuple[float, float]:
        shortest, longest = self.plan.wrong_s
        factor = PAUSES[kind]
        return (factor * shortest, factor * longest)

    async def calm(self) -> None:
        """Nothing new breaks; a last word in every room, and a wait until nothing is open any more.

        The last words stand behind whatever was changed or taken away: where they are known, that was looked at.

        Raises:
            SoakError: A service is not back in time, or nothing moves any more.
        """
        house, over = self.household.house, self.clock.elapsed() + self.plan.patience
        await house.stage.call("clear_faults")
        self.crossing.deaf = 0
        self.say("no more words and no more trouble; waiting until everything has settled")
        await self._say_everywhere("parting")
        for each in SERVICES:
            if not await self.household.ready(each, over - self.clock.elapsed()) and not self.household.ends:
                raise SoakError(f"the {each} is not back in time\n{await self._story()}")
        if not await self._until(self._settled, over - self.clock.elapsed(), "settling", self.plan.still):
            self.say(f"not everything has settled in time\n{await self._story()}")
        await self._swept(over)

    async def _swept(self, over: timedelta) -> None:
        """Nobody waits for the cards of the dead, so they may go a moment after everything else."""
        while any(is_card(each.content) for each in await probes.posted(self.household.house)):
            if self.clock.elapsed() > over:
                self.say("not every card was swept in time")
                return
            await self.clock.sleep(_CARDS)

    def _settled(self) -> bool:
        glance = self.ledger.glance
        if glance is None or glance.open or glance.owed or glance.live:
            return False
        if not self.plan.caught_up:
            return True
        return all(each in self.ledger.known for each in self._called())

    def _called(self) -> list[str]:
        ledger = self.ledger
        return [each.id for each in ledger.said.values() if each.addressed and each.id not in ledger.deleted]

    def _known(self) -> int:
        return 0 if self.ledger.glance is None else self.ledger.glance.known

    async def _until(
        self, holds: Callable[[], bool], within: timedelta, what: str, still: timedelta | None = None
    ) -> bool:
        began = told = moved = self.clock.elapsed()
        seen = self._moved()
        while not holds():
            now = self.clock.elapsed()
            if now - began > within:
                return False
            if seen != (seen := self._moved()):
                moved = now
            if still is not None and now - moved > still:
                raise SoakError(f"{what}: nothing has moved for {still.total_seconds():.0f} s\n{await self._story()}")
            if now - told >= TELL_EVERY:
                told = now
                self.say(f"{what}, {(now - began).total_seconds():.0f} s: {self._standing()}")
            await self.clock.sleep(_LOOK)
        return True

    async def _story(self) -> str:
        return await standstill.story(self.household, self.store, self._standing())

    def _moved(self) -> tuple[object, ...]:
        glance, ledger = self.ledger.glance, self.ledger
        done = () if glance is None else (glance.known, glance.open, glance.owed, glance.live)
        return (*done, ledger.posts, len(ledger.asked), *self.household.starts.values())

    def _standing(self) -> str:
        glance = self.ledger.glance
        open_, owed = (0, 0) if glance is None else (glance.open, glance.owed)
        return (
            f"{self._known()} deliveries, {open_} open, {owed} owed, {len(self.ledger.sent)} posts, "
            f"{sum(self.ledger.faults.values())} troubles, {self.household.starts['captain']} captains, "
            f"{self.household.starts['bridge']} bridges"
        )

    def _speakers(self, scene: str) -> dict[str, Speaker]:
        house, seed = self.household.house, f"{self.plan.seed}:{scene}"
        given_up = timedelta(days=1) if self.plan.caught_up else GIVEN_UP
        return {
            user: Speaker(user, self.places, seed, house.stage, house.provider, self.ledger, self.clock, given_up)
            for user in PEOPLE
        }

    def _decks(self) -> dict[str, Deck]:
        house = self.household.house

        def dice(name: str) -> random.Random:
            return random.Random(f"{self.plan.seed}:{name}")

        kinds = {
            "discord": troubles.at_discord(house.stage, dice("discord")),
            "gateway": troubles.at_gateway(house.stage),
            "model": troubles.at_model(house.provider),
            "way": troubles.on_the_way(self.crossing),
        }
        kinds |= {each: troubles.with_service(self.household, each, dice(each)) for each in SERVICES}
        wanted = (*self.plan.kinds, *self.plan.services)
        return {name: Deck(kinds[name], dice(f"{name}:deck"), self.ledger) for name in wanted}


async def _found(
    plan: Plan, household: Household, store: Store, witness: Witness, ledger: Ledger, looped: frozenset[str]
) -> Facts:
    house = household.house
    rows = await asyncio.to_thread(store.everything)
    done = [each.id for each in rows.deliveries if each.state == "done"]
    for each in random.Random(f"{plan.seed}:asked again").sample(done, min(len(done), plan.asked)):
        await witness.ask_for(each)
        await witness.ask_for(each, repeated=True)
    conflicts = await probes.conflicts(house, store, done[: plan.asked])
    alive = await probes.promises(household, store)
    starts, ends = household.starts["captain"], tuple(household.ends)
    faults = probes.own_faults(household)
    posted = await probes.posted(house)
    await household.kill("captain", timedelta(hours=1))
    still = await probes.settings_of(store.path)
    promised = Probe(alive.tried + still.tried, alive.wrong + still.wrong)
    return Facts(
        ledger,
        rows,
        posted,
        starts,
        ends,
        faults,
        conflicts,
        promised,
        caught_up=plan.caught_up,
        looped=looped,
        granted=GRANTED,
        cards_swept=CARDS_SWEPT,
    )

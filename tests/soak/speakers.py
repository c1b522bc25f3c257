"""Three people who talk in six rooms, in bursts, mostly to him, and think better of some of it."""

import random
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from clankie_settings.clock import Clock
from clankie_stage.client import StageClient
from clankie_stage.discord.scenery import ANN_ID, BOB_ID, BOT_ID, OWNER_DM_ID, OWNER_ID
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import text, when
from tests.soak.ledger import Ledger, Manner, Said, worded

PEOPLE: Final = (OWNER_ID, ANN_ID, BOB_ID)
GUILD_ROOMS: Final = 5
LOOPS: Final = (1, 2)
"""Which of them think in one loop for each grant."""

MANNERS: Final[dict[Manner, int]] = {"plain": 66, "slow": 4, "tool": 8, "silent": 6, "long": 4, "talk": 12}
"""How often a message asks for what, in a hundred."""

WISHES: Final[dict[Manner, str]] = {
    "plain": "what do you say?",
    "slow": "take it slow",
    "tool": "please use a tool",
    "silent": "stay silent",
    "long": "tell me all of it",
    "talk": "as I said",
}
"""The words by which the rehearsal model knows what is wanted."""

EDITED: Final = 0.15
"""How often somebody changes what they have just said."""

DELETED: Final = 0.1
"""How often somebody takes it away."""

HELD: Final = 0.8
"""How often it is one that the captain has and nobody has heard, where there is one."""

MOST_OPEN: Final = 60
"""Messages under way at which people wait before they say more."""

GIVEN_UP: Final = timedelta(seconds=15)
"""After this long nobody waits any more for a message that no bridge heard, where none will read it later."""

_PATIENT = timedelta(milliseconds=100)
_PARAGRAPH = "It is a long story, and it goes on for a while. " * 12


@dataclass(frozen=True, slots=True)
class Place:
    """A room by its Discord id, who talks there, and whether it thinks in one loop for each grant."""

    id: str
    people: tuple[str, ...]
    direct: bool = False
    looped: bool = False


async def opened_places(stage: StageClient) -> tuple[Place, ...]:
    """Five rooms of the server for everybody, one of them a thread and two in loops, and the owner's direct message."""
    texts = [await stage.call("create_room", name=f"soak-{number}") for number in range(GUILD_ROOMS - 1)]
    thread = await stage.call("create_thread", name="soak-thread", parent=texts[0]["id"], user=ANN_ID)
    guild = tuple(Place(room["id"], PEOPLE, looped=number in LOOPS) for number, room in enumerate([*texts, thread]))
    return (*guild, Place(OWNER_DM_ID, (OWNER_ID,), direct=True))


class Speaker:
    """One person with a mind of their own, decided by the seed."""

    def __init__(
        self,
        user: str,
        places: tuple[Place, ...],
        seed: str,
        stage: StageClient,
        provider: ProviderClient,
        ledger: Ledger,
        clock: Clock,
        given_up: timedelta,
    ) -> None:
        self._user = user
        self._places = tuple(each for each in places if user in each.people)
        self._chance = random.Random(f"{seed}:{user}")
        self._stage = stage
        self._provider = provider
        self._ledger = ledger
        self._clock = clock
        self._given_up = given_up
        self._latest: deque[tuple[Said, str]] = deque(maxlen=6)

    async def talk(self) -> None:
        """Say one burst after the other, for ever."""
        while True:
            place = self._chance.choice(self._places)
            for _ in range(self._chance.choice((1, 1, 2, 3, 4))):
                while self._ledger.pending(self._clock.elapsed() - self._given_up) > MOST_OPEN:
                    await self._clock.sleep(_PATIENT)
                (manner,) = self._chance.choices(tuple(MANNERS), tuple(MANNERS.values()))
                await self.say(place, manner)
                await self._pause(0.0, 0.3)
                await self._think_better()
            await self._pause(0.1, 0.9)

    async def say(self, place: Place, manner: Manner) -> None:
        """Say one thing."""
        mark = f"w{self._user[-2:]}x{len(self._ledger.said):05}"
        if manner == "long":
            story = "\n\n".join(f"{mark} {_PARAGRAPH}" for _ in range(7))
            await self._provider.script(when(text(story[:2500], story[2500:]), last_user=mark))
        addressed = manner != "talk" or place.direct
        words, reply_to = (
            self._addressed(place, f"{mark} {WISHES[manner]}") if addressed else (f"{mark} as I said", None)
        )
        said = await self._stage.say(self._user, words, room=place.id, reply_to=reply_to)
        one = Said(said["id"], place.id, mark, manner, addressed, self._clock.elapsed())
        self._ledger.said[one.id] = one
        self._latest.append((one, words))

    async def _think_better(self) -> None:
        """Change or take away one of the latest messages, or mostly none; whether he has heard it is seen later."""
        dice = self._chance.random()
        if dice >= EDITED + DELETED or not self._latest:
            return
        # Those that wait for him to read them are where it matters most.
        waiting = [each for each in self._latest if self._ledger.waits(each[0].id)]
        said, words = picked = self._chance.choice(
            waiting if waiting and self._chance.random() < HELD else self._latest
        )
        # Whoever is called off in between has still told what may stand there.
        if dice < EDITED:
            self._ledger.edits[said.id] += 1
            changed = words.replace(said.mark, worded(said.mark, self._ledger.edits[said.id]))
            await self._stage.edit(said.id, changed)
        else:
            self._latest.remove(picked)
            self._ledger.deleted.add(said.id)
            await self._stage.delete(said.id)

    def _addressed(self, place: Place, words: str) -> tuple[str, str | None]:
        way = self._chance.choice(("name", "name", "mention", "reply"))
        if place.direct and way == "name":
            return words, None
        if way == "mention":
            return f"<@{BOT_ID}> {words}", None
        sent = reversed(self._ledger.sent.values())
        # Whoever answers a card that is gone calls nobody: the answer says no more whose message that was.
        last = next((each.id for each in sent if each.room == place.id and not each.is_card), None)
        if way == "reply" and last is not None:
            return words, last
        return f"Clankie, {words}", None

    async def _pause(self, shortest: float, longest: float) -> None:
        await self._clock.sleep(timedelta(seconds=self._chance.uniform(shortest, longest)))

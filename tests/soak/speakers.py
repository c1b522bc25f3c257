"""Three people who talk in six rooms, in bursts, and mostly to him."""

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from clankie_settings.clock import Clock
from clankie_stage.client import StageClient
from clankie_stage.discord.scenery import ANN_ID, BOB_ID, BOT_ID, OWNER_DM_ID, OWNER_ID
from clankie_stage.provider.client import ProviderClient
from clankie_stage.provider.steps import text, when
from tests.soak.ledger import Ledger, Manner, Said

PEOPLE: Final = (OWNER_ID, ANN_ID, BOB_ID)
GUILD_ROOMS: Final = 5

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

MOST_OPEN: Final = 60
"""Messages under way at which people wait before they say more."""

GIVEN_UP: Final = timedelta(seconds=15)
"""After this long nobody waits any more for a message that no bridge heard, where none will read it later."""

_PATIENT = timedelta(milliseconds=100)
_PARAGRAPH = "It is a long story, and it goes on for a while. " * 12


@dataclass(frozen=True, slots=True)
class Place:
    """A room by its Discord id, and who talks there."""

    id: str
    people: tuple[str, ...]
    direct: bool = False


async def opened_places(stage: StageClient) -> tuple[Place, ...]:
    """Five rooms of the server for everybody, one of them a thread, and a direct message with the owner."""
    texts = [await stage.call("create_room", name=f"soak-{number}") for number in range(GUILD_ROOMS - 1)]
    thread = await stage.call("create_thread", name="soak-thread", parent=texts[0]["id"], user=ANN_ID)
    guild = tuple(Place(room["id"], PEOPLE) for room in [*texts, thread])
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
        self._count = 0

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
            await self._pause(0.1, 0.9)

    async def say(self, place: Place, manner: Manner) -> None:
        """Say one thing."""
        self._count += 1
        mark = f"w{self._user[-2:]}x{self._count}"
        if manner == "long":
            story = "\n\n".join(f"{mark} {_PARAGRAPH}" for _ in range(7))
            await self._provider.script(when(text(story[:2500], story[2500:]), last_user=mark))
        addressed = manner != "talk" or place.direct
        words, reply_to = (
            self._addressed(place, f"{mark} {WISHES[manner]}") if addressed else (f"{mark} as I said", None)
        )
        said = await self._stage.say(self._user, words, room=place.id, reply_to=reply_to)
        now = self._clock.elapsed()
        self._ledger.said[said["id"]] = Said(said["id"], place.id, mark, manner, addressed, now)

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

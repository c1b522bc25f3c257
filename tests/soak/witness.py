"""Whoever looks on while it happens: at the lanes, at the answers, at what Discord and the model were sent."""

import asyncio
import random
import re
from datetime import timedelta
from typing import Final

import httpx

from clankie_bridge.core.card import is_card
from clankie_settings.clock import Clock
from clankie_stage.provider.hearing import since_answer, text_of
from clankie_stage.provider.records import Record
from tests.soak.ledger import Asked, Json, Ledger, Sent
from tests.soak.rows import NOTES_KEY, Store
from tests.system.house import House

LOOK_EVERY: Final = timedelta(milliseconds=400)
ASK_EVERY: Final = timedelta(milliseconds=250)
READ_EVERY: Final = timedelta(seconds=1)

REPEATED: Final = 0.3
"""How often the witness hands a delivery over again instead of asking for it."""

HEARD: Final = re.compile(
    r'^<<<heard-(?P<key>\S+) from="(?:[^"\\]|\\.)*" id=(?P<id>\S+)\n(?P<words>.*?)^(?P=key)>>>$',
    re.MULTILINE | re.DOTALL,
)
"""A message in a prompt. Source: CTX-4."""

MARK: Final = re.compile(r"\bw\d+x\d+(?:v\d+)?\b")
"""The mark of a message's words, as they are after its edits."""

RECORD: Final = re.compile(r"<<<record-(\w+)")
"""How a request opens that asks for notes."""

SHORTENED: Final = ("(older talk is left out here)", " … ")
"""What stands in a record where it would have been too long."""

_POSTS: Final[Json] = {"kind": "rest", "method": "POST", "path": "/channels/*/messages"}


class Witness:
    """Fills the ledger with what is seen."""

    def __init__(self, house: House, store: Store, ledger: Ledger, chance: random.Random, clock: Clock) -> None:
        self._house = house
        self._store = store
        self._ledger = ledger
        self._chance = chance
        self._clock = clock
        self._posts_read = 0
        self._asked_read = 0

    async def look(self) -> None:
        """Look at the lanes again and again."""
        while True:
            await self.look_once()
            await self._clock.sleep(LOOK_EVERY)

    async def look_once(self) -> None:
        """Look at the lanes."""
        glance = await asyncio.to_thread(self._store.glance)
        if glance is not None:
            self._ledger.looked(glance)

    async def ask(self) -> None:
        """Ask for deliveries, old and new, whoever is alive just now."""
        while True:
            await self._clock.sleep(ASK_EVERY)
            glance = self._ledger.glance
            known = [*self._ledger.answers] + ([] if glance is None else [*glance.settled])
            if known:
                await self.ask_for(self._chance.choice(known), repeated=self._chance.random() < REPEATED)

    async def ask_for(self, delivery: str, *, repeated: bool = False) -> int | None:
        """Ask for one delivery, or hand it over again; the answer's status, None where nobody answers."""
        headers = {"Authorization": f"Bearer {self._house.token()}", "Prefer": "wait=0"}
        try:
            if repeated:
                trigger = await asyncio.to_thread(self._store.trigger, delivery)
                answer = await self._house.captain.post("/v1/turns", json=trigger, headers=headers, timeout=8)
            else:
                answer = await self._house.captain.get(f"/v1/turns/{delivery}", headers=headers, timeout=8)
        except httpx.HTTPError:
            return None
        if answer.is_success:
            self._ledger.answered(delivery, answer.json())
        elif answer.status_code != 503:
            self._ledger.unequal.append(f"{delivery}: answered with {answer.status_code}")
        return answer.status_code

    async def read(self) -> None:
        """Read on in what the stage recorded."""
        while True:
            await self.read_once()
            await self._clock.sleep(READ_EVERY)

    async def read_once(self) -> None:
        """Read what the stage recorded since the last time."""
        for entry in await self._house.stage.recorded(_POSTS, after=self._posts_read):
            self._posts_read = entry["index"]
            self._note_post(entry["what"])
        records = await self._house.provider.records(self._asked_read)
        for record in records:
            if record.state == "open":
                break
            self._asked_read = record.index + 1
            self._note_request(record)

    def _note_request(self, record: Record) -> None:
        texts = [text_of(each) for each in record.messages if each.get("role") == "user"]
        blocks = [block for text in texts for block in HEARD.finditer(text)]
        shown = tuple(block["id"] for block in blocks)
        if texts and (opening := RECORD.match(texts[-1])) is not None:
            # What is put into notes answers nobody.
            whole = not any(sign in texts[-1] for sign in SHORTENED)
            asked = Asked(frozenset(), record.state, record.refused, shown, record=opening[1], whole=whole)
            self._ledger.asked.append(asked)
            return
        for block in blocks:
            if (mark := MARK.search(block["words"])) is not None:
                self._ledger.shown(block["id"], mark[0])
        notes = next((found[1] for text in texts for found in NOTES_KEY.finditer(text)), None)
        self._ledger.asked.append(Asked(heard_by(record), record.state, record.refused, shown, notes))

    def _note_post(self, what: Json) -> None:
        self._ledger.posts += 1
        stored: Json = what.get("answer") or {}
        if "channel_id" in stored:
            body: Json = what.get("body") or {}
            nonce = str(body.get("nonce", ""))
            sent = Sent(stored["id"], stored["channel_id"], nonce, is_card(str(stored.get("content", ""))))
            self._ledger.sent.setdefault(sent.id, sent)


def heard_by(record: Record) -> frozenset[str]:
    """The ids of the messages that stand in a request since the model's last answer."""
    fresh = since_answer(record.messages)
    return frozenset(found["id"] for message in fresh for found in HEARD.finditer(text_of(message)))

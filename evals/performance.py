"""A case, performed in a room of its own. Source: LOOP-8."""

import base64
import io
from datetime import timedelta
from functools import partial
from typing import Any, Final, assert_never

from PIL import Image

from clankie_stage.provider.beats import Step as Answer
from clankie_stage.provider.steps import call, calls, gated, silence, text, when
from evals.cases import Case, Rule
from evals.houses import House
from evals.observed import End, Observed, Posted, Run
from evals.play import Accepted, Chatter, Open, Reach, Restart, Say, Settle, Step
from evals.processes import HouseError

Json = dict[str, Any]

ENDS: Final = frozenset({"replied", "absorbed", "silent", "failed"})
READ: Final = ENDS | {"buffered", "dropped"}
WRITTEN_WITHIN: Final = timedelta(minutes=1)
"""How long the records of what has ended may take on a loaded machine."""

TALK: Final = (
    "the bus was late again", "mine came on time", "it rained all morning", "we saw two herons",
    "somebody left a bicycle",
    "the bakery has new bread", "they mended the bench", "the market is full",
)  # fmt: skip
"""What Ann and Bob say to one another when it does not matter."""


class Performance:
    """One case in one room.

    A case that comes to no end within ``within`` is a result as well: its fault says where it stood.
    """

    def __init__(self, house: House, case: Case, room: str, within: timedelta) -> None:
        self._house = house
        self._case = case
        self._room = room
        self._within = within
        self._said: dict[str, str] = {}

    @classmethod
    async def given(cls, house: House, case: Case, name: str, within: timedelta) -> Observed:
        """Perform a case in a fresh room."""
        room: Json = await house.stage.call("create_room", name=name)
        return await cls(house, case, room["id"], within).perform()

    async def perform(self) -> Observed:
        """Do every step, wait for every end, and gather what is to be seen."""
        fault = None
        if self._house.provider is not None:
            await self._house.provider.reset()
            if script := answers(self._case.script):
                await self._house.provider.script(*script)
        try:
            for step in self._case.play:
                await self._do(step)
            await self._settled(self._case.labels)
        except (HouseError, TimeoutError) as error:
            fault = str(error) or "a gate was never reached"
        try:
            return await self._seen(fault)
        except HouseError as error:
            return Observed(ends={}, fault=fault or str(error))

    async def _do(self, step: Step) -> None:
        provider = self._house.provider
        match step:
            case Say():
                await self._say(step)
            case Chatter(chatter=count):
                await self._chatter(count)
            case Reach(reach=gate, otherwise_s=seconds):
                if provider is None:
                    await self._house.wait(timedelta(seconds=seconds))
                else:
                    await provider.arrived(gate, within_s=self._within.total_seconds())
            case Open(open=gate):
                if provider is not None:
                    await provider.open(gate)
            case Accepted(accepted=labels):
                await self._happened(labels, frozenset({"accepted"}), "the captain has")
            case Settle(settle=labels):
                await self._settled(labels)
            case Restart():
                await self._house.restart_captain()
            case _:
                assert_never(step)

    async def _chatter(self, count: int) -> None:
        for number in range(count):
            words = f"{TALK[number % len(TALK)]} by the river ({number + 1})"
            said = await self._house.stage.say(("Ann", "Bob")[number % 2], words, room=self._room)
            # He may read some of it, since his last word is near; the next is said once that is over.
            over = partial(self._has_happened, said["id"], READ)
            await self._house.until(over, "talk between people is read", self._within)

    async def _say(self, step: Say) -> None:
        attachments = [_picture(step.picture)] if step.picture else []
        said = await self._house.stage.say(step.by, step.say, room=self._room, attachments=attachments)
        if step.label is not None:
            self._said[step.label] = said["id"]

    async def _settled(self, labels: tuple[str, ...] | list[str]) -> None:
        await self._happened(labels, ENDS, "there is an end of")

    async def _happened(self, labels: tuple[str, ...] | list[str], wanted: frozenset[str], what: str) -> None:
        for label in labels:
            await self._house.until(
                partial(self._has_happened, self._said[label], wanted), f"{what} {label}", self._within
            )

    async def _has_happened(self, message: str, wanted: frozenset[str]) -> bool:
        return not wanted.isdisjoint(self._house.evidence(message))

    async def _seen(self, fault: str | None) -> Observed:
        labels = {message: label for label, message in self._said.items()}
        told = {label: await self._house.result(message) for label, message in self._said.items()}
        ends = {label: _end(each, labels) for label, each in told.items() if each["state"] in ENDS}
        if fault is None:
            await self._written(ends)
        messages = [each for each in await self._house.stage.messages(self._room) if each["author"].get("bot")]
        latencies = self._house.latencies()
        called = [await self._house.tools(message) for message in labels]
        return Observed(
            ends=ends,
            posted=tuple(Posted(text=each["content"], to=labels.get(_answered(each))) for each in messages),
            tools=tuple(dict.fromkeys(tool for each in called for tool in each)),
            latencies_ms=tuple(latencies[message] for message in labels if message in latencies),
            runs=tuple(_run(line) for line in self._house.settled(self._room)),
            fault=fault,
        )

    async def _written(self, ends: dict[str, End]) -> None:
        """Wait for the receipts and the lines of what has ended; they come a moment later."""
        owners = {self._said[label] for label, end in ends.items() if end.state in ("replied", "silent")}
        replied = {self._said[label] for label, end in ends.items() if end.state == "replied"}

        async def there() -> bool:
            lines = {line["delivery"] for line in self._house.settled(self._room)}
            return owners <= lines and replied <= self._house.latencies().keys()

        await self._house.until(there, "every end is written down", WRITTEN_WITHIN)


def answers(script: list[Rule]) -> list[Answer]:
    """The scripted model's steps."""
    return [when(_answer(rule), rule.last, rule.anywhere) for rule in script for _ in range(rule.times)]


def _answer(rule: Rule) -> Answer:
    if rule.call is not None:
        wanted = call(rule.call.tool, rule.call.arguments)
        return _behind(rule.gate, calls(wanted))
    if rule.silence:
        return _behind(rule.gate, silence())
    assert rule.say is not None
    return gated(rule.gate, rule.say) if rule.gate else text(rule.say)


def _behind(gate: str | None, step: Answer) -> Answer:
    return step if gate is None else Answer((*gated(gate).beats[:1], *step.beats), label=step.label)


def _end(told: Json, labels: dict[str, str]) -> End:
    by = told.get("answered_by")
    return End(
        state=told["state"], by=labels.get(by, "another") if by else None, text=told.get("text"), code=told.get("code")
    )


def _answered(message: Json) -> str:
    reference: Json | None = message.get("message_reference")
    return str(reference.get("message_id")) if reference else ""


def _run(line: Json) -> Run:
    return Run(
        input=line["input_tokens"],
        output=line["output_tokens"],
        cached=line["cached_tokens"],
        context=line["context_end_tokens"] or 0,
    )


def _picture(colour: str) -> Json:
    kept = io.BytesIO()
    Image.new("RGB", (320, 240), colour).save(kept, "PNG")
    return {"filename": "picture.png", "content": base64.b64encode(kept.getvalue()).decode()}

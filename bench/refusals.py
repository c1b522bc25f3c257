"""How many messages of a server that did not admit him the bridge normalizes and refuses in a second of processor."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.figures import Row
from bench.house import House
from bench.programs import PATIENCE_S, Program, until
from clankie_bridge.core.admission import Policy, Refusal, judge
from clankie_bridge.discord import normalize
from clankie_stage.app import Stage
from clankie_stage.client import StageClient

TARGET: Final = 10_000
"""Events a second of processor time."""

ELSEWHERE: Final = "1319999999999999999"
"""The only server that admitted him: not the stage's."""

_A_CALL: Final = 500
_SENTENCE: Final = "Has anybody seen how the two of them got on with the boat, or is it still in the shed?"


async def payloads() -> list[dict[str, Any]]:
    """MESSAGE_CREATE payloads as the stage's gateway sends them: six plain, a mention, a reply, a picture, a GIF."""
    async with Stage.running() as stage:
        say = stage.control.say
        said = [say("Bob", f"{_SENTENCE} {number}") for number in range(6)]
        said.append(say("Bob", f"<@{stage.world.bot_id}> {_SENTENCE}"))
        said.append(say("Ann", _SENTENCE, reply_to=said[0]["id"]))
        said.append(say("Ann", _SENTENCE, attachments=[{"filename": "boat.png", "content": "iVBORw0KGgo="}]))
        gif = {"type": "gifv", "url": "https://tenor.example/1", "thumbnail": {"proxy_url": "https://media.example/1"}}
        said.append(say("Ann", "https://tenor.example/1", embeds=[gif]))
        sent = stage.control.parts.happenings.payloads
        messages = [stage.world.message(each["id"]) for each in said]
        return [json.loads(json.dumps(sent.created(each, stage.world.rooms[each.room_id]))) for each in messages]


async def as_functions(rounds: int, say: Callable[[str], None]) -> Row:
    """Normalize and judge, nothing else."""
    events, policy, rates = await payloads(), Policy(guilds=frozenset({ELSEWHERE})), list[float]()
    for _ in range(5):
        began = time.process_time()
        for _ in range(rounds):
            for each in events:
                message = normalize.message(each)
                assert message is not None
                assert judge(message, policy, "1", None) is Refusal.GUILD_NOT_ADMITTED
        rates.append(rounds * len(events) / (time.process_time() - began))
    say(f"refused as functions: {median(rates):,.0f} a second")
    shown = f"{median(rates):,.0f} a CPU-second ({min(rates):,.0f}-{max(rates):,.0f})"
    return Row("refusals, the functions alone", median(rates), shown, TARGET, at_least=True)


async def as_a_bridge(house: House, count: int, say: Callable[[str], None]) -> Row:
    """The whole bridge with hikari's gateway, from bytes on a socket to a line of evidence."""
    async with house.bridge("bridge-refusing", "refusing", ELSEWHERE) as bridge:
        await house.stage.wait_connected(within_s=PATIENCE_S)
        spent = await _flooded(house.stage, bridge, house.evidence("refusing"), count)
    say(f"refused by a bridge: {count / spent:,.0f} a second")
    shown = f"{count / spent:,.0f} a CPU-second ({count:,} events)"
    return Row("refusals, the whole bridge", count / spent, shown, TARGET, at_least=True)


async def _flooded(stage: StageClient, bridge: Program, evidence: Path, count: int) -> float:
    async def refused(wanted: int) -> bool:
        return await asyncio.to_thread(_lines, evidence) >= wanted

    spent = 0.0
    # The first time for warmth: what a bridge does as it starts is not counted.
    for wanted in (count, 2 * count):
        spent = bridge.cpu_s()
        for _ in range(count // _A_CALL):
            await stage.call("flood", user="Bob", count=_A_CALL, content=_SENTENCE)
        await until(lambda wanted=wanted: refused(wanted), bridge)
    return bridge.cpu_s() - spent


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0

"""C49: what Discord refuses on and on is not asked on and on, and nothing is lost by that."""

import httpx

from clankie_bridge.core.breaker import HELD_FOR, REFUSALS
from clankie_bridge.core.render import Words
from clankie_bridge.discord.caution import HELD_BACK, Caution
from clankie_bridge.discord.rest import Rest
from clankie_bridge.discord.send import DiscordSender, Gate
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Outgoing, Posted
from clankie_settings.crashing import NoCrash
from tests.bridge.conftest import KeptLog
from tests.bridge.discord.test_send import Discord, NoTraces, problem


def carefully(discord: Discord, log: KeptLog) -> Rest:
    caution = Caution(discord.clock, log)
    return Rest("token", "https://discord.test/api/v10", httpx.MockTransport(discord), caution)


async def asked(rest: Rest, times: int) -> list[str]:
    """Ask so often; why there was no answer."""
    causes: list[str] = []
    for _ in range(times):
        try:
            await rest.get("/users/@me")
        except DiscordAway as away:
            causes.append(away.cause)
    return causes


async def test_after_too_many_refusals_nothing_leaves_until_discord_has_forgotten_them() -> None:
    discord, log = Discord(*[problem(403, 50_013)] * REFUSALS), KeptLog()
    rest = carefully(discord, log)
    assert await asked(rest, REFUSALS + 5) == [HELD_BACK] * 5
    assert len(discord.asked) == REFUSALS
    # Said once, with what to do.
    (said,) = [line for line in log.lines if line["event"] == "discord_held_back"]
    assert said["level"] == "error"
    assert "DISCORD_BOT_TOKEN" in said["remedy"]
    discord.clock.at += HELD_FOR
    assert await asked(rest, 1) == []
    assert [line["event"] for line in log.lines][-1] == "discord_asked_again"


async def test_a_shared_limit_is_not_held_against_him() -> None:
    shared = httpx.Response(429, json={"retry_after": 1}, headers={"X-RateLimit-Scope": "shared"})
    discord = Discord(*[shared] * (REFUSALS + 1))
    assert await asked(carefully(discord, KeptLog()), REFUSALS + 1) == []


async def test_words_that_were_held_back_are_posted_afterwards_with_their_nonce() -> None:
    discord, log = Discord(*[problem(403, 50_013)] * REFUSALS), KeptLog()
    rest = carefully(discord, log)
    await asked(rest, REFUSALS)
    sender = DiscordSender(rest, Gate(discord.clock), NoTraces(), NoCrash(), discord.clock, lambda: 0.0, log)
    began = discord.clock.at
    posted = await sender.send(Outgoing("1310000000000000100", Words("hi"), "n", None))
    assert isinstance(posted, Posted)
    assert discord.clock.at - began >= HELD_FOR
    assert len(discord.asked) == REFUSALS + 1

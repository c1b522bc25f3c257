"""The servers: is he on those that are admitted, and what may he do in their channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clankie_cli.checks import permissions
from clankie_cli.checks.bot import Bot
from clankie_cli.checks.discord import Discord
from clankie_cli.checks.finding import Finding, note, ok, skipped, wrong
from clankie_settings.schema import BridgeSettings

MOST: Final = 20
"""Servers that are looked at; one with more is no first set-up."""

SHOWN: Final = 5
"""Channels that are named in one line."""

NONE_ADMITTED: Final = "no server is admitted: set CLANKIE_DISCORD_GUILDS to your server's id, or * for every one"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, and what he lacks there."""

    id: str
    lacks: tuple[str, ...]
    misses: tuple[str, ...]


async def looked_at(discord: Discord, bot: Bot, settings: BridgeSettings) -> list[Finding]:
    """Membership and permissions, a line a server each."""
    if not settings.discord_guilds:
        return [wrong("server", NONE_ADMITTED)]
    listed = await discord.get("/users/@me/guilds", {"limit": "200"})
    if not listed.ok:
        return [wrong("server", listed.trouble)]
    joined = [str(each.get("id")) for each in listed.items]
    wanted = joined if "*" in settings.discord_guilds else [*settings.discord_guilds]
    if not wanted:
        return [wrong("server", f"he is on no server yet: open {bot.invitation}")]
    found: list[Finding] = []
    if len(wanted) > MOST:
        found.append(note("server", f"only the first {MOST} of {len(wanted)} servers are looked at"))
    sought = set(settings.discord_channels)
    for guild in wanted[:MOST]:
        if guild not in joined:
            found.append(wrong("server", f"he is not on the server {guild}: open {bot.invitation}"))
            continue
        found.append(ok("server", f"he is on the server {guild}"))
        channels = await _channels(discord, bot, guild)
        if isinstance(channels, Finding):
            found.append(channels)
        else:
            mine = [each for each in channels if each.id in sought]
            sought -= {each.id for each in channels}
            found.append(permitted(guild, mine if settings.discord_channels else channels, bot, named=bool(mine)))
    return [*found, *[await _elsewhere(discord, each) for each in sorted(sought)]]


def permitted(guild: str, channels: Sequence[Channel], bot: Bot, *, named: bool) -> Finding:
    """What he may do in these channels of a server; ``named`` where the settings name them one by one."""
    if not channels:
        return skipped("permissions", f"no admitted channel lies on the server {guild}")
    shut = [each for each in channels if each.lacks]
    said = f"he can read and write in {len(channels) - len(shut)} of {len(channels)} channels of {guild}"
    remedy = "give his role these in the channel's settings, Permissions"
    if shut:
        places = "; ".join(f"{each.id} lacks {', '.join(each.lacks)}" for each in shut[:SHOWN])
        more = f"; and {len(shut) - SHOWN} more" if len(shut) > SHOWN else ""
        # A channel that is not for him is usual; one that the settings name is not, nor is none at all.
        say = wrong if named or len(shut) == len(channels) else note
        return say("permissions", f"{said}; {places}{more}: {remedy}")
    misses = sorted({name for each in channels for name in each.misses})
    if misses:
        return note(
            "permissions", f"{said}, somewhere without {', '.join(misses)}: {remedy}, or invite anew: {bot.invitation}"
        )
    return ok("permissions", said)


async def _channels(discord: Discord, bot: Bot, guild: str) -> list[Channel] | Finding:
    replies = [
        await discord.get(f"/guilds/{guild}/roles"),
        await discord.get(f"/guilds/{guild}/members/{bot.user}"),
        await discord.get(f"/guilds/{guild}/channels"),
    ]
    for reply in replies:
        if not reply.ok:
            return wrong("permissions", reply.trouble)
    roles, member, channels = replies
    return [
        _channel(roles.items, member.fields, each, guild)
        for each in channels.items
        if each.get("type") in permissions.WRITTEN_IN
    ]


def _channel(roles: Sequence[Json], member: Json, channel: Json, guild: str) -> Channel:
    bits = permissions.in_channel(roles, member, channel, guild)
    lacks = permissions.lacking(bits, permissions.needed_in(channel))
    return Channel(str(channel.get("id")), tuple(lacks), tuple(permissions.lacking(bits, permissions.USEFUL)))


async def _elsewhere(discord: Discord, channel: str) -> Finding:
    """A channel that the settings name and no admitted server lists: a thread, or a mistake."""
    reply = await discord.get(f"/channels/{channel}")
    if reply.ok:
        return note("permissions", f"CLANKIE_DISCORD_CHANNELS: {channel} is a thread, or on a server not admitted")
    gone = reply.status in (403, 404)
    remedy = "correct the id, or let his role view the channel"
    return wrong("permissions", f"CLANKIE_DISCORD_CHANNELS: {channel}: {reply.trouble}{f'; {remedy}' if gone else ''}")

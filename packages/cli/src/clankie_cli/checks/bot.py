"""The bot: its token, its intents, and this machine's clock against Discord's."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from clankie_cli.checks.discord import PORTAL, Discord, Reply, invitation
from clankie_cli.checks.finding import Finding, ok, skipped, wrong
from clankie_cli.plain import plain

CONTENT_FLAGS: Final = 1 << 18 | 1 << 19
"""Application flags of the Message Content intent: granted in review, or switched on for a small bot."""

SKEW: Final = timedelta(seconds=30)
"""A clock that is off by more mistakes old messages for new ones."""

INTENT_OFF: Final = (
    f"Message Content Intent is off, so Discord hands him empty messages: {PORTAL}, your application, Bot, "
    "Privileged Gateway Intents, switch on Message Content Intent, save"
)


@dataclass(frozen=True, slots=True)
class Bot:
    """Who the token belongs to."""

    user: str
    name: str
    application: str
    owner: str | None

    @property
    def invitation(self) -> str:
        """The address that invites him to a server."""
        return invitation(self.application)


async def looked_at(discord: Discord, now: datetime) -> tuple[Bot | None, list[Finding]]:
    """Who the bot is, with what there is to say about token, intent and clock; None where nobody can say."""
    me = await discord.get("/users/@me")
    if not me.ok:
        first = wrong("token", me.trouble)
        return None, [first, skipped("intent", "the token comes first"), _clock(me, now)]
    application = await discord.get("/applications/@me")
    fields = application.fields
    owner = fields.get("owner")
    bot = Bot(
        user=str(me.fields.get("id")),
        name=plain(str(me.fields.get("username"))),
        application=str(fields.get("id") or me.fields.get("id")),
        owner=_owner(owner, team=fields.get("team")),
    )
    said = ok("token", f"it is that of the bot {bot.name} ({bot.user})")
    return bot, [said, intent(application), _clock(me, now)]


def intent(application: Reply) -> Finding:
    """Whether he gets to read what people write. Source: ING-8."""
    if not application.ok:
        return wrong("intent", application.trouble)
    flags = application.fields.get("flags")
    if isinstance(flags, int) and flags & CONTENT_FLAGS:
        return ok("intent", "Message Content Intent is on")
    return wrong("intent", INTENT_OFF)


def _owner(owner: object, *, team: object) -> str | None:
    # A team's owner is the team, which is nobody who writes.
    if not isinstance(owner, dict) or team is not None:
        return None
    named: object = owner.get("id")  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
    return named if isinstance(named, str) else None


def _clock(reply: Reply, now: datetime) -> Finding:
    if reply.date is None:
        return skipped("clock", "Discord's time is not known")
    off = now - reply.date
    if abs(off) <= SKEW:
        return ok("clock", "it agrees with Discord's")
    ahead = "ahead of" if off > timedelta() else "behind"
    seconds = round(abs(off).total_seconds())
    return wrong("clock", f"this machine is {seconds} s {ahead} Discord: switch on its time synchronisation (NTP)")

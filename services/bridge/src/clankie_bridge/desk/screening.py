"""Which messages are admitted, once each; every refusal is evidence. Source: ING-1, ING-5."""

from collections import OrderedDict
from enum import Enum, auto
from typing import Final

from clankie_bridge.core import admission
from clankie_bridge.core.admission import Policy, Refusal
from clankie_bridge.core.message import Message
from clankie_bridge.desk.myself import Myself
from clankie_bridge.ports import Evidence, Happened, Log

SEEN: Final = 10_000
"""Message ids that are remembered so that a replayed event starts nothing."""

REMEDIES: Final = {
    Refusal.DM_POLICY: "set CLANKIE_DISCORD_DM_POLICY to owner or allowlist, and CLANKIE_OWNER_ID",
    Refusal.GUILD_NOT_ADMITTED: "add the guild's id to CLANKIE_DISCORD_GUILDS",
    Refusal.CHANNEL_NOT_ADMITTED: "add the channel's id to CLANKIE_DISCORD_CHANNELS, or empty that list",
    Refusal.ACTOR_NOT_ADMITTED: "add the user to CLANKIE_DISCORD_USERS or a role to CLANKIE_DISCORD_ROLES",
}
"""What the owner does about a refusal that comes from a setting."""

NOTHING_SEEN: Final = (
    "a message came with nothing in it: if people see words there, the Message Content intent is off or was withdrawn"
)

_GUILDS_TOLD: Final = 1_000


class Verdict(Enum):
    """What a message may become."""

    TURN = auto()
    TALK = auto()
    NOTHING = auto()


class Screening:
    """Judges live messages and missed ones alike."""

    def __init__(self, *, policy: Policy, evidence: Evidence, log: Log, bot: Myself) -> None:
        self._policy = policy
        self._evidence = evidence
        self._log = log
        self._bot = bot
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._told: set[tuple[str | None, Refusal]] = set()
        self._nothing_seen = False

    def is_new(self, message: Message) -> bool:
        """Whether a message was not seen before; from now on it was."""
        if message.id in self._seen:
            return False
        self._seen[message.id] = None
        if len(self._seen) > SEEN:
            self._seen.popitem(last=False)
        return True

    def judged(self, message: Message, parent_id: str | None) -> Verdict:
        """What a message may become. Source: ING-1."""
        bot_id = self._bot.id or ""
        refusal = admission.judge(message, self._policy, bot_id, parent_id)
        if refusal is None:
            return Verdict.TURN
        self._refuse(message, refusal)
        if refusal in (Refusal.GUILD_NOT_ADMITTED, Refusal.CHANNEL_NOT_ADMITTED, Refusal.DM_POLICY):
            return Verdict.NOTHING
        return Verdict.TALK if admission.is_room_talk(message, self._policy, bot_id, parent_id) else Verdict.NOTHING

    def _refuse(self, message: Message, refusal: Refusal) -> None:
        self._evidence.record(Happened.DROPPED, message.id, message.channel_id, refusal)
        remedy = REMEDIES.get(refusal)
        if remedy is None:
            if refusal is Refusal.EMPTY and message.guild_id is not None and not self._nothing_seen:
                self._nothing_seen = True
                self._log.warning("empty_message", guild=message.guild_id, remedy=NOTHING_SEEN)
            return
        key = (message.guild_id, refusal)
        if key not in self._told and len(self._told) < _GUILDS_TOLD:
            self._told.add(key)
            self._log.warning("not_admitted", guild=message.guild_id or "dm", reason=refusal.value, remedy=remedy)

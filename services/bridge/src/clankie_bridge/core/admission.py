"""Whether a message may become a turn, judged in one fixed order. Source: ING-1."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from clankie_bridge.core.commands import Invocation
from clankie_bridge.core.message import COMMAND_REPLIES, DEFAULT, REPLY, THREAD_STARTER, Message
from clankie_bridge.core.text import is_visible


class Refusal(StrEnum):
    """Why a message was not admitted; a reason code of the evidence."""

    OWN_MESSAGE = "own_message"
    BOT = "bot"
    SYSTEM_MESSAGE = "system_message"
    DM_POLICY = "dm_policy"
    GUILD_NOT_ADMITTED = "guild_not_admitted"
    CHANNEL_NOT_ADMITTED = "channel_not_admitted"
    ACTOR_NOT_ADMITTED = "actor_not_admitted"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Policy:
    """The owner's lists. Empty ``guilds`` admit none and ``*`` all; the other empty lists admit everyone there."""

    guilds: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    bots: bool = False
    dms: Literal["deny", "owner", "allowlist"] = "deny"
    owner_id: str | None = None


def judge(message: Message, policy: Policy, bot_id: str, parent_id: str | None) -> Refusal | None:
    """The first reason against the message, or None where it is admitted.

    ``parent_id`` is the channel that a thread hangs on, where it is known.

    Source: ING-1.
    """
    author = message.author
    if author.id == bot_id:
        return Refusal.OWN_MESSAGE
    if (author.is_bot or author.is_webhook) and not policy.bots:
        return Refusal.BOT
    if message.type not in (DEFAULT, REPLY):
        return Refusal.SYSTEM_MESSAGE
    if (refusal := judge_place(message, policy, parent_id)) is not None:
        return refusal
    if message.guild_id is not None and not _listens_to(message, policy):
        return Refusal.ACTOR_NOT_ADMITTED
    return Refusal.EMPTY if is_empty(message) else None


def judge_command(given: Invocation, policy: Policy, parent_id: str | None) -> Refusal | None:
    """The first reason against a command, or None where its giver is listened to in that place.

    Source: ING-1, OPS-5.
    """
    if (refusal := judge_place(given, policy, parent_id)) is not None:
        return refusal
    listened = given.guild_id is None or _listens_to(given, policy)
    return None if listened else Refusal.ACTOR_NOT_ADMITTED


def judge_place(message: Message | Invocation, policy: Policy, parent_id: str | None) -> Refusal | None:
    """The reason against the place it was written in, whoever wrote it."""
    if message.guild_id is None:
        return None if _reads_dm(message.author.id, policy) else Refusal.DM_POLICY
    return judge_channel(policy, message.guild_id, message.channel_id, parent_id)


def judge_channel(policy: Policy, guild_id: str, channel_id: str, parent_id: str | None) -> Refusal | None:
    """The reason against a channel of a guild."""
    if guild_id not in policy.guilds and "*" not in policy.guilds:
        return Refusal.GUILD_NOT_ADMITTED
    if policy.channels and channel_id not in policy.channels and parent_id not in policy.channels:
        return Refusal.CHANNEL_NOT_ADMITTED
    return None


def is_room_talk(message: Message, policy: Policy, bot_id: str, parent_id: str | None) -> bool:
    """Whether the message belongs to what was said in a room that he reads, admitted as a turn or not.

    His own words belong, and those of bots; joins, pins and the like do not.
    """
    if message.type not in (DEFAULT, REPLY, THREAD_STARTER) and message.type not in COMMAND_REPLIES:
        return False
    if message.guild_id is None and message.author.id == bot_id:
        return True
    return judge_place(message, policy, parent_id) is None


def is_empty(message: Message) -> bool:
    """Whether nobody could see anything of the message."""
    if replace(message, forward=None).carries_more or is_visible(message.content):
        return False
    forward = message.forward
    return forward is None or not (forward.files or forward.gifvs or is_visible(forward.content))


def _reads_dm(author_id: str, policy: Policy) -> bool:
    if policy.dms == "deny":
        return False
    return author_id == policy.owner_id or (policy.dms == "allowlist" and author_id in policy.users)


def _listens_to(message: Message | Invocation, policy: Policy) -> bool:
    if not policy.users and not policy.roles:
        return True
    return message.author.id in policy.users or not policy.roles.isdisjoint(message.author.role_ids)

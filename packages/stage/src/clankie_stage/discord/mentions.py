"""Who a message mentions: Discord reads it from the text, outside of code."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from clankie_stage.discord.errors import invalid_form, invalid_value
from clankie_stage.discord.world import Json

_CODE = re.compile(r"```.*?```|``.*?``|`[^`]*`", re.DOTALL)
_USER = re.compile(r"<@!?(\d{15,20})>")
_ROLE = re.compile(r"<@&(\d{15,20})>")
_EVERYONE = re.compile(r"@(everyone|here)\b")


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentioned users and roles in the order of the text, and whether everyone is."""

    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    everyone: bool = False


@dataclass(frozen=True, slots=True)
class AllowedMentions:
    """What a sender allows to notify; everything, where nothing was said."""

    parse: frozenset[str] = frozenset({"users", "roles", "everyone"})
    users: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    replied_user: bool = True

    def allows(self, mentions: Mentions) -> Mentions:
        """The part of the mentions that may notify."""
        return Mentions(
            tuple(each for each in mentions.users if "users" in self.parse or each in self.users),
            tuple(each for each in mentions.roles if "roles" in self.parse or each in self.roles),
            mentions.everyone and "everyone" in self.parse,
        )


def mentions_in(text: str, users: Collection[str], roles: Collection[str]) -> Mentions:
    """The mentions of a text, of users and roles that exist. Code blocks and spans mention nobody."""
    spoken = _CODE.sub(" ", text)
    found_users = dict.fromkeys(each for each in _USER.findall(spoken) if each in users)
    found_roles = dict.fromkeys(each for each in _ROLE.findall(spoken) if each in roles)
    return Mentions(tuple(found_users), tuple(found_roles), bool(_EVERYONE.search(spoken)))


def allowed_mentions(raw: Json | None) -> AllowedMentions:
    """Read ``allowed_mentions`` of a request as strictly as Discord.

    Raises:
        RefusalError: an unknown parse type, a list together with the parse type that
            includes it, or something that is no list.
    """
    if raw is None:
        return AllowedMentions()
    parse = _words(raw, "parse")
    for kind in sorted(parse - {"users", "roles", "everyone"}):
        told = f"Value ({kind!r}) must be one of users, roles, everyone."
        raise invalid_form("allowed_mentions.parse", "BASE_TYPE_CHOICES", told)
    lists = {kind: _words(raw, kind) for kind in ("users", "roles")}
    for kind, ids in lists.items():
        if ids and kind in parse:
            told = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            raise invalid_form("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", told)
    return AllowedMentions(parse, lists["users"], lists["roles"], bool(raw.get("replied_user", False)))


def _words(raw: Json, key: str) -> frozenset[str]:
    given = raw.get(key)
    if given is None:
        return frozenset()
    if not isinstance(given, list) or not all(isinstance(each, str | int) for each in cast("list[object]", given)):
        raise invalid_value(f"allowed_mentions.{key}", "(this value)", "list")
    return frozenset(str(each) for each in cast("list[str | int]", given))

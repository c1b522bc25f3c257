"""Who a message mentions: Discord reads it from the text, outside of code."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from clankie_stage.discord.errors import invalid_form
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
        RefusalError: an unknown parse type, or a list together with the parse type that includes it.
    """
    if raw is None:
        return AllowedMentions()
    parse = frozenset(cast("list[str]", raw.get("parse") or []))
    for kind in sorted(parse - {"users", "roles", "everyone"}):
        raise invalid_form(
            "allowed_mentions.parse", "BASE_TYPE_CHOICES", f"Value ({kind!r}) must be one of users, roles, everyone."
        )
    lists = {kind: frozenset(cast("list[str]", raw.get(kind) or [])) for kind in ("users", "roles")}
    for kind, ids in lists.items():
        if ids and kind in parse:
            raise invalid_form(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )
    return AllowedMentions(parse, lists["users"], lists["roles"], bool(raw.get("replied_user", False)))

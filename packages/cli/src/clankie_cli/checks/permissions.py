"""What the bot may do in a channel, as Discord reckons it. Pure.

Source: https://discord.com/developers/docs/topics/permissions
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

NEEDED: Final = {"View Channels": 10, "Send Messages": 11, "Read Message History": 16}
"""Without one of these he is deaf, mute or forgetful in a channel: bits by the names that Discord shows."""

USEFUL: Final = {"Send Messages in Threads": 38, "Attach Files": 15, "Embed Links": 14, "Add Reactions": 6}
"""Without these something of what he does is missing."""

FORUM: Final = (15, 16)
"""Channel types in which people write in threads alone."""

WRITTEN_IN: Final = (0, 5, *FORUM)
"""Channel types that he writes in: text, announcements, forums."""

_ADMINISTRATOR: Final = 1 << 3
_ALL: Final = (1 << 53) - 1

Json = dict[str, Any]


def in_channel(roles: Iterable[Json], member: Json, channel: Json, guild: str) -> int:
    """The permission bits of a member in a channel.

    Args:
        roles: All roles of the guild.
        member: The member, with ``roles`` and ``user``.
        channel: The channel, with its ``permission_overwrites``.
        guild: The guild's id, which is also that of ``@everyone``.
    """
    own = {guild, *(str(each) for each in cast("list[Any]", member.get("roles") or []))}
    bits = 0
    for role in roles:
        if role.get("id") in own:
            bits |= _bits(role.get("permissions"))
    if bits & _ADMINISTRATOR:
        return _ALL
    user = str(cast("Json", member.get("user") or {}).get("id"))
    overwrites = {str(each.get("id")): each for each in cast("list[Json]", channel.get("permission_overwrites") or [])}
    everyone = [overwrites[guild]] if guild in overwrites else []
    by_role = [each for name, each in overwrites.items() if name in own and name != guild]
    for layer in (everyone, by_role, [overwrites[user]] if user in overwrites else []):
        bits = _over(bits, layer)
    return bits


def lacking(bits: int, wanted: Mapping[str, int]) -> list[str]:
    """The names of those wanted permissions that are not there."""
    return [name for name, place in wanted.items() if not bits >> place & 1]


def needed_in(channel: Json) -> dict[str, int]:
    """What he cannot do without in a channel of this type."""
    if channel.get("type") not in FORUM:
        return NEEDED
    threads = {"Send Messages in Threads": USEFUL["Send Messages in Threads"]}
    return {name: place for name, place in NEEDED.items() if name != "Send Messages"} | threads


def _over(bits: int, overwrites: Sequence[Json]) -> int:
    deny = allow = 0
    for each in overwrites:
        deny |= _bits(each.get("deny"))
        allow |= _bits(each.get("allow"))
    return bits & ~deny | allow


def _bits(value: object) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() else 0

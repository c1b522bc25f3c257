"""What the gateway told about guilds: names, the parents of threads, and the roles that stand for him."""

from dataclasses import dataclass, field

from clankie_bridge.core.handover import Place
from clankie_bridge.core.message import THREAD_TYPES
from clankie_bridge.core.missed import Channel
from clankie_bridge.core.text import inert_name
from clankie_bridge.discord.payloads import Json, json_object, number, objects, snowflake
from clankie_settings import bounds


@dataclass(slots=True)
class _Guild:
    name: str | None = None
    bot_role_ids: dict[str, str] = field(default_factory=dict[str, str])
    channel_names: dict[str, str] = field(default_factory=dict[str, str])
    parents: dict[str, str] = field(default_factory=dict[str, str])


class Directory:
    """Guilds, channels and roles, as far as messages need them; grows with the guilds and shrinks with them."""

    def __init__(self) -> None:
        self._guilds: dict[str, _Guild] = {}

    def note(self, name: str, payload: Json) -> None:
        """Take in one gateway event; events that say nothing about guilds are ignored."""
        if name in {"GUILD_CREATE", "GUILD_UPDATE"}:
            self._note_guild(payload)
        elif name == "GUILD_DELETE" and payload.get("unavailable") is not True:
            self._guilds.pop(snowflake(payload.get("id")) or "", None)
        elif name in {"CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"}:
            self._note_channel(self._guild(payload.get("guild_id")), payload)
        elif name in {"CHANNEL_DELETE", "THREAD_DELETE"}:
            self._forget_channel(self._guild(payload.get("guild_id")), payload)
        elif name == "THREAD_LIST_SYNC":
            for thread in objects(payload.get("threads")):
                self._note_channel(self._guild(payload.get("guild_id")), thread)
        elif name in {"GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE"}:
            self._note_role(self._guild(payload.get("guild_id")), json_object(payload.get("role")))
        elif name == "GUILD_ROLE_DELETE":
            self._guild(payload.get("guild_id")).bot_role_ids.pop(snowflake(payload.get("role_id")) or "", None)

    def place(self, guild_id: str | None, channel_id: str) -> Place:
        """Where a channel is."""
        guild = self._guilds.get(guild_id or "")
        if guild is None:
            return Place()
        return Place(guild.parents.get(channel_id), guild.name, guild.channel_names.get(channel_id))

    def parent(self, guild_id: str | None, channel_id: str) -> str | None:
        """The channel that a thread hangs on, where it is known."""
        guild = self._guilds.get(guild_id or "")
        return guild.parents.get(channel_id) if guild is not None else None

    def remember_parent(self, guild_id: str, channel_id: str, parent_id: str) -> None:
        """Keep what was asked for about a thread that the gateway never announced."""
        self._guild(guild_id).parents[channel_id] = parent_id

    def roles_of(self, guild_id: str | None, bot_id: str) -> frozenset[str]:
        """The managed roles that Discord made for this bot in a guild. Source: C64."""
        guild = self._guilds.get(guild_id or "")
        if guild is None:
            return frozenset()
        return frozenset(role_id for role_id, owner in guild.bot_role_ids.items() if owner == bot_id)

    def _guild(self, guild_id: object) -> _Guild:
        key = snowflake(guild_id)
        return self._guilds.setdefault(key, _Guild()) if key is not None else _Guild()

    def _note_guild(self, payload: Json) -> None:
        guild = self._guild(payload.get("id"))
        guild.name = _shown(payload.get("name")) or guild.name
        for role in objects(payload.get("roles")):
            self._note_role(guild, role)
        for channel in (*objects(payload.get("channels")), *objects(payload.get("threads"))):
            self._note_channel(guild, channel)

    @staticmethod
    def _note_role(guild: _Guild, role: Json) -> None:
        role_id, owner = snowflake(role.get("id")), snowflake(json_object(role.get("tags")).get("bot_id"))
        if role_id is not None and owner is not None:
            guild.bot_role_ids[role_id] = owner

    @staticmethod
    def _note_channel(guild: _Guild, channel: Json) -> None:
        channel_id, parent_id = snowflake(channel.get("id")), snowflake(channel.get("parent_id"))
        if channel_id is None:
            return
        if (name := _shown(channel.get("name"))) is not None:
            guild.channel_names[channel_id] = name
        # A channel's parent is its category, which is no place that anybody writes in.
        if parent_id is not None and number(channel.get("type")) in THREAD_TYPES:
            guild.parents[channel_id] = parent_id

    @staticmethod
    def _forget_channel(guild: _Guild, channel: Json) -> None:
        channel_id = snowflake(channel.get("id")) or ""
        guild.channel_names.pop(channel_id, None)
        guild.parents.pop(channel_id, None)


def channels_of(payload: Json) -> tuple[Channel, ...]:
    """The channels and active threads that a GUILD_CREATE event names, with the newest message of each."""
    guild_id = snowflake(payload.get("id"))
    found = (*objects(payload.get("channels")), *objects(payload.get("threads")))
    return tuple(
        Channel(
            channel_id,
            guild_id,
            number(each.get("type")),
            snowflake(each.get("parent_id")) if number(each.get("type")) in THREAD_TYPES else None,
            snowflake(each.get("last_message_id")),
        )
        for each in found
        if (channel_id := snowflake(each.get("id"))) is not None
    )


def _shown(value: object) -> str | None:
    return inert_name(value, bounds.NAME_CHARS) or None if isinstance(value, str) else None

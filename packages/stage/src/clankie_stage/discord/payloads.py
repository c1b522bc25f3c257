"""Users, guilds and rooms in Discord's JSON."""

from collections.abc import Iterable
from datetime import UTC, datetime

from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.snowflakes import snowflake_time
from clankie_stage.discord.world import Guild, Json, Role, Room, RoomType, User, World

VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
ATTACH_FILES = 1 << 15
SEND_IN_THREADS = 1 << 38

_ABSENT_IN_GUILD: tuple[str, ...] = (
    "icon", "splash", "discovery_splash", "afk_channel_id", "application_id", "system_channel_id",
    "rules_channel_id", "vanity_url_code", "description", "banner", "public_updates_channel_id",
    "safety_alerts_channel_id", "max_presences", "hub_type", "incidents_data",
)  # fmt: skip
_ZERO_IN_GUILD: tuple[str, ...] = (
    "verification_level", "default_message_notifications", "explicit_content_filter", "mfa_level",
    "system_channel_flags", "premium_tier", "premium_subscription_count", "nsfw_level",
)  # fmt: skip


def iso(moment: datetime) -> str:
    """A timestamp in Discord's spelling."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def user_payload(user: User) -> Json:
    """A user, as messages and members carry it."""
    payload: Json = {
        "id": user.id,
        "username": user.username,
        "discriminator": "0000" if user.bot else "0",
        "global_name": None if user.bot else user.display_name,
        "avatar": None,
        "avatar_decoration_data": None,
        "collectibles": None,
        "primary_guild": None,
        "clan": None,
        "public_flags": 0,
    }
    if user.bot:
        payload["bot"] = True
    return payload


def self_payload(user: User) -> Json:
    """The bot's own user, as READY and ``/users/@me`` show it."""
    private: Json = {"mfa_enabled": True, "verified": True, "email": None, "flags": 0, "bio": "", "locale": "en-US"}
    return user_payload(user) | private


def member_payload(guild: Guild, user_id: str) -> Json:
    """A guild member without its user, as gateway messages carry it."""
    return {
        "roles": list(guild.members.get(user_id, [])),
        "nick": None,
        "avatar": None,
        "banner": None,
        "joined_at": iso(snowflake_time(guild.id)),
        "premium_since": None,
        "communication_disabled_until": None,
        "pending": False,
        "deaf": False,
        "mute": False,
        "flags": 0,
    }


def full_member_payload(world: World, guild: Guild, user_id: str) -> Json:
    """A guild member with its user."""
    return member_payload(guild, user_id) | {"user": user_payload(world.users[user_id])}


def role_payload(role: Role, position: int) -> Json:
    """A role; the managed role of a bot names it in ``tags``."""
    payload: Json = {
        "id": role.id,
        "name": role.name,
        "permissions": str(role.permissions),
        "position": position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": role.bot_id is not None,
        "mentionable": False,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    }
    if role.bot_id is not None:
        payload["tags"] = {"bot_id": role.bot_id}
    return payload


def role_payloads(guild: Guild) -> list[Json]:
    """All roles of a guild, ``@everyone`` first."""
    return [role_payload(role, position) for position, role in enumerate(guild.roles.values())]


def room_payload(world: World, room: Room, *, in_guild_create: bool = False) -> Json:
    """A channel, thread or DM. Inside GUILD_CREATE Discord leaves ``guild_id`` out of channels."""
    base: Json = {"id": room.id, "type": int(room.type), "flags": 0, "last_message_id": last_message_id(room)}
    if room.recipient_id is not None:
        return base | {"recipients": [user_payload(world.users[room.recipient_id])]}
    base |= {"name": room.name, "guild_id": room.guild_id, "parent_id": room.parent_id, "rate_limit_per_user": 0}
    if room.type.is_thread:
        return base | _thread_part(room)
    if in_guild_create:
        del base["guild_id"]
    siblings = [each.id for each in world.rooms_of(room.guild_id or "") if not each.type.is_thread]
    channel: Json = {
        "position": siblings.index(room.id) if room.id in siblings else len(siblings),
        "topic": None,
        "nsfw": False,
        "last_pin_timestamp": None,
        "permission_overwrites": _overwrites(world, room),
    }
    if room.type is RoomType.FORUM:
        channel |= {
            "available_tags": [],
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
            "template": "",
        }
    return base | channel


def last_message_id(room: Room) -> str | None:
    """The newest message of a room, if it has one."""
    return next(reversed(room.messages), None)


def guild_payload(guild: Guild) -> Json:
    """A guild as REST shows it."""
    payload: Json = dict.fromkeys(_ABSENT_IN_GUILD, None) | dict.fromkeys(_ZERO_IN_GUILD, 0)
    return payload | {
        "id": guild.id,
        "name": guild.name,
        "owner_id": guild.owner_id,
        "afk_timeout": 300,
        "preferred_locale": "en-US",
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": role_payloads(guild),
        "max_members": 500_000,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "premium_progress_bar_enabled": False,
        "nsfw": False,
        "region": "deprecated",
    }


def guild_create_payload(world: World, guild: Guild, bot_id: str) -> Json:
    """A guild as GUILD_CREATE brings it to a session after READY."""
    rooms = world.rooms_of(guild.id)
    visible_threads = [room for room in rooms if room.type.is_thread and room.bot_access != "none"]
    return guild_payload(guild) | {
        "joined_at": iso(snowflake_time(guild.id)),
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [full_member_payload(world, guild, bot_id)],
        "channels": [room_payload(world, room, in_guild_create=True) for room in rooms if not room.type.is_thread],
        "threads": [room_payload(world, room) for room in visible_threads],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "version": 1,
        "lazy": True,
        "application_command_counts": {},
    }


def application_payload(bot: User, owner: User, behaviour: Behaviour) -> Json:
    """The application behind the bot, as ``/applications/@me`` shows it."""
    return {
        "id": bot.id,
        "name": bot.display_name,
        "icon": None,
        "description": "",
        "type": None,
        "bot": user_payload(bot),
        "summary": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": behaviour.application_flags,
        "hook": True,
        "owner": user_payload(owner),
        "team": None,
        "rpc_origins": [],
        "approximate_guild_count": 1,
        "approximate_user_install_count": 0,
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "integration_types_config": {"0": {}},
    }


def mention_payloads(world: World, guild: Guild | None, user_ids: Iterable[str]) -> list[Json]:
    """Mentioned users; in a guild, each with its member."""
    mentioned: list[Json] = []
    for user_id in user_ids:
        payload = user_payload(world.users[user_id])
        if guild is not None and user_id in guild.members:
            payload["member"] = member_payload(guild, user_id)
        mentioned.append(payload)
    return mentioned


def _thread_part(room: Room) -> Json:
    return {
        "owner_id": room.owner_id,
        "message_count": len(room.messages),
        "total_message_sent": len(room.messages),
        "member_count": 2,
        "thread_metadata": {
            "archived": False,
            "archive_timestamp": iso(snowflake_time(room.id)),
            "auto_archive_duration": 4320,
            "locked": False,
            "create_timestamp": iso(snowflake_time(room.id)),
        },
    }


def _overwrites(world: World, room: Room) -> list[Json]:
    guild = world.guilds.get(room.guild_id or "")
    if room.bot_access == "full" or guild is None:
        return []
    deny = {"none": VIEW_CHANNEL, "read": SEND_MESSAGES | SEND_IN_THREADS, "words": ATTACH_FILES}[room.bot_access]
    managed = [role.id for role in guild.roles.values() if role.bot_id == world.bot_id]
    return [{"id": role_id, "type": 0, "allow": "0", "deny": str(deny)} for role_id in managed]

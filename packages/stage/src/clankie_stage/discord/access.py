"""What the bot may reach: rooms it can see, rooms it can write in, messages that exist."""

from clankie_stage.discord import errors
from clankie_stage.discord.calls import Call
from clankie_stage.discord.world import Guild, Message, Room, World


def guild_of(world: World, call: Call) -> Guild:
    """The guild that the path names.

    Raises:
        RefusalError: there is none, or the bot is not in it.
    """
    guild = world.guilds.get(call.snowflake("guild_id"))
    if guild is None or world.bot_id not in guild.members:
        raise errors.unknown("Guild")
    return guild


def readable_room(world: World, call: Call) -> Room:
    """The room that the path names, if the bot can see it.

    Raises:
        RefusalError: there is none, or it is hidden from the bot.
    """
    room = world.rooms.get(call.snowflake("channel_id"))
    if room is None:
        raise errors.unknown("Channel")
    if room.bot_access == "none":
        raise errors.missing_access()
    return room


def writable_room(world: World, call: Call) -> Room:
    """The room that the path names, if the bot may write in it.

    Raises:
        RefusalError: there is none, it is hidden or read-only, or a DM that is closed to the bot.
    """
    room = readable_room(world, call)
    if room.bot_access == "read":
        raise errors.missing_permissions()
    if room.recipient_id is not None and not world.users[room.recipient_id].dms_open:
        raise errors.closed_dm()
    return room


def judge_attaching(room: Room, call: Call) -> None:
    """Let nobody without the permission attach files.

    Raises:
        RefusalError: the bot may not attach files here, and there are some.
    """
    if call.files and room.bot_access == "words":
        raise errors.missing_permissions()


def message_in(room: Room, call: Call) -> Message:
    """The message that the path names in this room.

    Raises:
        RefusalError: there is none.
    """
    message = room.messages.get(call.snowflake("message_id"))
    if message is None:
        raise errors.unknown("Message")
    return message

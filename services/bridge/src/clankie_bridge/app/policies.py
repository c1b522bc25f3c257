"""The owner's settings, as the parts ask for them."""

from collections.abc import Callable, Mapping

from clankie_bridge.core.admission import Policy
from clankie_bridge.core.exchange import ReplyPolicies, ReplyPolicy
from clankie_bridge.core.manners import Switch
from clankie_bridge.desk.room import Room
from clankie_bridge.discord.directory import Directory
from clankie_settings.schema import BridgeSettings


def switched(directory: Directory, chosen: Mapping[str, bool | None]) -> Callable[[Room], bool]:
    """Whether something is on in a room: everywhere, but where the owner chose otherwise."""
    switch = Switch({key: on for key, on in chosen.items() if on is not None})
    return lambda room: switch.is_on(room.guild_id, room.channel_id, directory.parent(room.guild_id, room.channel_id))


def admitting(settings: BridgeSettings) -> Policy:
    """Whom he listens to, and where."""
    return Policy(
        guilds=frozenset(settings.discord_guilds),
        channels=frozenset(settings.discord_channels),
        users=frozenset(settings.discord_users),
        roles=frozenset(settings.discord_roles),
        bots=settings.discord_bots,
        dms=settings.discord_dm_policy,
        owner_id=settings.owner_id,
    )


def replying(settings: BridgeSettings) -> ReplyPolicies:
    """What becomes a turn in each room."""
    chosen: dict[str, ReplyPolicy] = {
        key: room.reply_policy for key, room in settings.rooms.items() if room.reply_policy is not None
    }
    return ReplyPolicies(settings.reply_policy, chosen)

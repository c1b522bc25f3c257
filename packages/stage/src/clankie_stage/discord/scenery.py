"""The world that a stage opens with: one server, three people, Clankie. Its ids never change."""

from clankie_stage.discord.world import BotAccess, Guild, Role, Room, RoomType, User, World

BOT_ID = "1300000000000000001"
OWNER_ID = "1300000000000000010"
ANN_ID = "1300000000000000011"
BOB_ID = "1300000000000000012"

GUILD_ID = "1310000000000000000"
BOT_ROLE_ID = "1310000000000000001"
FRIENDS_ROLE_ID = "1310000000000000002"

GENERAL_ID = "1310000000000000100"
RANDOM_ID = "1310000000000000101"
NOTICES_ID = "1310000000000000102"
THREAD_ID = "1310000000000000103"

OWNER_DM_ID = "1310000000000000210"
ANN_DM_ID = "1310000000000000211"
BOB_DM_ID = "1310000000000000212"

EVERYONE_PERMISSIONS = 0x0004_0064_9FDD_ECC1
"""What Discord grants ``@everyone`` of a fresh server, roughly: see, read back, write, react, attach, threads."""


def opening_world() -> World:
    """A fresh copy of the opening world: #general, #random, #notices, a thread, and three DMs."""
    world = World(bot_id=BOT_ID, owner_id=OWNER_ID)
    people = [
        User(BOT_ID, "clankie", "Clankie", bot=True),
        User(OWNER_ID, "owner", "The owner"),
        User(ANN_ID, "ann", "Ann"),
        User(BOB_ID, "bob", "Bob"),
    ]
    world.users = {user.id: user for user in people}
    world.guilds[GUILD_ID] = Guild(
        id=GUILD_ID,
        name="The Stage",
        owner_id=OWNER_ID,
        roles={
            GUILD_ID: Role(GUILD_ID, "@everyone", EVERYONE_PERMISSIONS),
            BOT_ROLE_ID: Role(BOT_ROLE_ID, "Clankie", EVERYONE_PERMISSIONS, bot_id=BOT_ID),
            FRIENDS_ROLE_ID: Role(FRIENDS_ROLE_ID, "friends"),
        },
        members={BOT_ID: [BOT_ROLE_ID], OWNER_ID: [], ANN_ID: [FRIENDS_ROLE_ID], BOB_ID: []},
    )
    for room in _rooms():
        world.rooms[room.id] = room
    return world


def _rooms() -> list[Room]:
    def text(room_id: str, name: str, access: BotAccess = "full") -> Room:
        return Room(room_id, RoomType.TEXT, name, guild_id=GUILD_ID, bot_access=access)

    def dm(room_id: str, user_id: str) -> Room:
        return Room(room_id, RoomType.DM, "", recipient_id=user_id)

    thread = Room(THREAD_ID, RoomType.PUBLIC_THREAD, "a thread", guild_id=GUILD_ID)
    thread.parent_id, thread.owner_id = GENERAL_ID, ANN_ID
    return [
        text(GENERAL_ID, "general"),
        text(RANDOM_ID, "random"),
        text(NOTICES_ID, "notices", "read"),
        thread,
        dm(ANN_DM_ID, ANN_ID),
        dm(BOB_DM_ID, BOB_ID),
        dm(OWNER_DM_ID, OWNER_ID),
    ]

"""The shape of payloads, field by field, as Discord's documentation gives them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import hikari

from clankie_stage.app import Stage
from clankie_stage.discord.scenery import ANN_ID, BOT_ID, FRIENDS_ROLE_ID, GENERAL_ID, GUILD_ID

Connect = Callable[..., Awaitable[Any]]

VARYING = {"id", "timestamp", "joined_at"}

PERSON = {
    "username": "ann",
    "discriminator": "0",
    "global_name": "Ann",
    "avatar": None,
    "avatar_decoration_data": None,
    "collectibles": None,
    "primary_guild": None,
    "clan": None,
    "public_flags": 0,
}
MEMBER = {
    "roles": [FRIENDS_ROLE_ID],
    "nick": None,
    "avatar": None,
    "banner": None,
    "premium_since": None,
    "communication_disabled_until": None,
    "pending": False,
    "deaf": False,
    "mute": False,
    "flags": 0,
}
REST_MESSAGE: dict[str, Any] = {
    "type": 0,
    "channel_id": GENERAL_ID,
    "author": PERSON,
    "content": "hello",
    "edited_timestamp": None,
    "tts": False,
    "mention_everyone": False,
    "mentions": [],
    "mention_roles": [],
    "attachments": [],
    "embeds": [],
    "pinned": False,
    "flags": 0,
    "components": [],
}


def steady(payload: Any) -> Any:
    """The payload without what differs from run to run."""
    if isinstance(payload, dict):
        pairs = cast("dict[str, Any]", payload).items()
        return {key: steady(value) for key, value in pairs if key not in VARYING}
    return [steady(each) for each in cast("list[Any]", payload)] if isinstance(payload, list) else payload


async def test_a_message_over_rest_is_exactly_this(stage: Stage) -> None:
    assert steady(stage.control.say("Ann", "hello")) == REST_MESSAGE


async def test_a_message_over_the_gateway_is_exactly_this(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "hello")
    (message,) = await listener.until("MESSAGE_CREATE")
    assert steady(message) == REST_MESSAGE | {"guild_id": GUILD_ID, "member": MEMBER, "channel_type": 0}
    assert message["author"]["id"] == ANN_ID


async def test_a_webhook_message_has_no_member_and_names_its_webhook(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "from elsewhere", webhook="Relay")
    (message,) = await listener.until("MESSAGE_CREATE")
    assert (message["webhook_id"], message["author"]["bot"]) == (message["author"]["id"], True)
    assert "member" not in message


async def test_keys_can_be_forced_and_left_out(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "odd", overrides={"type": 7, "channel_type": 99}, omit=["flags", "embeds"])
    (message,) = await listener.until("MESSAGE_CREATE")
    assert (message["type"], message["channel_type"]) == (7, 99)
    assert not {"flags", "embeds"} & message.keys()


async def test_a_bot_with_a_full_cache_holds_the_whole_guild(stage: Stage) -> None:
    bot = hikari.GatewayBot(stage.token, rest_url=stage.rest_url, banner=None, logs=None)
    available = asyncio.Event()

    async def notice(event: hikari.GuildAvailableEvent) -> None:
        del event
        available.set()

    bot.subscribe(hikari.GuildAvailableEvent, notice)
    await bot.start(check_for_updates=False)
    try:
        async with asyncio.timeout(60):
            await available.wait()
        guild = bot.cache.get_guild(int(GUILD_ID))
        me = bot.cache.get_member(int(GUILD_ID), int(BOT_ID))
        roles: Sequence[hikari.Role] = [] if me is None else me.get_roles()
    finally:
        await bot.close()
    assert guild is not None
    assert guild.name == "The Stage"
    assert any(role.bot_id == int(BOT_ID) for role in roles)


async def test_mentions_are_read_from_the_text_but_not_from_code(stage: Stage) -> None:
    bot, friends = f"<@{BOT_ID}>", f"<@&{FRIENDS_ROLE_ID}>"
    said = stage.control.say("Ann", f"{bot} and {friends} and {bot} @here <@1300000000000000099>")
    assert [user["id"] for user in said["mentions"]] == [BOT_ID]
    assert (said["mention_roles"], said["mention_everyone"]) == ([FRIENDS_ROLE_ID], True)
    code = stage.control.say("Ann", f"`{bot}` ```\n{friends} @everyone\n```")
    assert (code["mentions"], code["mention_roles"], code["mention_everyone"]) == ([], [], False)


async def test_an_edit_reads_mentions_anew_and_keeps_the_replied_to(stage: Stage) -> None:
    first = stage.control.say("Bob", "question")
    said = stage.control.say("Ann", "answer", reply_to=first["id"])
    edited = stage.control.edit(said["id"], f"answer <@{BOT_ID}>")
    assert {user["username"] for user in edited["mentions"]} == {"bob", "clankie"}

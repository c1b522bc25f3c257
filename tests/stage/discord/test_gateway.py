"""What a real hikari bot lives through on the stage's gateway."""

from collections.abc import Awaitable, Callable
from typing import Any

import hikari
import pytest
from hikari.api.shard import GatewayCompression
from hikari.impl.shard import GatewayShardImpl

from clankie_stage.app import Stage
from clankie_stage.discord.behaviour import MESSAGE_CONTENT_LIMITED
from clankie_stage.discord.scenery import ANN_ID, BOT_ID, GENERAL_ID, GUILD_ID, THREAD_ID

Connect = Callable[..., Awaitable[Any]]
GUILD_ONLY = hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES


async def test_a_bot_finds_itself_and_the_rooms_of_its_guild(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    await listener.until("GUILD_CREATE")
    me = listener.bot.get_me()
    assert (me.id, me.username, me.is_bot) == (int(BOT_ID), "clankie", True)
    cached = listener.bot.cache.get_guild_channels_view()
    assert cached[int(GENERAL_ID)].name == "general"
    assert listener.bot.cache.get_thread(int(THREAD_ID)).parent_id == int(GENERAL_ID)
    assert stage.control.recorded({"kind": "gateway_in", "op": 2})[0]["what"]["d"]["token"] == "(hidden)"


async def test_a_guild_message_carries_guild_member_and_room_type(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", f"<@{BOT_ID}> good morning")
    (message,) = await listener.until("MESSAGE_CREATE")
    assert message["guild_id"] == GUILD_ID
    assert message["channel_type"] == 0
    assert message["member"]["roles"] == stage.world.guilds[GUILD_ID].members[ANN_ID]
    assert [user["id"] for user in message["mentions"]] == [BOT_ID]
    assert message["mentions"][0]["member"]["roles"] == stage.world.guilds[GUILD_ID].members[BOT_ID]


async def test_a_dm_carries_neither_guild_nor_member(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "just us", room="@Ann")
    (message,) = await listener.until("MESSAGE_CREATE")
    assert message["channel_type"] == 1
    assert not {"guild_id", "member"} & message.keys()


@pytest.mark.parametrize("compression", ["zlib-stream", "zstd-stream"])
async def test_both_compressions_bring_the_same_messages(
    stage: Stage, connect: Connect, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    # hikari picks one by what is installed and offers no setting, so its default is changed here.
    kind = GatewayCompression(f"transport_{compression.replace('-', '_')}")
    defaults = GatewayShardImpl.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "compression", kind)
    listener = await connect()
    for number in range(20):
        stage.control.say("Bob", f"{number} äöü 🎭 " + "x" * number * 50)
    await listener.until("MESSAGE_CREATE", 20)
    assert listener.texts() == [message["content"] for message in stage.control.messages()]
    (opened,) = stage.control.recorded({"kind": "gateway_open"})
    assert opened["what"]["query"]["compress"] == compression


async def test_what_was_missed_during_a_cut_connection_is_replayed_in_order(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "before")
    await listener.until("MESSAGE_CREATE")
    assert stage.control.drop() == 1
    for number in range(50):
        stage.control.say("Ann", str(number))
    await listener.until("RESUMED")
    await listener.until("MESSAGE_CREATE", 51)
    assert listener.texts() == ["before", *map(str, range(50))]
    assert len(listener.of("READY")) == 1


@pytest.mark.parametrize("disturb", ["reconnect", "invalidate", "close_4000", "close_1001"])
async def test_a_resumable_disturbance_is_resumed(stage: Stage, connect: Connect, disturb: str) -> None:
    listener = await connect()
    control = stage.control
    match disturb:
        case "reconnect":
            control.reconnect()
        case "invalidate":
            control.invalidate(resumable=True)
        case code:
            control.close(int(code.removeprefix("close_")))
    await control.wait({"kind": "gateway_close"})
    control.say("Bob", "meanwhile")
    await listener.until("RESUMED")
    await listener.until("MESSAGE_CREATE")
    assert listener.texts() == ["meanwhile"]
    assert len(control.recorded({"kind": "gateway_in", "op": 2})) == 1


async def test_an_invalidated_session_identifies_anew(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.invalidate()
    await listener.until("READY", 2)
    assert stage.control.recorded({"kind": "gateway_in", "op": 6}) == []


async def test_a_forgotten_session_is_refused_and_identifies_anew(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.forget_sessions()
    await listener.until("READY", 2)
    assert len(stage.control.recorded({"kind": "gateway_in", "op": 6})) == 1


async def test_a_connection_whose_heartbeats_are_not_answered_is_resumed(stage: Stage, connect: Connect) -> None:
    stage.control.behave(heartbeat_interval_ms=400)
    listener = await connect()
    await stage.control.wait({"kind": "gateway_in", "op": 1})
    stage.control.behave(acknowledge_heartbeats=False)
    await stage.control.wait({"kind": "gateway_close", "by": "client"})
    stage.control.behave(acknowledge_heartbeats=True)
    await listener.until("RESUMED")


async def test_a_goodbye_ends_the_session(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    await listener.bot.close()
    await stage.control.wait({"kind": "gateway_close", "by": "client", "code": 1001})
    assert stage.control.parts.sessions.by_id == {}


async def test_a_wrong_token_is_unauthorized(connect: Connect) -> None:
    with pytest.raises(hikari.UnauthorizedError):
        await connect(token="MTMwMDAwMDAwMDAwMDAwMDAwMg.not.right")


async def test_a_gateway_that_no_longer_knows_the_token_closes_with_4004(stage: Stage, connect: Connect) -> None:
    limit = {"total": 1, "remaining": 1, "reset_after": 1, "max_concurrency": 1}
    gateway = {"url": stage.gateway_url, "shards": 1, "session_start_limit": limit}
    stage.control.fault(route="/gateway/bot", status=200, body=gateway)
    with pytest.raises(hikari.GatewayServerClosedConnectionError) as caught:
        await connect(token="MTMwMDAwMDAwMDAwMDAwMDAwMg.not.right")
    assert (caught.value.code, caught.value.can_reconnect) == (4004, False)


async def test_an_intent_that_is_switched_off_closes_with_4014(stage: Stage, connect: Connect) -> None:
    stage.control.behave(application_flags=0)
    with pytest.raises(hikari.GatewayServerClosedConnectionError) as caught:
        await connect()
    assert (caught.value.code, caught.value.can_reconnect) == (4014, False)


async def test_ready_and_application_say_which_intents_are_switched_on(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    (ready,) = listener.of("READY")
    application = await listener.bot.rest.fetch_application()
    assert ready["application"]["flags"] & application.flags & MESSAGE_CONTENT_LIMITED
    stage.control.behave(application_flags=0)
    assert (await listener.bot.rest.fetch_application()).flags == 0


async def test_without_the_content_intent_only_what_concerns_the_bot_is_readable(
    stage: Stage, connect: Connect
) -> None:
    listener = await connect(GUILD_ONLY | hikari.Intents.DM_MESSAGES)
    said = stage.control.say("Ann", "among us")
    stage.control.say("Ann", f"<@{BOT_ID}> for you")
    stage.control.say("Ann", "quietly", room="@Ann")
    stage.control.say("Bob", "a reply to Ann", reply_to=said["id"])
    own = await listener.bot.rest.create_message(int(GENERAL_ID), "my own")
    stage.control.say("Bob", "a reply to you", reply_to=str(own.id))
    await listener.until("MESSAGE_CREATE", 6)
    assert listener.texts() == ["", f"<@{BOT_ID}> for you", "quietly", "", "my own", "a reply to you"]
    assert listener.of("MESSAGE_CREATE")[3]["referenced_message"]["content"] == ""


async def test_events_outside_the_intents_do_not_arrive(stage: Stage, connect: Connect) -> None:
    listener = await connect(hikari.Intents.GUILDS | hikari.Intents.DM_MESSAGES)
    stage.control.say("Ann", "in the room")
    stage.control.typing("Ann")
    stage.control.say("Ann", "in private", room="@Ann")
    await listener.until("MESSAGE_CREATE")
    assert listener.texts() == ["in private"]
    assert listener.of("TYPING_START") == []


async def test_rooms_hidden_from_the_bot_are_silent(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.create_room("hidden", access="none")
    stage.control.say("Ann", "secret", room="hidden")
    stage.control.say("Ann", "public")
    await listener.until("MESSAGE_CREATE")
    assert listener.texts() == ["public"]


async def test_events_can_be_sent_twice_unchanged(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.say("Ann", "once")
    stage.control.say("Bob", "then")
    await listener.until("MESSAGE_CREATE", 2)
    stage.control.duplicate(2)
    await listener.until("MESSAGE_CREATE", 4)
    messages = listener.of("MESSAGE_CREATE")
    assert messages[:2] == messages[2:]


async def test_changes_of_a_message_arrive_as_discord_tells_them(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    said = stage.control.say("Ann", "see https://example.com")
    stage.control.unfurl(said["id"], [{"type": "gifv", "url": "https://example.com"}])
    stage.control.edit(said["id"], "look at https://example.com")
    stage.control.delete(said["id"])
    others = [stage.control.say("Bob", str(number))["id"] for number in range(2)]
    stage.control.delete_bulk("general", others)
    await listener.until("MESSAGE_DELETE_BULK")
    unfurled, edited = listener.of("MESSAGE_UPDATE")
    assert (unfurled["edited_timestamp"], unfurled["embeds"][0]["type"]) == (None, "gifv")
    assert (edited["content"], bool(edited["edited_timestamp"])) == ("look at https://example.com", True)
    assert listener.of("MESSAGE_DELETE") == [{"id": said["id"], "channel_id": GENERAL_ID, "guild_id": GUILD_ID}]
    assert listener.of("MESSAGE_DELETE_BULK")[0]["ids"] == others


async def test_new_places_are_announced_and_usable(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    guild = stage.control.create_guild("Another")
    room = stage.control.create_room("lobby", guild=guild["id"])
    thread = stage.control.create_thread("aside", parent=room["id"], user="Bob")
    stage.control.say("Bob", "here", room=thread["id"])
    await listener.until("MESSAGE_CREATE", 2)
    (joined,) = [each for each in listener.of("GUILD_CREATE") if each["id"] == guild["id"]]
    assert "unavailable" not in joined
    assert listener.of("CHANNEL_CREATE")[0]["id"] == room["id"]
    assert listener.of("THREAD_CREATE")[0]["parent_id"] == room["id"]
    announced, said = listener.of("MESSAGE_CREATE")
    assert (announced["type"], said["channel_type"], said["guild_id"]) == (18, 11, guild["id"])
    stage.control.delete_room(thread["id"])
    stage.control.delete_guild(guild["id"])
    await listener.until("GUILD_DELETE")
    assert listener.of("THREAD_DELETE")[0]["id"] == thread["id"]


async def test_a_thread_on_a_message_begins_with_its_starter(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    said = stage.control.say("Ann", "worth a thread")
    thread = stage.control.create_thread("aside", user="Bob", message=said["id"])
    _, starter = await listener.until("MESSAGE_CREATE", 2)
    assert (thread["id"], starter["channel_id"]) == (said["id"], said["id"])
    assert (starter["type"], starter["referenced_message"]["content"]) == (21, "worth a thread")
    (marked,) = listener.of("MESSAGE_UPDATE")
    assert (marked["flags"] & 32, marked["edited_timestamp"]) == (32, None)


async def test_a_forum_post_is_a_thread_whose_first_message_has_its_id(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.create_room("questions", forum=True)
    thread = stage.control.create_thread("How?", parent="questions", content="like this")
    (first,) = await listener.until("MESSAGE_CREATE")
    assert (first["id"], first["channel_id"], first["content"]) == (thread["id"], thread["id"], "like this")


async def test_a_flood_arrives_whole(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    await stage.control.flood("Bob", 3_000)
    await listener.until("MESSAGE_CREATE", 3_000)
    assert listener.texts() == [f"message {number}" for number in range(3_000)]

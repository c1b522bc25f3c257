"""What a real hikari bot may do over REST, and what it is refused as Discord refuses it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import hikari
import pytest

from clankie_stage.app import Stage
from clankie_stage.discord.message_form import LARGEST_FILE
from clankie_stage.discord.scenery import ANN_DM_ID, ANN_ID, BOT_ID, GENERAL_ID, NOTICES_ID, RANDOM_ID

Connect = Callable[..., Awaitable[Any]]
MESSAGES = {"kind": "rest", "method": "POST", "route": "/channels/{channel_id}/messages"}
ROOM = int(GENERAL_ID)


async def test_a_sent_message_returns_without_guild_and_echoes_with_nonce(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    await listener.bot.rest.create_message(ROOM, " hello ", nonce="n1")
    (request,) = stage.control.recorded(MESSAGES)
    answer = request["what"]["answer"]
    assert (answer["content"], answer["nonce"], answer["author"]["id"]) == ("hello", "n1", BOT_ID)
    assert not {"guild_id", "member", "channel_type"} & answer.keys()
    assert request["what"]["body"]["allowed_mentions"] == {"parse": []}
    (echo,) = await listener.until("MESSAGE_CREATE")
    assert (echo["id"], echo["nonce"]) == (answer["id"], "n1")


@pytest.mark.parametrize(("ping", "mentioned"), [(True, [ANN_ID]), (False, [])])
async def test_a_reply_names_its_target_and_pings_only_when_asked(
    stage: Stage, connect: Connect, ping: bool, mentioned: list[str]
) -> None:
    listener = await connect()
    said = stage.control.say("Ann", "question")
    await listener.bot.rest.create_message(ROOM, "answer", reply=int(said["id"]), mentions_reply=ping)
    answer = stage.control.messages()[-1]
    assert answer["type"] == 19
    assert answer["message_reference"]["message_id"] == said["id"]
    assert answer["referenced_message"]["content"] == "question"
    assert [user["id"] for user in answer["mentions"]] == mentioned
    stage.control.delete(said["id"])
    assert stage.control.messages()[-1]["referenced_message"] is None


async def test_a_reply_to_a_deleted_message_is_refused_unless_it_may_be_missing(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    said = stage.control.say("Ann", "gone soon")
    stage.control.delete(said["id"])
    with pytest.raises(hikari.BadRequestError) as caught:
        await listener.bot.rest.create_message(ROOM, "late", reply=int(said["id"]))
    assert caught.value.code == 50035
    await listener.bot.rest.create_message(ROOM, "late", reply=int(said["id"]), reply_must_exist=False)
    assert "message_reference" not in stage.control.messages()[-1]


async def test_a_lost_response_costs_no_second_message_when_there_is_a_nonce(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.fault(method="POST", route="/channels/*/messages", after=True, kill=True)
    sent = await listener.bot.rest.create_message(ROOM, "once", nonce="same", attachment=hikari.Bytes(b"abc", "a.txt"))
    assert [message["id"] for message in stage.control.messages()] == [str(sent.id)]
    lost, answered = stage.control.recorded(MESSAGES)
    assert (lost["what"]["status"], answered["what"]["status"]) == (None, 200)


async def test_a_lost_response_without_a_nonce_costs_a_second_message(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.fault(method="POST", route="/channels/*/messages", after=True, status=502)
    await listener.bot.rest.create_message(ROOM, "twice")
    assert [message["content"] for message in stage.control.messages()] == ["twice", "twice"]


async def test_a_nonce_that_is_not_enforced_makes_two_messages(stage: Stage, http: aiohttp.ClientSession) -> None:
    for _ in range(2):
        async with http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", json={"content": "x", "nonce": "n"}):
            pass
    assert len(stage.control.messages()) == 2


async def test_an_upload_can_be_fetched_where_its_address_says(
    stage: Stage, connect: Connect, http: aiohttp.ClientSession
) -> None:
    listener = await connect()
    picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02"
    sent = await listener.bot.rest.create_message(ROOM, "look", attachment=hikari.Bytes(picture, "a picture.png"))
    (attachment,) = sent.attachments
    assert (attachment.filename, attachment.width, attachment.height) == ("a_picture.png", 3, 2)
    assert attachment.url.startswith(f"https://cdn.discordapp.com/attachments/{GENERAL_ID}/")
    assert stage.control.recorded(MESSAGES)[0]["what"]["files"][0]["size"] == len(picture)
    led_here = attachment.url.replace("https://cdn.discordapp.com", stage.cdn_url)
    async with http.get(led_here, headers={"Host": "cdn.discordapp.com"}) as response:
        assert (response.status, await response.read(), response.content_type) == (200, picture, "image/png")


async def test_429_is_obeyed_and_messages_stay_in_order(stage: Stage, connect: Connect) -> None:
    stage.control.behave(bucket_limits={"POST /channels/{channel_id}/messages": (2, 0.4)})
    listener = await connect()
    for number in range(5):
        await listener.bot.rest.create_message(ROOM, str(number))
    assert [message["content"] for message in stage.control.messages()] == list("01234")
    assert all(each["what"]["status"] == 200 for each in stage.control.recorded(MESSAGES))


async def test_an_empty_bucket_answers_429_with_what_a_client_needs(stage: Stage, http: aiohttp.ClientSession) -> None:
    stage.control.behave(bucket_limits={"POST /channels/{channel_id}/messages": (1, 60.0)})
    url = f"{stage.rest_url}/channels/{GENERAL_ID}/messages"
    async with http.post(url, json={"content": "1"}) as first:
        assert (first.headers["X-RateLimit-Limit"], first.headers["X-RateLimit-Remaining"]) == ("1", "0")
    async with http.post(url, json={"content": "2"}) as refused:
        body = await refused.json()
        assert (refused.status, body["global"], refused.headers["X-RateLimit-Scope"]) == (429, False, "user")
        assert 0 < body["retry_after"] <= 60
        assert refused.headers["Via"]
        assert refused.headers["X-RateLimit-Bucket"] == first.headers["X-RateLimit-Bucket"]
    async with http.post(f"{stage.rest_url}/channels/{RANDOM_ID}/messages", json={"content": "3"}) as elsewhere:
        assert elsewhere.status == 200


async def test_the_global_limit_is_said_to_be_global(stage: Stage, http: aiohttp.ClientSession) -> None:
    stage.control.behave(global_limit=1)
    statuses: list[int] = []
    for _ in range(3):
        async with http.get(f"{stage.rest_url}/users/@me") as response:
            statuses.append(response.status)
            if response.status == 429:
                assert (await response.json())["global"] is True
                assert response.headers["X-RateLimit-Global"] == "true"
                assert "X-RateLimit-Bucket" not in response.headers
    assert 429 in statuses


async def test_a_bot_waits_out_a_shared_429_and_gives_up_on_a_long_one(stage: Stage, connect: Connect) -> None:
    listener = await connect(max_rate_limit=5.0)
    shared = {"X-RateLimit-Scope": "shared", "Retry-After": "1"}
    stage.control.fault(
        method="POST",
        route="/channels/*/messages",
        status=429,
        headers=shared,
        body={"retry_after": 0.2, "global": False},
    )
    await listener.bot.rest.create_message(ROOM, "patience")
    stage.control.behave(bucket_limits={"POST /channels/{channel_id}/messages": (1, 60.0)})
    await listener.bot.rest.create_message(ROOM, "the bucket's last")
    with pytest.raises(hikari.RateLimitTooLongError):
        await listener.bot.rest.create_message(ROOM, "beyond it")


REFUSED: list[tuple[dict[str, Any], int, int]] = [
    ({"content": "x" * 2001}, 400, 50035),
    ({"content": ""}, 400, 50006),
    ({"content": "   "}, 400, 50006),
    ({"content": ["x"]}, 400, 50035),
    ({"content": "x", "nonce": "n" * 26}, 400, 50035),
    ({"content": "x", "embeds": [{}] * 11}, 400, 50035),
    ({"content": "x", "embeds": "none"}, 400, 50035),
    ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": [ANN_ID]}}, 400, 50035),
    ({"content": "x", "allowed_mentions": {"parse": ["friends"]}}, 400, 50035),
    ({"content": "x", "message_reference": {"message_id": "1"}}, 400, 50035),
]


@pytest.mark.parametrize(("body", "status", "code"), REFUSED)
async def test_a_wrong_form_is_refused_with_discords_code(
    stage: Stage, http: aiohttp.ClientSession, body: dict[str, Any], status: int, code: int
) -> None:
    async with http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", json=body) as response:
        assert (response.status, (await response.json())["code"]) == (status, code)
    assert stage.control.messages() == []


async def test_2000_characters_and_a_nonce_of_25_are_taken(stage: Stage, http: aiohttp.ClientSession) -> None:
    body = {"content": "x" * 2000, "nonce": "n" * 25, "enforce_nonce": True}
    async with http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", json=body) as response:
        assert response.status == 200


async def test_where_the_bot_may_not_write_it_is_told_why(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    hidden = stage.control.create_room("hidden", access="none")
    stage.control.set_dms("Ann", accepted=False)
    send = listener.bot.rest.create_message
    for room, error, code in [
        (NOTICES_ID, hikari.ForbiddenError, 50013),
        (hidden["id"], hikari.ForbiddenError, 50001),
        (ANN_DM_ID, hikari.ForbiddenError, 50007),
        ("1", hikari.NotFoundError, 10003),
    ]:
        with pytest.raises(error) as caught:
            await send(int(room), "hello")
        assert caught.value.code == code


async def test_a_file_beyond_the_limit_is_413(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    with pytest.raises(hikari.ClientHTTPResponseError) as caught:
        await listener.bot.rest.create_message(ROOM, "big", attachment=hikari.Bytes(bytes(LARGEST_FILE + 1), "big.bin"))
    assert caught.value.status == 413
    assert stage.control.messages() == []


async def test_files_need_a_permission_of_their_own(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.set_access("general", "words")
    with pytest.raises(hikari.ForbiddenError) as caught:
        await listener.bot.rest.create_message(ROOM, "look", attachment=hikari.Bytes(b"x", "x.txt"))
    assert caught.value.code == 50013
    await listener.bot.rest.create_message(ROOM, "words alone")
    assert [each["content"] for each in stage.control.messages()] == ["words alone"]


@pytest.mark.parametrize(
    ("attachments", "status"),
    [
        (None, 200),
        ([{"id": 0, "filename": "a.png"}], 200),
        ([{"id": "0", "filename": "a.png"}, {"id": 1, "filename": "b.png"}], 200),
        ([{"id": 2, "filename": "c.png"}], 400),
        ([{"id": 0, "filename": "a.png"}, {"id": 0, "filename": "b.png"}], 400),
        ([{"filename": "a.png"}], 400),
    ],
)
async def test_what_is_said_of_files_belongs_to_files_of_the_request(
    stage: Stage, http: aiohttp.ClientSession, attachments: list[dict[str, Any]] | None, status: int
) -> None:
    form = aiohttp.FormData()
    form.add_field("payload_json", json.dumps({"attachments": attachments}), content_type="application/json")
    for index, name in enumerate(("first.png", "second.png")):
        form.add_field(f"files[{index}]", b"x", filename=name, content_type="image/png")
    async with http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", data=form) as response:
        body = await response.json()
    assert response.status == status
    if status == 400:
        assert (body["code"], stage.control.messages()) == (50035, [])
    else:
        names = {str(each["id"]): each["filename"] for each in attachments or []}
        expected = [names.get("0", "first.png"), names.get("1", "second.png")]
        assert [each["filename"] for each in body["attachments"]] == expected


async def test_own_messages_are_edited_and_deleted_and_foreign_ones_are_not(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    rest = listener.bot.rest
    own, foreign = await rest.create_message(ROOM, "draft"), int(stage.control.say("Ann", "mine")["id"])
    edited = await rest.edit_message(ROOM, own, "final")
    assert (edited.content, edited.edited_timestamp is not None) == ("final", True)
    await rest.delete_message(ROOM, own)
    for attempt, error, code in [
        (rest.edit_message(ROOM, foreign, "yours"), hikari.ForbiddenError, 50005),
        (rest.delete_message(ROOM, foreign), hikari.ForbiddenError, 50013),
        (rest.fetch_message(ROOM, own), hikari.NotFoundError, 10008),
    ]:
        with pytest.raises(error) as caught:
            await attempt
        assert caught.value.code == code


async def test_history_comes_in_pages(stage: Stage, connect: Connect, http: aiohttp.ClientSession) -> None:
    listener = await connect()
    ids = [stage.control.say("Ann", str(number))["id"] for number in range(120)]

    async def page(**query: str) -> list[str]:
        async with http.get(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", params=query) as response:
            return [message["id"] for message in await response.json()]

    assert await page() == ids[:-51:-1]
    assert await page(limit="3") == ids[:-4:-1]
    assert await page(before=ids[5], limit="2") == [ids[4], ids[3]]
    assert await page(after=ids[5], limit="2") == [ids[7], ids[6]]
    assert await page(around=ids[50], limit="5") == ids[52:47:-1]
    fetched = [message async for message in listener.bot.rest.fetch_messages(ROOM, after=int(ids[99]))]
    assert [str(message.id) for message in fetched] == ids[100:]
    assert {message.guild_id for message in fetched} == {None}


async def test_reactions_typing_and_dms_work(stage: Stage, connect: Connect) -> None:
    listener = await connect(
        hikari.Intents.ALL_MESSAGES | hikari.Intents.ALL_MESSAGE_REACTIONS | hikari.Intents.ALL_MESSAGE_TYPING
    )
    said = stage.control.say("Ann", "nice")
    await listener.bot.rest.add_reaction(ROOM, int(said["id"]), "👍")
    stage.control.react("Bob", said["id"], "👍")
    assert stage.control.messages()[0]["reactions"][0]["count"] == 2
    await listener.bot.rest.delete_my_reaction(ROOM, int(said["id"]), "👍")
    with pytest.raises(hikari.BadRequestError) as caught:
        await listener.bot.rest.add_reaction(ROOM, int(said["id"]), "thumb")
    assert caught.value.code == 10014
    await listener.bot.rest.trigger_typing(ROOM)
    assert len(stage.control.typings()) == 1
    dm = await listener.bot.rest.create_dm_channel(int(ANN_ID))
    assert str(dm.id) == ANN_DM_ID
    assert len(await listener.until("MESSAGE_REACTION_ADD", 2)) == 2
    assert await listener.until("TYPING_START")
    (removed,) = await listener.until("MESSAGE_REACTION_REMOVE")
    assert removed["user_id"] == BOT_ID


async def test_a_forward_carries_a_snapshot(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    said = stage.control.say("Ann", "pass it on", room="random")
    forwarded = await listener.bot.rest.forward_message(ROOM, int(said["id"]), int(RANDOM_ID))
    assert forwarded.message_snapshots[0].content == "pass it on"
    by_person = stage.control.say("Bob", forward=said["id"])
    assert (by_person["type"], by_person["message_reference"]["type"]) == (0, 1)
    assert by_person["flags"] & hikari.MessageFlag(1 << 14)


async def test_500_is_retried_and_then_raised(stage: Stage, connect: Connect) -> None:
    listener = await connect()
    stage.control.fault(route="/users/@me", status=500)
    assert str((await listener.bot.rest.fetch_my_user()).id) == BOT_ID


async def test_other_routes_and_other_tokens_get_discords_answers(stage: Stage, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{stage.rest_url}/nowhere") as response:
        assert (response.status, await response.json()) == (404, {"message": "404: Not Found", "code": 0})
    async with http.get(f"{stage.rest_url}/users/@me", headers={"Authorization": "Bot wrong"}) as response:
        assert (response.status, await response.json()) == (401, {"message": "401: Unauthorized", "code": 0})
    async with http.post(f"{stage.rest_url}/channels/{GENERAL_ID}/messages", data=b"{") as response:
        assert (response.status, (await response.json())["code"]) == (400, 50109)


async def test_the_guild_can_be_read(connect: Connect) -> None:
    listener = await connect()
    guild = await listener.bot.rest.fetch_guild(1310000000000000000)
    member = await listener.bot.rest.fetch_member(guild, int(BOT_ID))
    roles = await listener.bot.rest.fetch_roles(guild)
    managed = [role for role in roles if role.bot_id == int(BOT_ID)]
    assert [role.id for role in managed] == [role for role in member.role_ids if role != guild.id]
    rooms = await listener.bot.rest.fetch_guild_channels(guild)
    assert {room.name for room in rooms} == {"general", "random", "notices"}
    overwrites = next(room for room in rooms if room.name == "notices").permission_overwrites
    assert overwrites[managed[0].id].deny & hikari.Permissions.SEND_MESSAGES

"""The rules on a trigger as a whole, and what makes two hand-overs of a delivery the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_settings.wire.trigger import Trigger, content_hash
from tests.settings.wire.samples import BACKLOG, PICTURE, ROOM, TRIGGER, Json, changed, without
from tests.settings.wire.verdicts import read, refusal

PLAIN: Json = without(TRIGGER, "attachments", "context", "context_visual", "reply_to")

ids = st.text("abcXYZ019._:-", min_size=1, max_size=64)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=300)
bodies = words.filter(lambda text: text.strip() != "")
names = words.map(lambda text: text[:100])
moments = st.datetimes(timezones=st.timezones()).filter(lambda at: 1970 < at.year < 2100).map(lambda at: at.isoformat())
counts = st.integers(0, 1_000)
pictures = st.fixed_dictionaries(
    {
        "id": ids,
        "url": ids.map(lambda each: f"https://cdn.discordapp.com/{each}"),
        "media_type": st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    },
    optional={"filename": names, "byte_size": st.integers(1, 8 * 1024 * 1024)},
)
rooms = st.fixed_dictionaries(
    {"platform": st.sampled_from(["discord", "console"]), "channel_id": ids, "guild_id": ids},
    optional={"parent_id": ids, "guild_name": names, "channel_name": names},
)
messages = st.fixed_dictionaries(
    {"message_id": ids.map(lambda each: f"b{each}"[:64]), "author_id": ids, "author_name": names, "sent_at": moments},
    optional={"is_self": st.booleans(), "body": bodies},
)
triggers: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {
        "wire_version": st.just(1),
        "delivery_id": ids,
        "presence_id": ids,
        "kind": st.sampled_from(["mention", "reply", "message", "catch_up"]),
        "room": rooms,
        "actor": st.fixed_dictionaries({"actor_id": ids, "display_name": names}, optional={"is_bot": st.booleans()}),
        "message_id": ids.map(lambda each: f"a{each}"[:64]),
        "sent_at": moments,
        "body": bodies,
        "addressed": st.booleans(),
    },
    optional={
        "attachments": st.lists(pictures, max_size=4, unique_by=lambda each: each["id"]),
        "attachments_omitted": st.fixed_dictionaries({}, optional={"too_large": counts, "unsupported": counts}),
        "context": st.lists(messages, max_size=12, unique_by=lambda each: each["message_id"]),
        "covers": st.lists(ids, max_size=20),
        "delivery": st.sampled_from(["auto", "steer", "queue"]),
    },
)


def trigger(document: Json) -> Trigger:
    read_one = read(Trigger, document)
    assert isinstance(read_one, Trigger)
    return read_one


@pytest.mark.requirement("WIRE-1")
@given(triggers)
def test_any_trigger_survives_the_wire(document: Json) -> None:
    once = trigger(document)
    again = Trigger.model_validate_json(once.model_dump_json(exclude_none=True))
    assert again == once
    assert content_hash(again) == content_hash(once)
    assert once.body == document["body"]


@pytest.mark.requirement("WIRE-2")
def test_a_picture_without_words_has_no_body() -> None:
    assert trigger(without(TRIGGER, "body")).body is None


@pytest.mark.requirement("WIRE-2")
def test_neither_words_nor_pictures_is_refused() -> None:
    assert refusal(Trigger, without(PLAIN, "body"))[0] == "body"


@pytest.mark.requirement("WIRE-2")
@pytest.mark.parametrize("body", ["", " ", "\n\t\u3000", "\u2003"])
def test_a_blank_body_is_refused_even_beside_a_picture(body: str) -> None:
    assert refusal(Trigger, TRIGGER | {"body": body})[0] == "body"


@pytest.mark.requirement("WIRE-3")
def test_four_pictures_are_taken_and_five_refused() -> None:
    four = [PICTURE | {"id": str(each)} for each in range(4)]
    assert len(trigger(TRIGGER | {"attachments": four}).attachments) == 4
    assert refusal(Trigger, TRIGGER | {"attachments": [*four, PICTURE]})[0] == "attachments"


@pytest.mark.requirement("WIRE-3")
def test_a_claim_of_eight_mebibytes_is_taken_and_nine_refused() -> None:
    at = ("attachments", 0, "byte_size")
    assert trigger(changed(TRIGGER, at, 8 * 1024 * 1024))
    assert refusal(Trigger, changed(TRIGGER, at, 9 * 1024 * 1024))[0] == "attachments.0.byte_size"


@pytest.mark.requirement("WIRE-3")
@pytest.mark.parametrize("value", ["image/svg+xml", "video/mp4", "IMAGE/PNG", ""])
def test_other_media_types_are_refused(value: str) -> None:
    assert refusal(Trigger, changed(TRIGGER, ("attachments", 0, "media_type"), value))[0] == "attachments.0.media_type"


@pytest.mark.requirement("WIRE-3")
@pytest.mark.parametrize("value", ["data:image/png;base64,AAAA", "file:///a", "//cdn.discordapp.com/a", "https://a b"])
def test_bytes_and_local_files_do_not_cross_as_addresses(value: str) -> None:
    assert refusal(Trigger, changed(TRIGGER, ("attachments", 0, "url"), value))[0] == "attachments.0.url"


@pytest.mark.requirement("WIRE-3")
def test_an_utterance_carries_no_picture() -> None:
    assert refusal(Trigger, TRIGGER | {"kind": "voice"})[0] == "attachments"
    assert trigger(PLAIN | {"kind": "voice"}).kind == "voice"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "dm"}, "room.guild_id"),
        ({"attachments": [PICTURE, PICTURE]}, "attachments"),
        ({"context": [BACKLOG, BACKLOG]}, "context"),
        ({"context": [BACKLOG | {"message_id": "400"}], "context_visual": None}, "context"),
        ({"context_visual": {"message_id": "1"}}, "context_visual.message_id"),
        ({"context": [BACKLOG | {"message_id": str(each)} for each in range(13)]}, "context"),
        ({"covers": [str(each) for each in range(21)]}, "covers"),
        ({"wire_version": 2}, "wire_version"),
        ({"sent_at": "2026-01-02T03:04:05"}, "sent_at"),
        ({"sent_at": "0001-01-01T00:00:00+23:59"}, "sent_at"),
        ({"sent_at": "9999-12-31T23:59:59-23:59"}, "sent_at"),
        ({"delivery_id": "a/b"}, "delivery_id"),
        ({"delivery_id": "400\n"}, "delivery_id"),
        ({"delivery_id": ""}, "delivery_id"),
        ({"attachments_omitted": {"too_large": -1}}, "attachments_omitted.too_large"),
    ],
)
@pytest.mark.requirement("WIRE-1")
def test_what_contradicts_itself_is_refused_by_name(change: Json, field: str) -> None:
    assert refusal(Trigger, TRIGGER | change)[0] == field


def test_a_dm_has_no_guild() -> None:
    assert trigger(PLAIN | {"kind": "dm", "room": without(ROOM, "guild_id")}).room.guild_id is None


def test_the_visual_may_belong_to_the_message_replied_to() -> None:
    visual = {"message_id": "399", "attachment": PICTURE | {"id": "702"}}
    assert trigger(TRIGGER | {"context": [], "context_visual": visual}).context_visual is not None


def test_a_time_is_held_in_utc() -> None:
    assert trigger(TRIGGER | {"sent_at": "2026-01-02T05:04:06+02:00"}) == trigger(TRIGGER)


SAME: list[tuple[tuple[str | int, ...], Any]] = [
    (("actor", "display_name"), "Anna"),
    (("actor", "role_ids"), []),
    (("room", "channel_name"), "renamed"),
    (("room", "guild_name"), "renamed"),
    (("room", "parent_id"), "302"),
    (("attachments", 0, "url"), "https://cdn.discordapp.com/attachments/1/2/a.gif?ex=1"),
    (("attachments", 0, "filename"), "b.gif"),
    (("attachments", 0, "byte_size"), 7),
    (("context",), [BACKLOG, BACKLOG | {"message_id": "402"}]),
    (("covers",), []),
    (("kind",), "catch_up"),
    (("addressed",), False),
    (("delivery",), "queue"),
    (("sent_at",), "2026-01-02T03:04:09Z"),
]
OTHER: list[tuple[tuple[str | int, ...], Any]] = [
    (("actor", "actor_id"), "12"),
    (("room", "platform"), "console"),
    (("room", "guild_id"), "201"),
    (("room", "guild_id"), None),
    (("room", "channel_id"), "302"),
    (("body",), "look at that"),
    (("body",), "look at this "),
    (("attachments",), []),
    (("attachments", 0, "id"), "703"),
]


@pytest.mark.requirement("WIRE-5")
@pytest.mark.parametrize(("at", "value"), SAME, ids=str)
def test_what_may_differ_between_hand_overs_leaves_the_content_hash(at: tuple[str | int, ...], value: Any) -> None:
    assert content_hash(trigger(changed(TRIGGER, at, value))) == content_hash(trigger(TRIGGER))


@pytest.mark.requirement("WIRE-5")
@pytest.mark.parametrize(("at", "value"), OTHER, ids=str)
def test_another_room_actor_body_or_picture_changes_the_content_hash(at: tuple[str | int, ...], value: Any) -> None:
    assert content_hash(trigger(changed(TRIGGER, at, value))) != content_hash(trigger(TRIGGER))


contents = st.fixed_dictionaries(
    {
        "room": st.sampled_from(["1", "11"]).map(lambda each: ROOM | {"channel_id": each}),
        "actor": st.fixed_dictionaries({"actor_id": st.sampled_from(["1", "11"]), "display_name": st.just("Ann")}),
        "body": st.sampled_from(["1", "11", "1,1", '1","1', "[]"]),
        "attachments": st.lists(st.sampled_from(["1", "11"]), max_size=2, unique=True).map(
            lambda each: [PICTURE | {"id": name} for name in each]
        ),
    }
)


@pytest.mark.requirement("WIRE-5")
@given(contents, contents)
def test_equal_hashes_mean_equal_content(some: Json, others: Json) -> None:
    one, other = PLAIN | some, PLAIN | others

    def content(document: Json) -> str:
        room, pictured = document["room"], [each["id"] for each in document.get("attachments", [])]
        place = [room["platform"], room["guild_id"], room["channel_id"], document["actor"]["actor_id"]]
        return json.dumps([place, document["body"], pictured])

    assert (content_hash(trigger(one)) == content_hash(trigger(other))) == (content(one) == content(other))


@pytest.mark.requirement("WIRE-5")
def test_the_content_hash_is_stable_over_versions_of_this_code() -> None:
    # It lies in databases: a change of it would turn every repeated delivery into a conflict.
    assert content_hash(trigger(TRIGGER)) == "8e52d2501411558274e3b65346227de1c19dc1e9dbfd2f210d50e4641dfb03c9"


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize("stated", [True, "1", None])
def test_a_wire_version_that_is_no_number_is_refused(stated: object) -> None:
    assert refusal(Trigger, changed(TRIGGER, ("wire_version",), stated))[0] == "wire_version"

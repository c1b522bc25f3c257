"""Discord's JSON becomes our records, whatever is in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.core import admission
from clankie_bridge.core.admission import Policy
from clankie_bridge.core.message import Forward, Gifv, Poll, Reference
from clankie_bridge.discord import normalize
from clankie_bridge.discord.payloads import snowflake

IMAGE = {
    "id": "1310000000000009001",
    "filename": "a.png",
    "size": 12,
    "url": "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&",
    "content_type": "image/PNG; charset=x",
}


def payload(**changed: Any) -> dict[str, Any]:
    """A guild message as the gateway sends it."""
    whole: dict[str, Any] = {
        "id": "1400000000000000000",
        "channel_id": "1310000000000000100",
        "guild_id": "1310000000000000000",
        "channel_type": 0,
        "type": 0,
        "content": "hello",
        "author": {"id": "1300000000000000011", "username": "ann", "global_name": "Ann", "bot": False},
        "member": {"nick": "Annie", "roles": ["1310000000000000002"]},
        "mentions": [{"id": "1300000000000000001", "username": "clankie", "member": {"nick": None}}],
        "mention_roles": ["1310000000000000001"],
        "attachments": [IMAGE],
        "embeds": [],
        "flags": 0,
        "edited_timestamp": None,
    }
    return whole | changed


def test_a_message_is_read_whole() -> None:
    read = normalize.message(payload())
    assert read is not None
    assert (read.id, read.channel_id, read.guild_id) == (
        "1400000000000000000",
        "1310000000000000100",
        "1310000000000000000",
    )
    assert (read.author.name, read.author.role_ids) == ("Annie", ("1310000000000000002",))
    assert read.mentions == {"1300000000000000001": "clankie"}
    assert read.mention_role_ids == {"1310000000000000001"}
    assert (read.files[0].media_type, read.files[0].byte_size) == ("image/png", 12)
    assert read.sent_at.isoformat() == "2025-07-30T06:20:10.742000+00:00"


@pytest.mark.parametrize("missing", ["id", "channel_id", "author"])
def test_a_payload_without_what_names_it_is_no_message(missing: str) -> None:
    assert normalize.message({key: value for key, value in payload().items() if key != missing}) is None
    assert normalize.message(payload(**{missing: {"id": []}})) is None


@pytest.mark.parametrize(
    "missing",
    ["type", "content", "member", "mentions", "mention_roles", "attachments", "embeds", "flags", "channel_type"],
)
def test_every_other_key_may_be_missing(missing: str) -> None:
    assert normalize.message({key: value for key, value in payload().items() if key != missing}) is not None


def test_ids_may_be_numbers_and_texts_may_be_null() -> None:
    read = normalize.message(payload(id=1_400_000_000_000_000_000, content=None, webhook_id=5))
    assert read is not None
    assert (read.id, read.content, read.author.is_webhook) == ("1400000000000000000", "", True)


@pytest.mark.parametrize("value", ["", "x", "-1", "1" * 20, "\uff11\uff12", True, -1, 1 << 63, None, 1.5])
def test_what_is_no_snowflake_is_none(value: object) -> None:
    assert snowflake(value) is None


def test_a_reply_tells_its_target_from_a_deleted_and_an_unknown_one() -> None:
    pointer = {"message_id": "1399999999999999999", "channel_id": "1310000000000000100"}
    inner = payload(id="1399999999999999999", guild_id=None)
    there = normalize.message(payload(type=19, message_reference=pointer, referenced_message=inner))
    gone = normalize.message(payload(type=19, message_reference=pointer, referenced_message=None))
    unknown = normalize.message(payload(type=19, message_reference=pointer))
    assert there is not None
    assert there.reference is not None
    assert there.reference.message is not None
    assert there.reference.message.guild_id == "1310000000000000000"
    assert gone is not None
    assert gone.reference == Reference("1399999999999999999", gone=True)
    assert unknown is not None
    assert unknown.reference == Reference("1399999999999999999")


def test_a_chain_of_replies_is_read_one_deep() -> None:
    pointer = {"message_id": "5"}
    chain = payload(type=19, message_reference=pointer, referenced_message=payload(id="5"))
    for _ in range(2_000):
        chain = payload(type=19, message_reference=pointer, referenced_message=chain)
    read = normalize.message(chain)
    assert read is not None
    assert read.reference is not None
    assert read.reference.message is not None
    assert read.reference.message.reference == Reference("5")


def test_a_forward_is_no_reply_and_brings_what_it_passes_on() -> None:
    read = normalize.message(
        payload(
            content="",
            flags=1 << 14,
            message_reference={"type": 1, "message_id": "7"},
            message_snapshots=[{"message": {"content": "passed on", "attachments": [IMAGE], "embeds": None}}],
        )
    )
    assert read is not None
    assert read.reference is None
    assert read.forward is not None
    assert (read.forward.content, read.forward.files[0].id) == ("passed on", IMAGE["id"])
    assert isinstance(read.forward, Forward)


def test_a_gif_is_known_by_its_type_and_not_by_its_provider() -> None:
    embeds = [
        {"type": "video", "thumbnail": {"proxy_url": "https://x.example/a"}},
        {
            "type": "gifv",
            "thumbnail": {"proxy_url": "https://x.example/a.webp", "content_type": "image/webp"},
            "video": {"proxy_url": "https://x.example/a.mp4"},
        },
        {"type": "gifv"},
    ]
    read = normalize.message(payload(embeds=embeds))
    assert read is not None
    assert read.gifvs == (
        Gifv("1400000000000000000.embed1", "https://x.example/a.webp", "image/webp", "https://x.example/a.mp4"),
    )


def test_stickers_polls_and_voice_messages_are_what_they_are() -> None:
    read = normalize.message(
        payload(
            sticker_items=[{"id": "1", "name": "wa\nve"}],
            poll={"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "yes"}}, {"poll_media": None}]},
            flags=1 << 13,
            attachments=[{"id": "1", "duration_secs": 3.6}],
        )
    )
    assert read is not None
    assert (read.stickers, read.poll, read.voice_seconds) == (("wa ve",), Poll("Tea?", ("yes", "")), 4)


def test_a_name_falls_back_to_the_next_and_is_never_empty() -> None:
    nameless = {"id": "3", "username": "\u202e", "global_name": "\n"}
    read = normalize.message(payload(author=nameless, member={"nick": None}))
    assert read is not None
    assert read.author.name == "unknown"


@pytest.mark.parametrize(("edited", "kind"), [(None, "unfurled"), ("2026-01-01T00:00:00+00:00", "edited")])
def test_discords_own_addition_is_told_from_an_edit(edited: str | None, kind: str) -> None:
    change = normalize.change(payload(edited_timestamp=edited))
    assert change is not None
    assert (change.kind, change.message is not None) == (kind, True)
    assert normalize.change({"id": "1"}) is None


def test_deletions_are_read_one_by_one_and_in_bulk() -> None:
    assert [each.message_id for each in normalize.deletions({"id": "1", "channel_id": "2"})] == ["1"]
    assert [each.message_id for each in normalize.deletions({"ids": ["1", 2, None], "channel_id": "2"})] == ["1", "2"]
    assert normalize.deletions({"id": "1"}) == ()


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, categories=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
RICH = payload(
    type=19,
    message_reference={"message_id": "5"},
    referenced_message=payload(id="5"),
    message_snapshots=[{"message": {"content": "x", "attachments": [IMAGE]}}],
    embeds=[{"type": "gifv", "thumbnail": {"proxy_url": "https://x.example/a"}}],
    poll={"question": {"text": "?"}, "answers": [{"poll_media": {"text": "a"}}]},
    sticker_items=[{"name": "s"}],
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        pairs = [*value.items()]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType] -- any JSON
    elif isinstance(value, list):
        pairs = [*enumerate(value)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType] -- any JSON
    return [place for key, inner in pairs for place in ((*here, key), *paths(inner, (*here, key)))]


@given(st.lists(st.tuples(st.sampled_from(paths(RICH)), JUNK), min_size=1, max_size=4))
def test_a_mutated_payload_never_raises(mutations: list[tuple[tuple[Any, ...], Any]]) -> None:
    mutated = json.loads(json.dumps(RICH))
    for place, junk in mutations:
        owner = mutated
        try:
            for key in place[:-1]:
                owner = owner[key]
            owner[place[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue
    read = normalize.message(mutated)
    normalize.change(mutated)
    normalize.deletions(mutated)
    if read is not None:
        admission.judge(read, Policy(guilds=frozenset({"*"})), "1", None)
        assert read.content.encode() is not None
        assert 1 <= len(read.author.name) <= 100

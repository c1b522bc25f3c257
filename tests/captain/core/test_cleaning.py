"""Echoes of our own envelope never reach a room."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.cleaning import cleaned
from clankie_captain.core.context import CONTRACT, Framing, words
from clankie_captain.core.reply import Missing, Said, read_reply
from clankie_settings.wire.attachment import AttachmentsOmitted
from clankie_settings.wire.trigger import Actor, ContextMessage, Room, Trigger


def delivery(body: str, **more: object) -> Trigger:
    fields: dict[str, object] = {
        "wire_version": 1,
        "delivery_id": "9",
        "presence_id": "discord",
        "kind": "mention",
        "room": Room(platform="discord", guild_id="1", channel_id="2"),
        "actor": Actor(actor_id="3", display_name="Ann"),
        "message_id": "9",
        "sent_at": datetime(2026, 1, 1, tzinfo=UTC),
        "body": body,
        "addressed": True,
        **more,
    }
    return Trigger.model_validate(fields)


def earlier(message_id: str = "5") -> ContextMessage:
    return ContextMessage(
        message_id=message_id, author_id="4", author_name="Bob", body="before", sent_at=datetime(2026, 1, 1, tzinfo=UTC)
    )


ENVELOPES = [
    words(delivery("hello\nthere"), Framing("0123456789ab")),
    words(delivery("hello", addressed=False), Framing("0123456789ab", steered=True)),
    words(delivery("hello", kind="catch_up", addressed=False), Framing("0123456789ab")),
    words(delivery("hello", context=(earlier(),), reply_to=earlier("6")), Framing("0123456789ab")),
    words(delivery("hello", attachments_omitted=AttachmentsOmitted(too_large=2)), Framing("0123456789ab")),
    words(delivery("in private", room=Room(platform="discord", channel_id="2"), kind="dm"), Framing("0123456789ab")),
]


@pytest.mark.requirement("ROOM-7")
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_an_echoed_envelope_is_taken_from_the_reply_and_alone_it_is_no_reply(envelope: str) -> None:
    assert read_reply(envelope) == Missing()
    assert read_reply(f"{envelope}\nIt is four.") == Said("It is four.")
    assert read_reply(f"It is four.\n{envelope}") == Said("It is four.")


@pytest.mark.requirement("ROOM-7")
def test_an_echoed_contract_is_no_reply() -> None:
    assert read_reply("\n".join(line for line in CONTRACT.split("\n") if len(line) >= 40)) == Missing()


@pytest.mark.requirement("ROOM-7")
def test_a_block_that_is_never_closed_is_an_echo_to_its_end() -> None:
    assert cleaned('Well.\n<<<heard-0123456789ab from="Ann" id=9\nhello\nand so on') == "Well."


@pytest.mark.requirement("ROOM-7")
def test_an_echo_inside_a_code_fence_is_quoted_and_stays() -> None:
    quoted = f"It looks like this:\n```\n{ENVELOPES[0]}\n```"
    assert cleaned(quoted) == quoted


@pytest.mark.requirement("ROOM-7")
def test_a_left_over_closing_line_goes() -> None:
    assert cleaned("Yes.\n0123456789ab>>>") == "Yes."


@given(st.text(alphabet=st.characters(exclude_characters="<>`~"), max_size=300))
def test_words_that_are_not_ours_are_left_alone(text: str) -> None:
    if not any(sentence in text for sentence in ("You were addressed", "Said ", "The next message")):
        assert cleaned(text) == text.strip()


@pytest.mark.requirement("ROOM-7")
def test_a_call_that_was_only_written_is_no_reply_and_beside_words_it_goes() -> None:
    written = '<tool_call>\n{"name": "send_text_update", "arguments": {"text": "soon"}}\n</tool_call>'
    assert read_reply(written, ("send_text_update",)) == Missing()
    assert read_reply(f"It is four.\n{written}", ("send_text_update",)) == Said("It is four.")
    assert read_reply('{"name": "send_text_update", "arguments": {}}', ("send_text_update",)) == Missing()

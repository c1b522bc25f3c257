"""Messages of every kind count as what they are, and only people's speech wakes him."""

from typing import Any

import pytest

from clankie_stage.app import Stage
from clankie_stage.discord.scenery import BOT_ID, BOT_ROLE_ID, GENERAL_ID
from tests.bridge.conftest import StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo

PNG = {"filename": "a.png", "content": "iVBORw0KGgo=", "content_type": "image/png"}
ZIP = {"filename": "a.zip", "content": "UEsFBg==", "content_type": "application/zip"}
VOICE = {"filename": "voice-message.ogg", "content": "T2dnUw==", "content_type": "audio/ogg", "duration_secs": 2.6}
POLL = {
    "question": {"text": "Tea?"},
    "answers": [{"answer_id": 1, "poll_media": {"text": "yes"}}, {"answer_id": 2, "poll_media": {"text": "no"}}],
}


@pytest.mark.requirement("ING-6")
@pytest.mark.parametrize(
    ("how", "body"),
    [
        ({"extra": {"sticker_items": [{"id": "1", "name": "wave", "format_type": 1}]}}, "[sticker: wave]"),
        ({"extra": {"poll": POLL}}, "[poll: Tea?]\n- yes\n- no"),
        ({"attachments": [VOICE], "extra": {"flags": 1 << 13}}, "[voice message, 3 s]"),
        ({"attachments": [ZIP]}, "[a file]"),
        ({"attachments": [PNG]}, None),
    ],
)
async def test_a_message_without_words_is_handed_over_as_what_it_is(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, how: dict[str, Any], body: str | None
) -> None:
    await start(reply_policy="all")
    stage.control.say("Ann", **how)
    (trigger,) = await captain.until_turns(1)
    assert trigger.body == body
    assert len(trigger.attachments) == (body is None)


@pytest.mark.requirement("ING-6", "ING-2")
async def test_a_forward_is_its_words_and_pictures_and_no_reply_and_no_call(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C64: a mention that was passed on calls nobody."""
    his = stage.control.say("Clankie", f"<@{BOT_ID}> look", attachments=[PNG], room="random")["id"]
    await start()
    stage.control.say("Ann", forward=his)
    stage.control.say("Bob", "Clankie, what was that?")
    (trigger,) = await captain.until_turns(1)
    (forward,) = trigger.context
    assert forward.body == "[forwarded] <@" + BOT_ID + "> look"
    assert trigger.context_visual is not None
    assert trigger.context_visual.message_id == forward.message_id


@pytest.mark.requirement("ING-6", "ING-1")
async def test_system_messages_bots_and_his_own_words_start_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C70: whatever they say, even a mention of him."""
    captain.think = echo
    await start()
    for kind in (1, 6, 7, 8, 18, 20, 21, 22, 23, 24, 46, 99):
        stage.control.say("Ann", f"Clankie <@{BOT_ID}>", overrides={"type": kind})
    stage.control.say("Ann", f"Clankie <@{BOT_ID}>", webhook="a hook")
    stage.control.say("Clankie", f"Clankie <@{BOT_ID}>")
    last = stage.control.say("Ann", "Clankie, hello")["id"]
    await captain.until_receipts(last)
    assert list(captain.turns) == [last]


@pytest.mark.requirement("CTX-6", "ING-6")
@pytest.mark.parametrize("call", [f"<@{BOT_ID}>", f"<@!{BOT_ID}>  ", f"<@&{BOT_ROLE_ID}>", "clankie?"])
async def test_a_bare_call_carries_what_its_author_said(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, call: str
) -> None:
    """C24: never an empty body, and the question is named."""
    await start()
    asked = stage.control.say("Ann", "how tall is it?", attachments=[PNG])["id"]
    stage.control.say("Bob", "no idea")
    stage.control.say("Ann", call)
    (trigger,) = await captain.until_turns(1)
    assert trigger.body
    assert trigger.addressed
    assert trigger.reply_to is not None
    assert trigger.reply_to.message_id == asked
    assert trigger.context_visual is not None
    assert trigger.context_visual.message_id == asked


@pytest.mark.requirement("CTX-6")
@pytest.mark.parametrize("how", [{"attachments": [ZIP]}, {"room": "@Ann"}])
async def test_a_call_with_a_file_that_cannot_be_read_or_in_a_dm_is_a_turn(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, how: dict[str, Any]
) -> None:
    """C24."""
    await start(discord_users=(stage.world.user_named("Ann").id,))
    stage.control.say("Ann", f"<@{BOT_ID}>", **how)
    (trigger,) = await captain.until_turns(1)
    assert trigger.body == "@Clankie"
    assert trigger.attachments_omitted.unsupported == ("attachments" in how)


@pytest.mark.requirement("CTX-6")
async def test_a_reply_to_a_message_that_is_gone_says_so(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C57."""
    gone = stage.control.say("Bob", "look at this", attachments=[PNG])["id"]
    stage.control.delete(gone)
    await start()
    stage.control.say("Ann", "Clankie, what was this?", reply_to=gone)
    (trigger,) = await captain.until_turns(1)
    assert trigger.reply_to is not None
    assert trigger.reply_to.body == "[a message that was deleted]"


@pytest.mark.requirement("ING-6")
@pytest.mark.parametrize("reference", ["known", "gone", "unreadable"])
async def test_a_threads_opener_is_best_effort(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, reference: str
) -> None:
    """C62: from the parent where it can be read; what cannot be had costs the opener alone."""
    opener = stage.control.say("Ann", "the post of the thread", attachments=[PNG])["id"]
    thread = stage.control.create_thread("questions", message=opener)["id"]
    if reference == "gone":
        stage.control.delete(opener)
    if reference == "unreadable":
        stage.control.set_access(GENERAL_ID, "none")
    await start()
    stage.control.say("Bob", "Clankie, take a look", room=thread)
    (trigger,) = await captain.until_turns(1)
    known = ["the post of the thread"] if reference != "gone" else []
    if reference == "known":
        assert trigger.context_visual is not None
    assert [each.body for each in trigger.context] == known

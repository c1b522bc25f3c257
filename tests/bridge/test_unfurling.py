"""An address alone waits a little for its preview; whatever comes later changes nothing."""

from datetime import timedelta

import pytest

from clankie_bridge.core import unfurling
from clankie_stage.app import Stage
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain

LINK = "https://tenor.com/view/a-cat-123"
GIF = [
    {
        "type": "gifv",
        "url": LINK,
        "provider": {"name": "Tenor"},
        "thumbnail": {
            "url": "https://x.test/a.png",
            "proxy_url": "https://images-ext-1.discordapp.net/external/a/a.png",
        },
        "video": {"url": "https://x.test/a.mp4", "proxy_url": "https://images-ext-1.discordapp.net/external/a/a.mp4"},
    }
]


@pytest.fixture(autouse=True)
def previews_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here goes on because a preview took too long, unless a test says so."""
    monkeypatch.setattr(unfurling, "LONGEST", timedelta(hours=1))


@pytest.mark.requirement("IMG-9")
@pytest.mark.parametrize("said", [LINK, f"Clankie, {LINK}"])
async def test_a_picture_that_comes_late_goes_along_and_what_follows_waits_behind_it(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, said: str
) -> None:
    """C22."""
    await start(reply_policy="all")
    gif = stage.control.say("Ann", said)["id"]
    behind = stage.control.say("Ann", "look at this")["id"]
    elsewhere = stage.control.say("Bob", "hello", room="random")["id"]
    await captain.until_turns(1)
    assert list(captain.turns) == [elsewhere]
    stage.control.unfurl(gif, GIF)
    await captain.until_turns(3)
    assert list(captain.turns) == [elsewhere, gif, behind]
    (attachment,) = captain.turns[gif].trigger.attachments
    assert attachment.motion_url is not None


@pytest.mark.requirement("IMG-9")
async def test_a_picture_that_never_comes_or_comes_too_late_is_waited_for_once(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C22: one turn, without the picture."""
    monkeypatch.setattr(unfurling, "LONGEST", timedelta(milliseconds=100))
    await start(reply_policy="all")
    gif = stage.control.say("Ann", LINK)["id"]
    (trigger,) = await captain.until_turns(1)
    assert (trigger.body, trigger.attachments) == (LINK, ())
    stage.control.unfurl(gif, GIF)
    stage.control.say("Ann", "and?")
    await captain.until_turns(2)
    assert len(captain.turns) == 2
    assert not [each for each in captain.asked if each.startswith("PATCH")]


@pytest.mark.requirement("IMG-9")
async def test_a_picture_that_is_there_and_words_with_an_address_wait_for_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C22, the cached variant: everything of one room is handed over while another room waits."""
    await start(reply_policy="all")
    stage.control.say("Ann", LINK)
    at_once = [
        stage.control.say("Ann", LINK, embeds=GIF, room="random")["id"],
        stage.control.say("Ann", f"look: {LINK}", room="random")["id"],
        stage.control.say("Ann", LINK, extra={"flags": 4}, room="random")["id"],
    ]
    await captain.until_turns(3)
    assert list(captain.turns) == at_once


@pytest.mark.requirement("IMG-9", "ING-7")
async def test_an_address_that_is_deleted_while_it_waits_is_withdrawn(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    bridge: RunningBridge = await start(reply_policy="all")
    gif = stage.control.say("Ann", LINK)["id"]
    stage.control.delete(gif)
    last = stage.control.say("Ann", "never mind")["id"]
    await captain.until_turns(1)
    await bridge.ended()
    assert list(captain.turns) == [last]
    assert (gif, "withdrawn") in bridge.evidence()


@pytest.mark.requirement("IMG-9")
async def test_an_address_that_is_no_turn_holds_nobody_up(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start()
    stage.control.say("Ann", LINK)
    stage.control.say("Ann", LINK, room="random")
    called = stage.control.say("Bob", "Clankie?")["id"]
    waiting = stage.control.say("Ann", f"Clankie {LINK}", room="random")["id"]
    await captain.until_turns(1)
    assert list(captain.turns) == [called]
    stage.control.unfurl(waiting, GIF)
    await captain.until_turns(2)
    assert list(captain.turns) == [called, waiting]

"""A reply's words and its pictures are one message, and a picture that cannot be had costs no words."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_bridge.core.artifacts import LARGEST
from clankie_bridge.discord import send
from clankie_settings.wire.action import Post
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.trigger import Room
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID
from clankie_stage.discord.world import BotAccess, Json
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, Think, replied
from tests.bridge.test_posting import POST, posts

pytestmark = pytest.mark.requirement("ART-3")

LONG = "\n\n".join("word " * 100 for _ in range(30)).strip()
GONE = "(I could not attach a picture: its file is gone.)"
TOO_LARGE = "(I could not attach a picture: it is too large for Discord.)"
NOT_PERMITTED = "(I could not attach a picture: I may not attach files here.)"


class Tool:
    """What the captain's tool does: it lays files under the attachment root, and refers to them."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "diagrams"
        self.folder.mkdir(parents=True)

    def make(self, data: bytes = b"\x89PNG\r\n\x1a\n", title: str = "drawing") -> Artifact:
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / f"{digest[:32]}.png").write_bytes(data)
        return Artifact(
            ref=f"sha256:{digest}:diagrams/{digest[:32]}.png",
            filename=f"{title}-{digest[:8]}.png",
            media_type="image/png",
            byte_size=len(data),
        )

    def path(self, made: Artifact) -> Path:
        return self.folder / made.ref.rpartition("/")[2]


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path / "attachments")


def showing(text: str, artifacts: Sequence[Artifact]) -> Think:
    return lambda trigger: replied(trigger.delivery_id, text).model_copy(update={"artifacts": tuple(artifacts)})


def own(stage: Stage) -> list[Json]:
    return [each for each in stage.control.messages() if each["author"].get("bot")]


def sizes(message: Json) -> list[int]:
    return [each["size"] for each in message["attachments"]]


async def asked(stage: Stage, captain: LoopbackCaptain, count: int = 1) -> str:
    said = stage.control.say("Ann", "Clankie, draw it")["id"]
    receipts = await captain.until_receipts(said, count)
    assert [each.message_id for each in receipts] == [each["id"] for each in own(stage)]
    return said


async def test_words_and_pictures_are_one_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x07\x08\0\0\0\0"
    made = [tool.make(data), tool.make(b"\x89PNG\r\n\x1a\n another", "other")]
    captain.think = showing("Here they are.", made)
    bridge: RunningBridge = await start()
    said = await asked(stage, captain)
    (reply,) = own(stage)
    assert (reply["content"], reply["message_reference"]["message_id"]) == ("Here they are.", said)
    assert [each["filename"] for each in reply["attachments"]] == [each.filename for each in made]
    assert (reply["attachments"][0]["width"], reply["attachments"][0]["height"]) == (5, 7)
    (post,) = posts(stage)
    assert [each["sha256"] for each in post["what"]["files"]] == [each.ref.split(":")[1] for each in made]
    assert [each["content_type"] for each in post["what"]["files"]] == ["image/png", "image/png"]
    assert (post["what"]["body"]["enforce_nonce"], post["what"]["body"]["allowed_mentions"]["parse"]) == (True, [])
    assert not bridge.log.of("pictures_left_out")


async def test_pictures_of_a_long_reply_go_with_its_last_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    captain.think = showing(LONG, [tool.make()])
    await start()
    await asked(stage, captain, 5)
    names = [[file["filename"] for file in each["attachments"]] for each in own(stage)]
    assert [len(each) for each in names] == [0, 0, 0, 1, 1]
    assert names[4] == ["reply.txt"]


async def test_pictures_without_words_are_a_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    """C60: text-free with a picture is the picture alone."""
    captain.think = showing("\u200b", [tool.make()])
    await start()
    await asked(stage, captain)
    assert [(each["content"], len(each["attachments"])) for each in own(stage)] == [("", 1)]


@pytest.mark.parametrize("text", ["Here.", LONG, "```\n" + "code\n" * 900, "\u200b"])
async def test_words_whose_pictures_are_gone_say_so(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, text: str
) -> None:
    made = [tool.make(b"one"), tool.make(b"two")]
    tool.path(made[0]).unlink()
    captain.think = showing(text, made)
    bridge: RunningBridge = await start()
    await stage.control.wait_connected()
    said = stage.control.say("Ann", "Clankie, draw it")["id"]
    await captain.until_receipts(said)
    await bridge.ended()
    (shown,) = [each for each in own(stage) if GONE in each["content"]]
    assert sizes(shown) == [3]
    assert all(len(each["content"]) <= 2_000 for each in own(stage))
    (told,) = bridge.log.of("pictures_left_out")
    assert told["causes"] == {"gone": 1}
    assert [each["code"] for each in bridge.records() if each["event"] == "replied"] == ["pictures_left_out"]


async def test_a_bridge_without_the_folder_says_so_in_the_room_and_what_to_do_in_its_log(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, tmp_path: Path
) -> None:
    """Another machine, or another state folder."""
    captain.think = showing("Here.", [tool.make()])
    bridge: RunningBridge = await start(discord_attachment_root=tmp_path / "elsewhere")
    await asked(stage, captain)
    (reply,) = own(stage)
    assert reply["content"] == "Here.\n\n(I could not attach a picture: the folder of my pictures is not here.)"
    (told,) = bridge.log.of("pictures_left_out")
    assert told["causes"] == {"no_folder": 1}
    assert "CLANKIE_DISCORD_ATTACHMENT_ROOT" in told["remedy"]


async def test_pictures_that_resolve_go_without_those_that_do_not(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, tmp_path: Path
) -> None:
    gone, altered, linked, whole = made = [tool.make(bytes([number]) * 9) for number in range(4)]
    tool.path(gone).unlink()
    tool.path(altered).write_bytes(b"something else")
    tool.path(linked).rename(tmp_path / "moved")
    tool.path(linked).symlink_to(tmp_path / "moved")
    captain.think = showing("Here.", made)
    bridge: RunningBridge = await start()
    await asked(stage, captain)
    (reply,) = own(stage)
    assert reply["content"] == "Here.\n\n(I could not attach 3 pictures: each for a reason of its own.)"
    assert [each["filename"] for each in reply["attachments"]] == [whole.filename]
    (told,) = bridge.log.of("pictures_left_out")
    assert told["causes"] == {"gone": 1, "altered": 1, "outside": 1}


@pytest.mark.parametrize("body", [{"code": 40005, "message": "Request entity too large"}, "<html>"])
async def test_where_discord_says_too_large_the_largest_picture_goes_and_the_others_stay(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, body: Json | str
) -> None:
    """C31: Discord's own 413; two artifacts, one too large."""
    captain.think = showing("Here.", [tool.make(b"four"), tool.make(b"larger"), tool.make(b"one")])
    await start()
    stage.control.fault(method="POST", route=POST, status=413, body=body)
    await asked(stage, captain)
    (reply,) = own(stage)
    assert (reply["content"], sizes(reply)) == (f"Here.\n\n{TOO_LARGE}", [4, 3])
    assert len(posts(stage)) == 2


async def test_a_picture_at_discords_limit_goes_and_one_beyond_it_does_not(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    """C31: 10 MiB, and 10 MiB + 1."""
    captain.think = showing("Here.", [tool.make(bytes(LARGEST + 1)), tool.make(bytes(LARGEST))])
    await start()
    await asked(stage, captain)
    (reply,) = own(stage)
    assert (reply["content"], sizes(reply)) == (f"Here.\n\n{TOO_LARGE}", [LARGEST])
    assert len(posts(stage)) == 1


async def test_a_room_without_the_permission_gets_the_words(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    """C31: 50013 for the files."""
    captain.think = showing("Here.", [tool.make()])
    bridge: RunningBridge = await start()
    stage.control.set_access("general", "words")
    await asked(stage, captain)
    assert [(each["content"], sizes(each)) for each in own(stage)] == [(f"Here.\n\n{NOT_PERMITTED}", [])]
    (told,) = bridge.log.of("pictures_left_out")
    assert told["causes"] == {"not_permitted": 1}


@pytest.mark.requirement("OUT-4")
async def test_a_room_that_takes_no_words_either_is_asked_once_more_and_no_oftener(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    captain.think = showing("Here.", [tool.make()])
    await start()
    said = stage.control.say("Ann", "Clankie?", room="notices")["id"]
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == "discord_50013"
    assert len(posts(stage)) == 2


@pytest.mark.requirement("OUT-1")
@pytest.mark.parametrize(
    "fault",
    [{"status": 502, "after": True}, {"status": 413, "after": True}, {"after": True, "kill": True}, {"status": 500}],
)
async def test_a_lost_answer_to_words_with_a_picture_makes_one_message(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, fault: Json
) -> None:
    """C19, C31: even a refusal of what was stored after all."""
    captain.think = showing("Here.", [tool.make()])
    await start()
    stage.control.fault(method="POST", route=POST, **fault)
    await asked(stage, captain)
    (reply,) = own(stage)
    assert len(reply["attachments"]) == 1
    assert len({each["what"]["body"]["nonce"] for each in posts(stage) if each["what"].get("body")}) == 1


def without_addresses(messages: Sequence[Json]) -> list[Json]:
    """Messages without what Discord signs anew each time that it is asked."""
    kept = ("id", "filename", "size")
    return [{**each, "attachments": [[one[key] for key in kept] for one in each["attachments"]]} for each in messages]


@pytest.mark.requirement("OUT-1")
@pytest.mark.parametrize("access", ["full", "words"])
@pytest.mark.parametrize("gone", ["before", "between", "never"])
async def test_the_next_bridge_knows_a_reply_again_whatever_became_of_its_pictures(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, gone: str, access: BotAccess
) -> None:
    """C54, while Discord has forgotten every nonce."""
    stage.control.behave(nonce_window_s=-1)
    stage.control.set_access("general", access)
    made = tool.make()
    if gone == "before":
        tool.path(made).unlink()
    captain.think = showing("Here.", [made])
    first: RunningBridge = await start()
    said = await asked(stage, captain)
    await first.killed()
    there = own(stage)
    captain.turns[said].receipts.clear()
    if gone == "between":
        tool.path(made).unlink()
    if gone == "before":
        tool.path(made).write_bytes(b"\x89PNG\r\n\x1a\n")
    stage.control.set_access("general", "full")
    await start()
    (receipt,) = await captain.until_receipts(said)
    assert receipt.message_id == there[0]["id"]
    assert without_addresses(own(stage)) == without_addresses(there)


@pytest.mark.requirement("OUT-1")
async def test_pictures_are_not_tried_until_the_words_are_late(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upload that never gets through is no refusal; the words leave without it."""
    monkeypatch.setattr(send, "PICTURES_TRIED", timedelta(milliseconds=100))
    captain.think = showing("Here.", [tool.make()])
    await start()
    stage.control.fault(method="POST", route=POST, status=500, times=1)
    await asked(stage, captain)
    assert [(each["content"], sizes(each)) for each in own(stage)] == [
        ("Here.\n\n(I could not attach a picture: Discord did not take it.)", [])
    ]


async def test_words_that_nobody_waits_for_carry_pictures_too(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    await start()
    room = Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID)
    kept, lost = tool.make(b"kept"), tool.make(b"lost")
    tool.path(lost).unlink()
    captain.act(Post(action_id="p1", delivery_id="d1", room=room, text="It is done.", artifacts=(kept,)), 1)
    first = await captain.until_acknowledged("p1")
    captain.act(Post(action_id="p2", delivery_id="d2", room=room, text="And that.", artifacts=(lost,)), 2)
    second = await captain.until_acknowledged("p2")
    assert [(each["content"], sizes(each)) for each in own(stage)] == [
        ("It is done.", [4]),
        (f"And that.\n\n{GONE}", []),
    ]
    assert (first.ok, first.code, second.ok, second.code) == (True, None, True, "pictures_left_out")


@pytest.mark.requirement("SEC-2", "ING-5")
async def test_nothing_of_a_picture_is_written_down(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, tool: Tool
) -> None:
    made = tool.make(title="canary-title")
    tool.path(made).unlink()
    captain.think = showing("Here.", [made])
    bridge: RunningBridge = await start()
    await asked(stage, captain)
    await bridge.ended()
    written = repr(bridge.log.lines) + repr(bridge.records())
    assert "canary" not in written
    assert made.ref.split(":")[1][:16] not in written

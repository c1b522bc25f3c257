"""What a run tells the room while it lasts: typing and updates."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core import exhibits
from clankie_captain.core.reply import Said, read_reply, visible
from clankie_captain.core.run import UpdateOutcome
from clankie_captain.core.silence import MARKER
from clankie_captain.errors import FencedError
from clankie_captain.lanes.signals import Nudge, Sign
from clankie_settings import bounds
from clankie_settings.ids import ActionId
from clankie_settings.wire.action import Clear, TextUpdate, Typing, read_action
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.result import Replied, Silent
from tests.captain.core.test_silence import DECORATED, SPOKEN
from tests.captain.lanes.fakes import Boundary, Fail, Say, Update, Write
from tests.captain.lanes.house import DISCORD, SOON, House, house


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def _next(inbox: "asyncio.Queue[Sign]") -> Sign:
    async with asyncio.timeout(SOON.total_seconds()):
        return await inbox.get()


@pytest.mark.requirement("ROOM-2")
async def test_typing_begins_when_the_words_can_no_longer_be_the_marker_and_repeats_until_the_end(path: Path) -> None:
    """C58."""
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "first")
            thought = await captain.thought()
            await thought.do(Write("[["))
            await thought.do(Write("stay-"))
            assert inbox.empty()
            await thought.do(Write("ing home"))
            assert await _next(inbox) == Typing(delivery_id="m1")
            captain.clock.advance(bounds.TYPING_EVERY)
            assert await _next(inbox) == Typing(delivery_id="m1")
            await thought.do(Say("[[stay-ing home"))
            assert isinstance(await captain.result("m1"), Replied)
            assert await _next(inbox) == Clear(delivery_id="m1")
            captain.clock.advance(bounds.TYPING_EVERY * 3)
            await asyncio.sleep(0)
            assert inbox.empty()


@pytest.mark.requirement("ROOM-2", "ROOM-1")
async def test_a_turn_that_ends_silent_never_lights_the_room(path: Path) -> None:
    """C58."""
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "not for you")
            thought = await captain.thought()
            for delta in ("[", "[stay", "-silent", "]]", "\n"):
                await thought.do(Write(delta))
            await thought.do(Say("[[stay-silent]]\n"))
            assert isinstance(await captain.result("m1"), Silent)
            assert inbox.empty()


@pytest.mark.requirement("ROOM-2")
async def test_typing_ends_with_a_failing_turn(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "first")
            thought = await captain.thought()
            await thought.do(Write("Well"))
            assert await _next(inbox) == Typing(delivery_id="m1")
            await thought.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
            await captain.result("m1")
            assert await _next(inbox) == Clear(delivery_id="m1")


async def _posted(captain: House, inbox: "asyncio.Queue[Sign]", after: int) -> tuple[int, TextUpdate]:
    assert await _next(inbox) == Nudge()
    (action,) = await captain.actions.pending(DISCORD, after)
    update = read_action(action.name, action.payload)
    assert isinstance(update, TextUpdate)
    return action.seq, update


@pytest.mark.requirement("ROOM-3", "LANE-10")
async def test_an_update_answers_the_newest_message_heard_and_ends_nothing(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            await captain.say("m2", "and quickly", actor="100002")
            await thought.do(Boundary())
            telling = thought.begin(Update("one moment"))
            _, update = await _posted(captain, inbox, 0)
            assert (update.text, update.delivery_id) == ("one moment", "m2")
            receipt = ActionReceipt(ok=True, message_id="r1")
            await captain.actions.acknowledge(DISCORD, ActionId(update.action_id), receipt)
            captain.receipts.give(update.action_id, receipt)
            assert await telling == UpdateOutcome("posted")
            await thought.do(Say("found it"))
            reply = await captain.result("m1")
            assert isinstance(reply, Replied)
            assert reply.after_action == 1


@pytest.mark.requirement("ROOM-3")
async def test_a_fourth_update_and_one_without_words_are_refused_with_a_reason(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            after = 0
            for number in range(bounds.UPDATES_A_TURN):
                telling = thought.begin(Update(f"still at it {number}"))
                after, update = await _posted(captain, inbox, after)
                captain.receipts.give(update.action_id, ActionReceipt(ok=False, code="no_permission"))
                refused = await telling
                assert isinstance(refused, UpdateOutcome)
                assert refused.fate == "refused"
                assert "no_permission" in refused.reason
            for text in ("one more", "   ", "x" * (bounds.UPDATE_CHARS + 1), "half \ud83d"):
                outcome = await thought.do(Update(text))
                assert isinstance(outcome, UpdateOutcome)
                assert outcome.fate == "refused"
                assert outcome.reason


UNSAID = (
    *DECORATED.values(),
    f'<<<heard-0123456789ab from="Ann" id=9\nhello\n0123456789ab>>>\n{MARKER}',
    exhibits.POSTED,
    'send_text_update(text="soon")',
)


@pytest.mark.requirement("ROOM-1", "ROOM-3", "ROOM-7")
async def test_an_update_leaves_by_the_same_way_as_a_reply(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C17, C27: the marker is never posted, nor what a reply would lose, and of real words the rest is."""
    monkeypatch.setattr(bounds, "UPDATES_A_TURN", len(SPOKEN))
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            for text in UNSAID:
                outcome = await thought.do(Update(text))
                assert isinstance(outcome, UpdateOutcome)
                assert outcome.fate == "refused", text
                assert "characters of words" in outcome.reason
            after = 0
            for text in filter(visible, SPOKEN.values()):
                telling = thought.begin(Update(f"{text}\n{exhibits.POSTED}"))
                after, update = await _posted(captain, inbox, after)
                assert read_reply(text) == Said(update.text)
                captain.receipts.give(update.action_id, ActionReceipt(ok=True))
                assert await telling == UpdateOutcome("posted")


@pytest.mark.requirement("ROOM-3")
async def test_a_voice_lane_has_no_text_room_to_update(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("u1", "one", kind="voice")
        outcome = await (await captain.thought()).do(Update("hm"))
        assert isinstance(outcome, UpdateOutcome)
        assert outcome.fate == "refused"


@pytest.mark.requirement("ROOM-3")
async def test_an_update_whose_receipt_never_comes_is_reported_as_unknown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ACTION_RECEIPT_WAIT", timedelta(milliseconds=1))
    async with house(path) as captain:
        await captain.say("m1", "look it up")
        outcome = await (await captain.thought()).do(Update("one moment"))
        assert outcome == UpdateOutcome("unknown")
        assert len(await captain.actions.pending(DISCORD, 0)) == 1


@pytest.mark.requirement("LANE-2")
async def test_a_line_that_was_hung_up_refuses_whatever_is_still_said(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await thought.do(Say("done"))
        await captain.result("m1")
        for late in (thought.line.event, thought.line.requesting, lambda: thought.line.wrote("x")):
            with pytest.raises(FencedError):
                late()
        with pytest.raises(FencedError):
            await thought.line.boundary()
        with pytest.raises(FencedError):
            await thought.line.update("too late")

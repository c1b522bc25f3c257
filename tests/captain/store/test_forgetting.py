"""What he said to somebody forgotten goes wherever it was carried, and so do the files that he made for them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clankie_captain.core.artifacts import MADE, Made, artifact, place
from clankie_captain.core.children import Calls, Fork, Forked
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.reply import Said
from clankie_captain.core.run import Draft
from clankie_captain.core.turns import Ended, LiveRun
from clankie_captain.errors import LaneBusyError
from clankie_captain.store.album import Album
from clankie_captain.store.children import ChildStore
from clankie_captain.store.forgetting import Forgetting
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import ActionId, ChildId, DeliveryId, LaneId, MessageId, RunId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.trigger import ContextMessage, Trigger
from tests.captain.core.speech import ANN, BOB, NOON, earlier, trigger
from tests.captain.store.shelf import DISCORD, OTHER_ROOM, ROOM, Shelf

pytestmark = pytest.mark.requirement("OPS-12")

CANARY = "Ann, I heard the peppermint"


def quoted(message: str, said: str) -> ContextMessage:
    return earlier(message, said, author_id="1", author_name="Clankie", is_self=True)


async def answered(
    shelf: Shelf, said: Trigger, reply: str, lane: LaneKey = ROOM, artifacts: tuple[Artifact, ...] = ()
) -> None:
    """One turn up to its posted reply; its request holds the backlog as blocks, and a tool's return the artifacts."""
    run = await shelf.started(said, lane)
    blocks = [f"<<<talk-k1 from=yourself id={each.message_id}\n{each.body}\nk1>>>" for each in said.context]
    parts = [{"part_kind": "user-prompt", "content": each} for each in blocks]
    made = [{"part_kind": "tool-return", "content": "x", "metadata": {"artifact": a.model_dump()}} for a in artifacts]
    draft = Draft("request", json.dumps({"parts": [*parts, *made]}))
    await shelf.hears(run, await shelf.lanes.owner(run), drafts=(draft,))
    await shelf.ended(run, Said(reply, artifacts))
    await posted(shelf, said.delivery_id)


async def posted(shelf: Shelf, delivery: str) -> None:
    receipt = Receipt(part=1, of=1, message_id=MessageId(f"9{delivery}"), posted_at=NOON)
    await shelf.deliveries.receive(DISCORD, DeliveryId(delivery), receipt)


def forgetting(shelf: Shelf) -> Forgetting:
    return Forgetting(shelf.database, Upkeep(shelf.database), Album(shelf.database, shelf.path.parent))


async def held(shelf: Shelf) -> str:
    rows = [
        *await shelf.rows("SELECT payload FROM entry"),
        *await shelf.rows("SELECT trigger || coalesce(result, '') AS payload FROM delivery"),
        *await shelf.rows("SELECT payload FROM action"),
    ]
    return "\n".join(row.payload for row in rows)


async def carried(shelf: Shelf) -> None:
    """Ann was answered in one lane; Bob speaks in it and in another with that answer and another as backlog."""
    await answered(shelf, trigger("400"), CANARY)
    back = (quoted("9400", CANARY), quoted("9399", "a parrot"))
    for delivery, lane in (("401", ROOM), ("402", OTHER_ROOM)):
        await answered(shelf, trigger(delivery, "so?", actor=BOB, context=back, reply_to=back[0]), "yes", lane)


async def test_his_answer_to_somebody_forgotten_goes_from_the_backlog_of_every_lane(shelf: Shelf) -> None:
    await carried(shelf)
    what = forgetting(shelf)
    assert (await what.person(ANN.actor_id)).lanes == 2
    left = await held(shelf)
    assert "peppermint" not in left
    assert left.count("a parrot") == 6
    assert left.count("so?") == 4
    assert (await what.person(ANN.actor_id)).lanes == 0


async def test_an_update_goes_from_the_backlog_of_a_lane_that_comes_first_and_of_one_that_was_at_work(
    shelf: Shelf,
) -> None:
    run = await shelf.started(trigger("400"), OTHER_ROOM)
    await shelf.hears(run, await shelf.lanes.owner(run))
    await shelf.actions.add(run, TextUpdate(action_id="act_1", delivery_id="400", text=CANARY), NOON, 3)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), ActionReceipt(ok=True, message_id="9401"))
    await shelf.ended(run)
    await posted(shelf, "400")
    back = (quoted("9401", CANARY),)
    await answered(shelf, trigger("402", actor=BOB, context=back), "yes")
    last = LaneKey(LaneId("rooms/discord:200:303"), "room", "social")
    busy = await shelf.started(trigger("403", actor=BOB, context=back), last)
    await shelf.hears(busy, await shelf.lanes.owner(busy))
    what = forgetting(shelf)
    with pytest.raises(LaneBusyError):
        await what.person(ANN.actor_id)
    assert (await held(shelf)).count("peppermint") == 2  # the busy lane's entry and delivery
    await shelf.ended(busy)
    await posted(shelf, "403")
    await what.person(ANN.actor_id)
    assert "peppermint" not in await held(shelf)


async def test_his_answers_stay_in_the_backlog_where_they_are_kept(shelf: Shelf) -> None:
    await carried(shelf)
    await forgetting(shelf).person(ANN.actor_id, replies=False)
    assert (await held(shelf)).count("peppermint") > 6


async def test_a_lane_that_was_at_work_loses_his_answer_when_it_is_asked_again(shelf: Shelf) -> None:
    await answered(shelf, trigger("400"), CANARY)
    said = trigger("402", actor=BOB, context=(quoted("9400", CANARY),))
    run = await shelf.started(said, OTHER_ROOM)
    await shelf.hears(run, await shelf.lanes.owner(run))
    what = forgetting(shelf)
    with pytest.raises(LaneBusyError):
        await what.person(ANN.actor_id)
    await shelf.ended(run)
    await posted(shelf, "402")
    await what.person(ANN.actor_id)
    assert "peppermint" not in await held(shelf)


def drawn(root: Path, folder: Made, data: bytes) -> tuple[Artifact, Path]:
    made = artifact(folder, data, "image/png", "a diagram")
    path = root / folder / place(made.ref)[2]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return made, path


@pytest.mark.parametrize("whom", ["person", "room"])
@pytest.mark.parametrize("folder", MADE)
async def test_a_file_that_he_made_leaves_the_disk_with_the_last_reply_that_refers_to_it(
    shelf: Shelf, folder: Made, whom: str
) -> None:
    root = shelf.path.parent
    (mine, gone), (shared, stays) = drawn(root, folder, b"canary"), drawn(root, folder, b"both")
    await answered(shelf, trigger("400"), "look", artifacts=(mine, shared))
    await answered(shelf, trigger("402", actor=BOB), "look", OTHER_ROOM, artifacts=(shared,))
    # Only its result tells of it now.
    await shelf.rows("DELETE FROM entry WHERE lane = :lane RETURNING seq", lane=OTHER_ROOM.id)
    what = forgetting(shelf)
    await (what.person(ANN.actor_id) if whom == "person" else what.room("200:300"))
    assert not gone.exists()
    assert stays.exists()
    await (what.person(BOB.actor_id) if whom == "person" else what.room("200:302"))
    assert not stays.exists()


async def test_files_that_he_made_and_no_row_tells_of_are_tidied_once_they_are_a_day_old(shelf: Shelf) -> None:
    root = shelf.path.parent
    (kept, told), (_, lost) = drawn(root, "diagrams", b"told"), drawn(root, "diagrams", b"lost")
    await answered(shelf, trigger("400"), "look", artifacts=(kept,))
    written = datetime.fromtimestamp(lost.stat().st_mtime, UTC)
    album = Album(shelf.database, root)
    assert await album.tidy(written + timedelta(hours=1)) == 0
    # The age of pictures is not theirs.
    assert await album.tidy(written + timedelta(days=2), before=NOON + timedelta(days=1)) == 1
    assert (told.exists(), lost.exists()) == (True, False)


def block(kind: str, message: str, words: str) -> str:
    return f'<<<{kind}-k{message} from="x" id={message}\n{words}\nk{message}>>>'


async def told(shelf: Shelf, run: LiveRun, answer: str) -> Ended:
    """A run hears its own delivery as a block, and answers."""
    owner = await shelf.lanes.owner(run)
    kind = "task" if run.lane.forked_from else "report"
    part = {"part_kind": "user-prompt", "content": block(kind, owner.delivery, owner.trigger.body or "")}
    reply = Draft("response", json.dumps({"parts": [{"part_kind": "text", "content": answer}]}))
    await shelf.hears(run, owner, drafts=(Draft("request", json.dumps({"parts": [part]})), reply))
    return await shelf.ended(run, Said(answer))


async def worked(shelf: Shelf) -> None:
    """Bob asks, Ann joins, what both said goes on in the background, and the room is told of it."""
    run = await shelf.started(trigger("400", "count the parrots", actor=BOB))
    await shelf.accept(trigger("401", CANARY, actor=ANN))
    said = [await shelf.lanes.owner(run), *await shelf.lanes.take(run, NOON)]
    parts = [
        {"part_kind": "user-prompt", "content": block("heard", each.delivery, each.trigger.body or "")} for each in said
    ]
    await shelf.hears(run, *said, drafts=(Draft("request", json.dumps({"parts": parts})),))
    calls = Calls("call_1", json.dumps("told"), (("call_1", json.dumps("go on")),))
    wanted = Fork(ChildId("child_1"), RunId("run_child"), "count peppermint and parrots", "fingerprint", calls)
    forked = await ChildStore(shelf.database).fork(run, wanted, NOON)
    assert isinstance(forked, Forked)
    assert forked.started is not None
    await shelf.ended(run, Said("I am at it."))
    await posted(shelf, "400")
    ended = await told(shelf, forked.started, "three peppermint parrots")
    assert ended.reported is not None
    await told(shelf, ended.reported, "It is three, peppermint.")
    await shelf.actions.acknowledge(DISCORD, ActionId("post_run-report-child_1"), ActionReceipt(ok=True))


@pytest.mark.requirement("LOOP-6")
@pytest.mark.parametrize("whom", ["room", "person"])
async def test_work_in_the_background_is_forgotten_with_its_room_and_with_whoever_had_joined_in_asking(
    shelf: Shelf, whom: str
) -> None:
    await worked(shelf)
    assert (await held(shelf)).count("peppermint") > 8
    what = forgetting(shelf)
    done = await (what.room("200:300") if whom == "room" else what.person(ANN.actor_id))
    assert done.lanes == 2
    left = await held(shelf)
    assert "peppermint" not in left
    assert ("count the parrots" in left) == (whom == "person")
    assert (await what.person(ANN.actor_id)).lanes == 0


async def test_work_in_the_background_stays_where_the_person_was_not_heard_or_his_words_are_kept(shelf: Shelf) -> None:
    await worked(shelf)
    before = await held(shelf)
    await forgetting(shelf).person("13")
    assert await held(shelf) == before
    await forgetting(shelf).person(ANN.actor_id, replies=False)
    left = await held(shelf)
    assert CANARY not in left
    assert "three peppermint parrots" in left

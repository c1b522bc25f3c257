"""A lane that forgot somebody, or lost its beginning, is still one that a provider takes."""

from dataclasses import replace

import pytest

from clankie_captain.core.context import Framing, words
from clankie_captain.core.forgetting import Erasure, entry, written_by
from clankie_captain.core.retention import Written, cut
from clankie_captain.core.run import Answered, Words
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.trigger import Trigger
from clankie_stage.provider import steps
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.strict import Strict, refusals
from tests.captain.core.speech import ANN, BOB, NOON, earlier, trigger

pytestmark = pytest.mark.requirement("LANE-14", "OPS-11", "OPS-12")

TALK = (
    trigger("400", "the peppermint canary"),
    trigger("401", "the liquorice parrot", actor=BOB, context=(earlier("399", "earlier canary", author_id="11"),)),
    trigger("402", "canary again"),
    trigger("403", "only a parrot", actor=BOB),
)
ASK = steps.call("send_text_update", {"text": "canary, soon"})


def framed(told: Trigger) -> str:
    return words(told, Framing(f"k3y{told.delivery_id}"))


async def lived(strict: Strict, lane: Lane) -> None:
    """Ann speaks, Bob steers her run between tools, Ann's run dies in a tool, Bob is answered."""

    async def bob_speaks() -> None:
        line.steered.append(Words(DeliveryId("401"), framed(TALK[1])))
        line.while_updating = None

    line = Line()
    line.while_updating = bob_speaks
    strict.brain.script(steps.calls(ASK, ASK, before="canary"), steps.text("To the canary and the parrot."))
    await lane.run(strict.loop(), framed(TALK[0]), line=line)
    strict.brain.script(steps.calls(ASK), steps.text("[[stay-silent]]"), steps.text("To the parrot."))
    await lane.run(strict.loop(), framed(TALK[2]))
    del lane.entries[-2:]
    await lane.run(strict.loop(), framed(TALK[3]))


@pytest.mark.parametrize("replies", [True, False])
async def test_a_lane_that_forgot_somebody_is_taken_by_the_provider(strict: Strict, lane: Lane, replies: bool) -> None:
    await lived(strict, lane)
    messages = frozenset[str]().union(*(written_by(ANN.actor_id, each) for each in TALK))
    runs = (
        frozenset(str(each.run) for each in lane.entries if "canary" in each.payload) if replies else frozenset[str]()
    )
    erasure = Erasure(ANN.actor_id, messages, frozenset({"400", "402"}), runs)
    lane.entries = [
        replace(each, payload=entry(each.kind, each.run, each.payload, erasure) or each.payload)
        for each in lane.entries
    ]
    before = len(strict.brain.records())
    strict.brain.script(steps.text("Hello."))
    assert await lane.run(strict.loop(), framed(trigger("404", "hello"))) == Answered("Hello.")
    records = await strict.brain.wait_ended(before + 1)
    assert refusals(records) == []
    sent = records[-1].raw.decode()
    assert "parrot" in sent
    assert "(forgotten)" in sent
    if replies:
        assert "canary" not in sent


@pytest.mark.parametrize("after", range(1, 9))
async def test_a_lane_whose_beginning_went_is_taken_by_the_provider(strict: Strict, lane: Lane, after: int) -> None:
    await lived(strict, lane)
    lines = [Written(each.seq, each.run, NOON) for each in lane.entries]
    young = [
        replace(each, at=NOON) if place < after else replace(each, at=NOON.replace(year=2027))
        for place, each in enumerate(lines)
    ]
    stays = cut(young, NOON.replace(year=2026, month=6), whole=True)
    lane.entries = [each for each in lane.entries if stays is None or each.seq >= stays]
    before = len(strict.brain.records())
    strict.brain.script(steps.text("Hello."))
    assert await lane.run(strict.loop(), framed(trigger("404", "hello"))) == Answered("Hello.")
    assert refusals(await strict.brain.wait_ended(before + 1)) == []

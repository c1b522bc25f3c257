"""Social and system lanes never share history: not by words, not by backlog, not by what is put into notes."""

from pathlib import Path

import pytest

from clankie_captain.core.compaction import Ceilings
from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import Trust
from clankie_captain.core.placement import Loops
from clankie_settings.wire.trigger import ContextMessage, Room
from tests.captain.lanes.fakes import Boundary, Say, StillClock, Thought
from tests.captain.lanes.house import OWNER, House, house

pytestmark = pytest.mark.requirement("LOOP-7", "GRANT-2")

ANN = "100001"
POWERS = Powers(Trust(frozenset({OWNER}), frozenset({"1:9"})))
DM = {"room": Room(platform="discord", channel_id="7"), "kind": "dm"}
SYSTEM_ROOM = {"room": Room(platform="discord", guild_id="1", channel_id="9")}
MIXED: dict[str, object] = {}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


def read(thought: Thought) -> str:
    """All that a model is shown of a stretch."""
    past = [each.payload for each in thought.order.history]
    return "\n".join([thought.order.instructions, *past, *(text for each in thought.requests for text in each)])


async def spoken(captain: House, number: str, words: str, answer: str, **how: object) -> Thought:
    await captain.say(number, words, **how)  # type: ignore[arg-type]
    thought = await captain.thought()
    await thought.do(Boundary())
    await thought.do(Say(answer))
    await captain.result(number)
    return thought


@pytest.mark.parametrize("loops", [Loops(), Loops(everywhere=True)], ids=["lanes", "loops"])
@pytest.mark.parametrize("place", [DM, SYSTEM_ROOM, MIXED], ids=["a DM", "a system room", "a mixed room"])
async def test_words_of_one_authority_are_never_shown_to_the_other(
    path: Path, place: dict[str, object], loops: Loops
) -> None:
    async with house(path, powers=POWERS, loops=loops) as captain:
        await spoken(captain, "m1", "CANARY-system", "CANARY-answer", actor=OWNER, **place)
        social = await spoken(captain, "m2", "CANARY-social", "CANARY-reply", actor=ANN, **place)
        system = await spoken(captain, "m3", "once more", "yes", actor=OWNER, **place)
        again = await spoken(captain, "m4", "and more", "yes", actor=ANN, **place)
        assert "CANARY-system" not in read(social) + read(again)
        assert "CANARY-answer" not in read(social) + read(again)
        assert "CANARY-social" not in read(system)
        assert "CANARY-reply" not in read(system)
        assert "CANARY-social" in read(again)
        assert ("CANARY-system" in read(system)) == bool(place)


async def test_what_one_lane_carries_of_the_room_is_not_known_to_the_other(path: Path) -> None:
    talk = ContextMessage(
        message_id="m0", author_id="100005", author_name="x", body="room talk", sent_at=StillClock().now()
    )
    async with house(path, powers=POWERS) as captain:
        first = await spoken(captain, "m1", "one", "yes", actor=OWNER, context=(talk,), **SYSTEM_ROOM)
        other = await spoken(captain, "m2", "two", "yes", actor=ANN, context=(talk,), **SYSTEM_ROOM)
        once = await spoken(captain, "m3", "three", "yes", actor=OWNER, context=(talk,), **SYSTEM_ROOM)
        assert "room talk" in first.requests[0][0]
        assert "room talk" in other.requests[0][0]
        assert "room talk" not in once.requests[0][0]


async def test_notes_are_made_of_their_own_lane_alone(path: Path) -> None:
    async with house(path, powers=POWERS, ceilings=Ceilings(window=10)) as captain:
        await captain.say("m1", "CANARY-social", actor=ANN, **SYSTEM_ROOM)
        await (await captain.thought()).do(Say("CANARY-reply"))
        social = await captain.writing()
        await captain.say("m2", "CANARY-system", actor=OWNER, **SYSTEM_ROOM)
        await (await captain.thought()).do(Say("CANARY-answer"))
        system = await captain.writing()
        assert "CANARY-social" in str(social.digest.entries)
        assert "CANARY-system" in str(system.digest.entries)
        assert "CANARY-system" not in str(social.digest)
        assert "CANARY-social" not in str(system.digest)

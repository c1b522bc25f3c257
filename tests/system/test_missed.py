"""A bridge that comes back answers what called him meanwhile in many rooms, once each, within Discord's limits."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.system.house import House, whole_house

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

ROOMS, A_ROOM = 10, 4


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("missed")) as running:
        yield running


async def happened(house: House, messages: list[str], *events: str) -> None:
    """Wait until each message came to one of these ends."""

    def all_of_them() -> bool:
        seen = {each["message_id"] for each in house.evidence() if each.get("event") in events}
        return set(messages) <= seen

    await house.until(lambda: all_of_them() or None, f"{len(messages)} messages are {' or '.join(events)}")


@pytest.mark.requirement("ING-9")
async def test_many_rooms_are_caught_up_after_a_kill(house: House) -> None:
    """C12: rooms that he knows and rooms where he never spoke."""
    stage = house.stage
    rooms = [(await stage.call("create_room", name=f"room-{number}"))["id"] for number in range(ROOMS)]
    known = [(await stage.say("Ann", "Clankie, hello", room=room))["id"] for room in rooms[: ROOMS // 2]]
    await happened(house, known, "replied")
    await house.kill("bridge")
    talk = [(await stage.say("Bob", "the ferry is late", room=room))["id"] for room in rooms for _ in range(A_ROOM)]
    called = [(await stage.say("Ann", "Clankie, are you there?", room=room))["id"] for room in rooms]
    await house.start_bridge()
    await happened(house, called, "replied", "absorbed")
    results = [await house.result(each) for each in called]
    assert [each["owed"] for each in results] == [False] * ROOMS
    assert all(each["state"] in ("replied", "absorbed") for each in results)
    for room in rooms:
        said = await stage.messages(room)
        answers = [each["message_reference"]["message_id"] for each in said if each["author"].get("bot")]
        assert len(answers) == len(set(answers))
        assert set(answers) & set(called) or set(answers) & set(talk)
    limited = await stage.recorded({"kind": "rest", "method": "GET", "status": 429})
    assert limited == []

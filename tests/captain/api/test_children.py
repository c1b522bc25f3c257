"""Work in the background, as the operator sees and ends it."""

import pytest

from clankie_captain.core.children import Calls, Forked
from clankie_captain.core.run import Answered, Draft, Finish, Order
from clankie_captain.ports import RunLine
from tests.captain.api.running import OPERATOR_TOKEN, RunningCaptain, actions, caller
from tests.captain.api.test_waits import message, settled

pytestmark = pytest.mark.requirement("LOOP-6")


async def forks(order: Order, line: RunLine) -> Finish:
    """Fork in a room; a child ends at once."""
    if "~child/" not in order.lane and not any("report" in each.text for each in order.words):
        assert isinstance(await line.fork("count the pages", Calls("call_1", "{}", ())), Forked)
    await line.record([Draft("response", "{}")])
    return Answered("Twelve.")


async def test_a_child_is_listed_with_what_became_of_it_and_an_ended_one_stays_as_it_is(
    captain: RunningCaptain,
) -> None:
    captain.loop.script = forks
    async with actions(captain) as events, caller(captain.address, OPERATOR_TOKEN) as operator:
        await captain.post(message("400"))
        assert (await settled(captain, "400")).json()["state"] == "replied"
        assert (await anext(events)).name == "post"
        (child,) = (await operator.get("/v1/children")).json()["children"]
        assert (child["state"], child["report"], child["task"]) == ("done", "replied", "count the pages")
        assert (child["owner"], child["attempt"], child["code"]) == ("400", 1, None)
        assert child["lane"] == f"turns/{child['forked_from']}~child/{child['id']}"
        again = await operator.post(f"/v1/children/{child['id']}/cancel")
        assert (again.status_code, again.json()) == (200, child)


async def test_an_unknown_child_is_404_and_no_presence_sees_any(captain: RunningCaptain) -> None:
    async with caller(captain.address, OPERATOR_TOKEN) as operator:
        answer = await operator.post("/v1/children/nobody/cancel")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_child")
        assert (await operator.get("/v1/children")).json() == {"children": []}
        assert (await operator.get("/v1/stats")).json()["children"] == {"running": 0, "waiting": 0}
    assert (await captain.client.get("/v1/children")).status_code == 403
    assert (await captain.client.post("/v1/children/nobody/cancel")).status_code == 403

"""What the system tests share: rooms by test, and the processes' last words beside a failure."""

from collections.abc import AsyncIterator, Generator

import pytest
import pytest_asyncio

from tests.system.house import House
from tests.system.scene import Scene


@pytest_asyncio.fixture(loop_scope="module")
async def scene(house: House, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    """A room of the test's own, in the house of its module; a request that no step is for is refused."""
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    name = request.node.name.removeprefix("test_")[:60]
    yield await Scene.opened(house, "".join(each if each.isalnum() else "-" for each in name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the processes said last where a test of theirs fails."""
    del call
    report = yield
    house = getattr(item, "funcargs", {}).get("house")
    if report.failed and isinstance(house, House):
        report.sections += [(f"last words of the {name}", said) for name, said in house.output.items()]
    return report

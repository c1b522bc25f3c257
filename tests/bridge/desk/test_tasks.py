"""Background work: its fault, and its end, are its own."""

import asyncio
import inspect

import pytest
import structlog
from structlog.testing import capture_logs

from clankie_bridge.desk.tasks import Tasks


async def _work(ended: list[str], fault: Exception | None = None) -> None:
    try:
        if fault is not None:
            raise fault
        await asyncio.Event().wait()
    finally:
        ended.append("ended")


async def test_work_that_is_cancelled_before_its_first_step_is_closed() -> None:
    work = _work([])
    async with asyncio.TaskGroup() as group:
        Tasks(group, structlog.get_logger()).spawn(work, "idle").cancel()
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


async def test_work_that_is_cancelled_later_comes_to_its_own_end() -> None:
    ended: list[str] = []
    async with asyncio.TaskGroup() as group:
        task = Tasks(group, structlog.get_logger()).spawn(_work(ended), "idle")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    assert ended == ["ended"]


async def test_the_fault_of_one_piece_of_work_is_logged_and_ends_no_other() -> None:
    ended: list[str] = []
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as group:
            tasks = Tasks(group, structlog.get_logger())
            other = tasks.spawn(_work(ended), "other")
            await asyncio.wait([tasks.spawn(_work(ended, ValueError("CANARY")), "broken")])
            assert not other.done()
            other.cancel()
    assert [(each["event"], each["task"], each["kind"]) for each in logs] == [("task_failed", "broken", "ValueError")]
    assert "CANARY" not in str(logs)


async def test_work_that_comes_when_everything_ends_ends_with_it() -> None:
    work = _work([])
    async with asyncio.TaskGroup() as group:
        tasks = Tasks(group, structlog.get_logger())
    with pytest.raises(asyncio.CancelledError):
        tasks.spawn(work, "late")
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED

"""Background work whose fault stays its own."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from clankie_bridge.log import place_of
from clankie_bridge.ports import Log


class Tasks:
    """Starts work in one task group; a fault is logged by kind and place, and ends nothing else."""

    def __init__(self, group: asyncio.TaskGroup, log: Log) -> None:
        self._group = group
        self._log = log

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a piece of work."""
        guarded = self._guarded(work, name)
        try:
            task = self._group.create_task(guarded, name=name)
        except RuntimeError:
            # The group ends, and with it whoever asks for more.
            guarded.close()
            work.close()
            raise asyncio.CancelledError from None
        # One that is cancelled before its first step never comes to its work, which would stay open.
        task.add_done_callback(lambda _: work.close())
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 -- one room's fault must not end the others; it is logged without content
            self._log.error("task_failed", task=name, kind=type(error).__name__, where=place_of(error))

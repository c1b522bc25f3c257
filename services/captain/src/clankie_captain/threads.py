"""Threads for what may hang: bounded, apart from those that everybody shares, and no stop waits for one."""

import asyncio
import errno
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

T = TypeVar("T")


class Threads:
    """Runs what may hang, such as a look-up of a name or a look at a disk, so many at a time.

    What nobody waits for any more goes on until it ends by itself, and keeps its place until then: whatever hangs holds
    up nothing but its own kind.

    Args:
        most: How many run at a time; others wait.
        name: What they are called.
    """

    def __init__(self, most: int, name: str) -> None:
        self._places = asyncio.Semaphore(most)
        self._name = name

    async def run(self, job: Callable[[], T]) -> T:
        """What a job returns or raises, done on a thread of its own.

        Raises:
            OSError: No thread is to be had.
        """
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def tell(result: T | None, fault: Exception | None) -> None:
            self._places.release()
            if answer.done():
                return
            if fault is not None:
                answer.set_exception(fault)
            else:
                answer.set_result(cast("T", result))

        def work() -> None:
            result, fault = None, None
            try:
                result = job()
            except Exception as error:  # noqa: BLE001  # whatever it is, its place comes free and whoever waits is told
                fault = error
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, result, fault)

        try:
            threading.Thread(target=work, name=self._name, daemon=True).start()
        except RuntimeError as error:
            self._places.release()
            raise OSError(errno.EAGAIN, "no thread is to be had") from error
        return await answer

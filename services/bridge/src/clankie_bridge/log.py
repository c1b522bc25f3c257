"""Structured logs without content: JSON lines, or readable ones on a terminal. Source: SEC-2."""

import logging
import sys
import traceback
from typing import Final, TextIO

import structlog

from clankie_bridge.ports import Log

_LIBRARIES: Final = ("hikari", "httpx", "httpcore", "aiohttp", "asyncio")


def configured(stream: TextIO | None = None) -> Log:
    """The bridge's log, on standard error unless told otherwise; libraries' records are reduced to what is safe."""
    out = stream or sys.stderr
    readable = out.isatty()
    renderer = structlog.processors.LogfmtRenderer(key_order=("at", "level", "event")) if readable else None
    logger = structlog.wrap_logger(
        structlog.PrintLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            renderer or structlog.processors.JSONRenderer(),
        ],
        service="bridge",
    )
    handler = LibraryRecords(logger)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.WARNING)
    return logger


class LibraryRecords(logging.Handler):
    """Says that a library said something, and where; its words may hold addresses, tokens and texts."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record without its words."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        say = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        say("library", logger=record.name, where=f"{record.module}:{record.lineno}", kind=kind)


def place_of(error: BaseException) -> str:
    """Where an error came from, as ``file:line``; never its words."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "unknown"

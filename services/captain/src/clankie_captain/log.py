"""Structured logs without content: ids, codes, counts and durations. Source: SEC-2."""

import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog


def configure() -> None:
    """Write one JSON object a line to standard error, and keep libraries from writing lines of their own."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Terminal(sys.stderr))),
    )
    # Libraries put addresses and bodies into their lines; only that something happened may pass.
    root = logging.getLogger()
    root.handlers = [_Counted()]
    root.setLevel(logging.WARNING)


class _Terminal:
    """Standard error; a terminal that went away costs lines, and never the turn that wrote them."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()


class _Counted(logging.Handler):
    """Says which library had something to say, and nothing of what."""

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        structlog.get_logger().warning("library", name=record.name, severity=record.levelname, cause=cause)

"""What holds for every test: it sees nobody's settings, and it never leaves this machine."""

import ipaddress
import logging
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog

_LOCAL_NAMES = {"", "localhost", None}


def _stay_here(event: str, args: tuple[Any, ...]) -> None:
    """Refuse connections and look-ups that would reach another machine."""
    host: str | None
    match event, args:
        case "socket.connect", (_, (str(host), *_)):
            pass
        case "socket.getaddrinfo", (bytes(name), *_):
            host = name.decode()
        case "socket.getaddrinfo", (host, *_):
            pass
        case _:
            return
    if host in _LOCAL_NAMES:
        return
    try:
        away = not (address := ipaddress.ip_address(host or "")).is_loopback and not address.is_unspecified
    except ValueError:
        away = True
    if away:
        raise AssertionError(f"a test tried to reach {host}; tests talk to loopback alone")


sys.addaudithook(_stay_here)


@pytest.fixture(scope="session", autouse=True)
def bare_environment() -> Iterator[None]:
    """No setting, token or key of whoever runs the tests, and no proxy, reaches a test or a process that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            ours = name.startswith(("CLANKIE_", "DISCORD_")) or name.endswith("_API_KEY")
            if ours or name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield


@contextmanager
def _logging_as_it_was() -> Generator[None]:
    root, disabled = logging.root, logging.root.manager.disable
    loggers = [root, *(each for each in root.manager.loggerDict.values() if isinstance(each, logging.Logger))]
    before = [(each, each.level, each.handlers[:], each.propagate, each.disabled) for each in loggers]
    yield
    logging.disable(disabled)
    new = [each for each in root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    for logger in {*new} - {*loggers}:
        logger.setLevel(logging.NOTSET)
    for logger, level, handlers, propagate, off in before:
        logger.setLevel(level)
        logger.handlers[:], logger.propagate, logger.disabled = handlers, propagate, off
    structlog.reset_defaults()


@pytest.fixture(scope="module", autouse=True)
def logging_of_the_module() -> Generator[None]:
    """What a module's own fixtures make of logging ends with the module."""
    with _logging_as_it_was():
        yield


@pytest.fixture(autouse=True)
def logging_of_the_test() -> Generator[None]:
    """No test hears more or less of a logger because another ran before it."""
    with _logging_as_it_was():
        yield

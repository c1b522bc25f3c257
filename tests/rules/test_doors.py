"""Each effect has one door: the environment, the clock, chance, and the terminal."""

from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.rules.sources import Source, calls, expect_none, shipped_files, used_names, within

ENVIRONMENT = ("os.environ", "os.environb", "os.getenv", "os.putenv", "tomllib", "dotenv")
ENVIRONMENT_DOORS = {
    "clankie_settings/environment.py": "the only reader of environment and clankie.toml",
}

TIME = (
    "asyncio.sleep",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "time.clock_gettime",
    "time.clock_gettime_ns",
    "time.gmtime",
    "time.localtime",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.process_time",
    "time.sleep",
    "time.time",
    "time.time_ns",
)
CHANCE = ("os.urandom", "random", "secrets", "uuid.uuid1", "uuid.uuid4")
CLOCK_DOORS = {
    "clankie_settings/clock.py": "the clock and the ids themselves",
    "clankie_settings/secrets.py": "makes the tokens",
    "clankie_stage/": "a loopback world for trials: it plays Discord's clock and chance",
}

TERMINAL_DOORS = {
    "clankie_cli/": "the command speaks to a person",
    "__main__.py": "an entry says where it is, or why it cannot start, before there is a log",
}


def through(source: Source, names: Iterable[str], doors: Mapping[str, str]) -> Iterator[str]:
    """Uses of these names, or of what lies under them, in a file that is not one of the doors."""
    if within(source.path, *doors):
        return
    for line, used in used_names(source.tree):
        for name in names:
            if f"{used}.".startswith(f"{name}."):
                yield f"{source.path}:{line}: {used} belongs in {next(iter(doors))}"


def printed(source: Source) -> Iterator[str]:
    if within(source.path, *TERMINAL_DOORS):
        return
    for call, name in calls(source.tree):
        if name in ("print", "input", "sys.stdout.write", "sys.stderr.write"):
            yield f"{source.path}:{call.lineno}: {name}() speaks past the log; only the CLI and entry lines may"


def test_only_the_environment_module_reads_environment_and_toml() -> None:
    expect_none(fault for source in shipped_files() for fault in through(source, ENVIRONMENT, ENVIRONMENT_DOORS))


def test_time_and_chance_come_through_the_clock() -> None:
    expect_none(fault for source in shipped_files() for fault in through(source, TIME + CHANCE, CLOCK_DOORS))


def test_only_commands_print() -> None:
    expect_none(fault for source in shipped_files() for fault in printed(source))


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.environ['A']",
        "from os import environ",
        "import os as system\nsystem.getenv('A')",
        "import tomllib",
        "from tomllib import loads",
        "from dotenv import dotenv_values",
    ],
)
def test_a_second_reader_of_the_environment_is_seen(text: str) -> None:
    assert [*through(Source("services/bridge/src/clankie_bridge/desk.py", text), ENVIRONMENT, ENVIRONMENT_DOORS)]


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.time()",
        "from time import monotonic as now",
        "import asyncio\nasync def wait(): await asyncio.sleep(1)",
        "from datetime import datetime, UTC\nat = datetime.now(UTC)",
        "import datetime as dt\nat = dt.datetime.now(dt.UTC)",
        "import random",
        "import uuid\nname = uuid.uuid4()",
        "from secrets import token_hex",
    ],
)
def test_a_second_clock_or_chance_is_seen(text: str) -> None:
    assert [*through(Source("services/captain/src/clankie_captain/lanes/runner.py", text), TIME + CHANCE, CLOCK_DOORS)]


@pytest.mark.parametrize("text", ["print('x')", "import sys\nsys.stderr.write('x')"])
def test_a_print_in_a_service_is_seen(text: str) -> None:
    assert [*printed(Source("services/captain/src/clankie_captain/app/life.py", text))]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.fspath('a')",
        "from datetime import datetime, timedelta",
        "from uuid import UUID",
        "import asyncio",
    ],
)
def test_what_reads_no_clock_and_no_environment_is_left_alone(text: str) -> None:
    source = Source("services/captain/src/clankie_captain/app/life.py", text)
    assert not [*through(source, TIME + CHANCE, CLOCK_DOORS), *through(source, ENVIRONMENT, ENVIRONMENT_DOORS)]

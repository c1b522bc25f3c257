"""One readable log of all programs."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_cli.screen import Screen

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
AT = f"{NOON.astimezone():%H:%M:%S}"


class Stopped:
    """A clock that stands at noon."""

    def now(self) -> datetime:
        return NOON

    def elapsed(self) -> timedelta:
        return timedelta(0)

    async def sleep(self, duration: timedelta) -> None:
        del duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def relayed(line: str, stream: io.StringIO | None = None, **env: str) -> str:
    out = stream or io.StringIO()
    Screen(Stopped(), env, out).relay("captain", line)
    return out.getvalue()


def test_a_record_is_made_readable() -> None:
    line = '{"event": "gateway_ready", "level": "info", "service": "bridge", "guilds": 1, "note": null, "ok": true}'
    assert relayed(line) == f"{AT} captain gateway_ready guilds=1 ok=true\n"


@pytest.mark.parametrize("key", ["at", "timestamp"])
def test_a_record_keeps_its_own_time(key: str) -> None:
    then = NOON - timedelta(minutes=1)
    assert relayed(f'{{"event": "x", "{key}": "{then.isoformat()}"}}') == f"{then.astimezone():%H:%M:%S} captain x\n"
    assert relayed(f'{{"event": "x", "{key}": "yesterday"}}') == f"{AT} captain x\n"


@pytest.mark.parametrize("line", ["plain words", "{not json", "[1]"])
def test_any_other_line_is_shown_as_it_is(line: str) -> None:
    assert relayed(line) == f"{AT} captain {line}\n"


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}])
def test_colours_are_for_terminals_of_people_who_want_them(env: dict[str, str]) -> None:
    assert "\x1b" not in relayed('{"event": "x", "level": "error"}', io.StringIO(), **env)
    shown = relayed('{"event": "x", "level": "error"}', Terminal(), **env)
    assert ("\x1b[31mx\x1b[0m" in shown) == (not env)


@given(st.text(), st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.lists(st.text()))))
def test_nothing_that_a_program_writes_moves_the_cursor(text: str, record: dict[str, Any]) -> None:
    for line in (text, json.dumps({"event": text, **record})):
        shown = relayed(line)
        assert shown.endswith("\n")
        assert shown[:-1].isprintable()

"""``mcp.json`` as the ecosystem has it: what is read, what is refused, and that no value is said in a refusal."""

import json
from pathlib import Path
from typing import Any

import pytest

from clankie_settings import bounds
from clankie_settings.environment import SettingsError, captain_settings, tool_servers
from clankie_settings.servers import HttpServer, ServersError, StdioServer, read_servers

pytestmark = pytest.mark.requirement("GRANT-1")

SECRET = "hunter2-hunter2"
VARIABLES = {
    "PATH": "/usr/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "GITHUB_TOKEN": SECRET, "DISCORD_BOT_TOKEN": SECRET,
    "CLANKIE_CAPTAIN_TOKEN": SECRET, "BLANK": " ",
}  # fmt: skip


def servers(entries: object, **top: object) -> dict[str, Any]:
    return read_servers(json.dumps({"mcpServers": entries, **top}), VARIABLES)


@pytest.mark.requirement("SEC-2")
def test_a_program_has_the_smallest_environment_and_what_is_named() -> None:
    entry = {
        "command": "uvx",
        "args": ["x", "--key=${GITHUB_TOKEN}"],
        "env": {"A": "${B:-c}/${GITHUB_TOKEN}", "LANG": ""},
    }
    found = servers({"git": entry})["git"]
    assert isinstance(found, StdioServer)
    assert (found.command, found.args, found.cwd) == ("uvx", ["x", f"--key={SECRET}"], "/")
    assert found.env == {"PATH": "/usr/bin", "HOME": "/home/me", "LANG": "", "A": f"c/{SECRET}"}
    assert SECRET not in repr(found)


def test_a_server_at_an_address_has_its_headers_filled_in() -> None:
    for kind in ({}, {"type": "http"}, {"type": "streamable-http"}):
        entry = kind | {
            "url": "${URL:-https://a.test/mcp?key=1}",
            "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"},
        }
        found = servers({"a": entry})["a"]
        assert isinstance(found, HttpServer)
        assert (found.url, found.headers) == ("https://a.test/mcp?key=1", {"Authorization": f"Bearer {SECRET}"})
        assert SECRET not in repr(found)


def test_servers_stand_in_one_order_and_a_disabled_one_is_left_out() -> None:
    entry = {"command": "x"}
    assert list(servers({"b": entry, "a": entry, "c": {"command": "${UNSET}", "disabled": True}})) == ["a", "b"]
    assert servers({}) == {} == read_servers("{}", {})


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("{", "", "is not valid JSON at line 1"),
        ('{"mcpServers": {"one": {}, "one": {}}}', "one", "stands there twice"),
        ("[" * 100_000, "", "is not valid JSON"),
        ("[]", "", "expected an object"),
        ('{"servers": {}}', "servers", "call it mcpServers"),
        ('{"inputs": []}', "inputs", "is no key of this file"),
        ('{"mcpServers": []}', "mcpServers", "expected an object"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_place(text: str, place: str, says: str) -> None:
    with pytest.raises(ServersError) as refused:
        read_servers(text, VARIABLES)
    assert refused.value.place == place
    assert says in refused.value.reason


@pytest.mark.parametrize(
    ("entry", "place", "says"),
    [
        (SECRET, "", "expected an object"),
        ({}, "", "either command, of a program to start, or url"),
        ({"command": "x", "url": "http://a.test"}, "", "either command"),
        ({"command": ""}, ".command", "is empty"),
        ({"command": 3}, ".command", "expected text in quotes"),
        ({"command": "x", "args": SECRET}, ".args", "expected a list"),
        ({"command": "x", "args": [1]}, ".args.0", "expected text in quotes"),
        ({"command": "x", "args": ["a\0b"]}, ".args.0", "NUL"),
        ({"command": "x", "env": {"A": "\ud800"}}, ".env.A", "half a character"),
        ({"command": "x", "env": {"A": 1}}, ".env.A", "expected text in quotes"),
        ({"command": "x", "env": [SECRET]}, ".env", "expected an object"),
        ({"command": "x", "evn": {"A": SECRET}}, ".evn", "is no key of a server; did you mean env?"),
        ({"command": "x", "autoApprove": ["y"]}, ".autoApprove", "is no key of a server; remove it"),
        ({"command": "x", "type": "http"}, ".type", "expected stdio beside command"),
        ({"command": "x", "disabled": "yes"}, ".disabled", "expected true or false"),
        ({"type": "sse", "url": "http://a.test"}, ".type", "sse is an older way"),
        ({"url": "ftp://a.test"}, ".url", "expected an address"),
        ({"url": f"http://me:{SECRET}@a.test/mcp"}, ".url", "a password goes into headers"),
        ({"url": "http://[::1"}, ".url", "expected an address"),
        ({"url": "http://a.test/ b"}, ".url", "expected an address"),
        ({"url": "http://a.test", "headers": {"A": f"{SECRET}\r\nB: c"}}, ".headers.A", "a header is one line"),
        ({"command": "x", "env": {"A": "${MISSING}"}}, ".env.A", "the variable MISSING is not set"),
        ({"command": "x", "env": {"A": "${BLANK}"}}, ".env.A", "the variable BLANK is not set"),
        ({"command": "x", "args": ["${input:token}"]}, ".args.0", "expected ${NAME} or ${NAME:-default}"),
        ({"command": "x", "args": ["${}"]}, ".args.0", "expected ${NAME}"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused_with_its_place_and_no_value(
    entry: object, place: str, says: str
) -> None:
    with pytest.raises(ServersError) as refused:
        servers({"it": entry})
    assert refused.value.place == f"mcpServers.it{place}"
    assert says in refused.value.reason
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("name", ["", "1st", "two words", "a.b", "ä", "a" * 33, "_a"])
def test_a_name_that_no_tool_could_have_is_refused(name: str) -> None:
    with pytest.raises(ServersError, match="expected a name"):
        servers({name: {"command": "x"}})


def test_a_server_whose_tools_anothers_grant_would_give_is_refused() -> None:
    with pytest.raises(ServersError, match=r"git_hub: git_\* would grant its tools too"):
        servers({"git": {"command": "x"}, "git_hub": {"command": "x"}})
    assert set(servers({"git": {"command": "x"}, "git-hub": {"command": "x"}, "github": {"command": "x"}})) == {
        "git", "git-hub", "github"
    }  # fmt: skip


def test_more_servers_than_are_served_are_refused() -> None:
    with pytest.raises(ServersError, match="32 servers or fewer"):
        servers({f"s{number}": {"command": "x"} for number in range(bounds.SERVERS + 1)})


def read(env: dict[str, str]) -> dict[str, Any]:
    return tool_servers(env, captain_settings(env))


def test_the_file_is_the_one_beside_the_settings_or_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read({}) == {}
    Path("mcp.json").write_text('\ufeff{"mcpServers": {"here": {"command": "x"}}}', "utf-8")
    Path("config").mkdir()
    Path("config/clankie.toml").write_text("", "utf-8")
    Path("config/mcp.json").write_text('{"mcpServers": {"beside": {"command": "x"}}}', "utf-8")
    assert list(read({})) == ["here"]
    assert list(read({"CLANKIE_CONFIG": "config/clankie.toml"})) == ["beside"]
    assert list(read({"CLANKIE_CONFIG": "config/clankie.toml", "CLANKIE_MCP_FILE": "mcp.json"})) == ["here"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, r"CLANKIE_MCP_FILE: x\.json cannot be read"),
        (b"\xff", r"x\.json: is not UTF-8"),
        (b" " * (bounds.SERVERS_FILE_BYTES + 1), r"x\.json: expected 256 KiB or less"),
        (b"{", r"x\.json: is not valid JSON"),
        (b'{"mcpServers": {"a": {}}}', r"mcpServers\.a \(x\.json\): expected either"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_setting_that_cannot_be_used(
    tmp_path: Path, data: bytes | None, says: str
) -> None:
    if data is not None:
        (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(SettingsError, match=says):
        read({"CLANKIE_MCP_FILE": str(tmp_path / "x.json")})

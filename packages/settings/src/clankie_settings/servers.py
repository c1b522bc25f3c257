"""``mcp.json``: servers of tools, as every client of the Model Context Protocol writes them down.

``environment.py`` reads the file; here its text becomes servers, with ``${NAME}`` and ``${NAME:-default}`` filled in
from the environment, so that a secret need not stand in the file.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from clankie_settings import bounds

KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL")
"""What of the captain's environment a server is started with; all else it has from its own ``env``. Source: SEC-2."""

SECTION: Final = "mcpServers"
"""The one key of the file."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_REFERENCE: Final = re.compile(r"\$\{(?P<name>[^}:]*)(?P<default>:-(?P<value>[^}]*))?(?P<rest>[^}]*)\}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ServersError(Exception):
    """The file cannot be used.

    Attributes:
        place: The key that is wrong, from the top of the file; empty where it is the whole file.
        reason: What is wrong there and what to do; never a value.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


def _address(url: str) -> str:
    try:
        split = urlsplit(url)
        sound = (
            split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0 and "@" not in split.netloc
        )
    except ValueError:
        sound = False
    if not sound or re.search(r"[\s\\#\x00-\x20\x7f]", url):
        raise ValueError("expected an address such as http://127.0.0.1:8000/mcp; a password goes into headers")
    return url


def _header(value: str) -> str:
    if re.search(r"[\r\n\x00]", value):
        raise ValueError("a header is one line")
    return value


def _plain(value: str) -> str:
    if "\0" in value:
        raise ValueError("holds a NUL character")
    if re.search(r"[\ud800-\udfff]", value):
        raise ValueError("holds half a character, which no program can be given")
    return value


Plain = Annotated[str, AfterValidator(_plain)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    disabled: bool = False
    """Whether it stands in the file and is left alone."""


class StdioServer(_Entry):
    """A program that is started, and spoken with over its standard input and output."""

    type: Literal["stdio"] = "stdio"
    command: Annotated[Plain, Field(min_length=1)]
    args: Annotated[list[Plain], Field(repr=False)] = []
    env: Annotated[dict[str, Plain], Field(repr=False)] = {}
    """Its whole environment, once it was read: what ``KEPT`` names, and what the file names."""
    cwd: Plain | None = None
    """Where it runs; unset, ``/``: a folder with a ``.env`` would hand it what stands there."""


class HttpServer(_Entry):
    """A server at an address, spoken with over streamable HTTP."""

    type: Literal["http", "streamable-http"] = "http"
    url: Annotated[str, AfterValidator(_address), Field(repr=False)]
    headers: Annotated[dict[str, Annotated[str, AfterValidator(_header)]], Field(repr=False)] = {}


Server = StdioServer | HttpServer
"""A server of tools."""


def read_servers(text: str, variables: Mapping[str, str]) -> dict[str, Server]:
    """The servers of ``mcp.json`` by their names, in the order of these; one that is ``disabled`` is left out.

    Raises:
        ServersError: The file is not what it must be, or a variable that it names is not set.
    """
    entries = {name: each for name, each in _entries(text).items() if not _is_disabled(each)}
    servers = {name: _server(name, entries[name], variables) for name in sorted(entries)}
    if len(servers) > bounds.SERVERS:
        raise ServersError(SECTION, f"expected {bounds.SERVERS} servers or fewer")
    for name in servers:
        longer = next((each for each in servers if each.startswith(f"{name}_")), None)
        if longer is not None:
            raise ServersError(f"{SECTION}.{longer}", f"{name}_* would grant its tools too; rename one of the two")
    return servers


def _entries(text: str) -> dict[str, Any]:
    try:
        read: Any = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ServersError("", f"is not valid JSON{place}") from None
    held = _mapping("", read)
    for key in held:
        if key != SECTION:
            said = f'keep {{"{SECTION}": …}} alone'
            if key == "servers":
                said = f"call it {SECTION}"
            raise ServersError(key, f"is no key of this file; {said}")
    entries = _mapping(SECTION, held.get(SECTION, {}))
    for name in entries:
        if not _NAME.fullmatch(name):
            raise ServersError(
                f"{SECTION}.{name[:40]}",
                "expected a name of A-Z, a-z, 0-9, _ and -, which begins with a letter, up to 32",
            )
    return entries


def _is_disabled(entry: Any) -> bool:
    """Whether an entry is left alone, whatever else stands in it: its variables need not be set."""
    return isinstance(entry, dict) and cast("dict[str, Any]", entry).get("disabled") is True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ServersError(twice[:40], "stands there twice, and only one of the two would count; remove the other")
    return found


def _server(name: str, entry: Any, variables: Mapping[str, str]) -> Server:
    place = f"{SECTION}.{name}"
    held = _mapping(place, entry)
    kind = _kind(place, held)
    filled = {key: _filled(f"{place}.{key}", value, variables) for key, value in held.items()}
    if kind is HttpServer:
        return _validated(HttpServer, place, filled)
    server = _validated(StdioServer, place, filled)
    kept = {each: variables[each] for each in KEPT if variables.get(each)}
    folder = str(Path(server.cwd).expanduser()) if server.cwd else "/"
    return server.model_copy(update={"env": {**kept, **server.env}, "cwd": folder})


def _kind(place: str, entry: Mapping[str, Any]) -> type[StdioServer | HttpServer]:
    if entry.get("type") == "sse":
        raise ServersError(
            f"{place}.type", 'sse is an older way that is not spoken; try "http", which most servers have'
        )
    if ("command" in entry) == ("url" in entry):
        raise ServersError(place, "expected either command, of a program to start, or url, of a server that runs")
    return HttpServer if "url" in entry else StdioServer


def _validated(kind: type[Any], place: str, entry: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join([place, *(str(each) for each in first["loc"] if each != "[key]")])
    if first["type"] == "extra_forbidden":
        raise ServersError(where, f"is no key of a server{_hint(str(first['loc'][-1]), kind.model_fields)}")
    raise ServersError(where, _sentence(first["type"], first["msg"]))


def _sentence(kind: str, said: str) -> str:
    sentences = {
        "bool_type": "expected true or false",
        "dict_type": 'expected an object, such as {"NAME": "value"}',
        "list_type": 'expected a list, such as ["--flag", "value"]',
        "literal_error": "expected stdio beside command; http or streamable-http beside url",
        "too_short": "is empty; name a program",
        "string_type": "expected text in quotes",
    }
    return sentences.get(kind, said.removeprefix("Value error, "))


def _filled(place: str, value: Any, variables: Mapping[str, str]) -> Any:
    """A value with every reference replaced by what the variable holds, at any depth."""
    match value:
        case str():
            return _REFERENCE.sub(lambda found: _variable(place, found, variables), value)
        case dict():
            held = cast("dict[str, Any]", value)
            return {key: _filled(f"{place}.{key}", each, variables) for key, each in held.items()}
        case list():
            held = cast("list[Any]", value)
            return [_filled(f"{place}.{at}", each, variables) for at, each in enumerate(held)]
        case _:
            return value


def _variable(place: str, found: re.Match[str], variables: Mapping[str, str]) -> str:
    name = found["name"]
    if found["rest"] or not _VARIABLE.fullmatch(name):
        raise ServersError(place, "expected ${NAME} or ${NAME:-default}, of a variable of the environment")
    if variables.get(name, "").strip():
        return variables[name]
    if found["default"] is None:
        raise ServersError(place, f"the variable {name} is not set; set it in .env, or write ${{{name}:-}} for nothing")
    return found["value"]


def _mapping(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ServersError(place, 'expected an object, such as {"mcpServers": {"time": {"command": "…"}}}')
    return cast("dict[str, Any]", value)


def _hint(name: str, choices: Iterable[str]) -> str:
    near = difflib.get_close_matches(name.casefold(), list(choices), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else "; remove it"

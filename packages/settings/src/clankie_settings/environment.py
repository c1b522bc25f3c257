"""The only reader of the environment, of ``.env``, of ``clankie.toml`` and of ``mcp.json``.

A setting has one name: the variable ``CLANKIE_MODEL`` is the key ``model`` of ``clankie.toml``. The environment wins
over the file, and the file over the defaults. An unknown key is refused with a hint, since a misspelt
setting that is ignored is a door left open.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import dotenv
from dotenv.parser import parse_stream
from pydantic import ValidationError

from clankie_settings import bounds, paths
from clankie_settings.schema import BridgeSettings, CaptainSettings, LaunchSettings, SharedSettings
from clankie_settings.servers import Server, ServersError, read_servers

UNPREFIXED: Final = frozenset({
    "DISCORD_BOT_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "BRAVE_API_KEY",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
})  # fmt: skip
"""Variables that keep the name which everybody knows them by."""

CONFIG: Final = "CLANKIE_CONFIG"
"""The variable that names another ``clankie.toml``."""

MCP: Final = "mcp.json"
"""The file of tool servers, beside ``clankie.toml`` unless a setting names another."""

FOLDERS: Final = ("state", "discord_attachment_root")
"""The fields that ``paths.py`` derives. Source: ART-1."""

SENTENCES: Final = {
    "bool_parsing": "expected true or false",
    "dict_type": "expected a table: docs/settings.md shows one",
    "float_parsing": "expected a number",
    "float_type": "expected a number",
    "finite_number": "expected a number",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected {ge} or more",
    "int_from_float": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_type": "expected a whole number",
    "less_than_equal": "expected {le} or less",
    "literal_error": "expected {expected}",
    "model_type": "expected a table: docs/settings.md shows one",
    "string_pattern_mismatch": "expected a name of a-z, 0-9 and -, which begins with a letter",
    "string_type": "expected text in quotes",
    "too_short": "expected at least {min_length} characters; `openssl rand -hex 24` makes a token",
    "tuple_type": 'expected a list, such as ["1", "2"]',
}
"""What a person is told where pydantic's sentence speaks of types; bounds stand in braces, by pydantic's names."""

Settings = TypeVar("Settings", bound=SharedSettings)


class SettingsError(Exception):
    """A setting cannot be used.

    Attributes:
        name: The setting, as the person who set it wrote it.
        reason: What is wrong with it and what to do; never its value.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class SettingsFile:
    """``clankie.toml`` as a running captain looks at it again; the environment stays as it was. Source: GRANT-3."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)

    def stamp(self) -> tuple[int, int, int] | None:
        """Inode, size, and time of change in nanoseconds; None where there is no file.

        Raises:
            OSError: The file cannot be looked at.
        """
        try:
            found = _path(self._env).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def captain(self) -> CaptainSettings:
        """What the captain reads, as it stands there now.

        Raises:
            SettingsError: A setting is unknown or unusable.
        """
        return captain_settings(self._env)


def process_environment() -> dict[str, str]:
    """The variables of this process, over those of ``.env`` in the working directory; a blank one hides nothing.

    Raises:
        SettingsError: ``.env`` cannot be read.
    """
    try:
        _refuse_unreadable(Path(".env"))
        from_file = {key: value for key, value in dotenv.dotenv_values(".env").items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(".env", "the file cannot be read; make it readable UTF-8 text") from error
    return {**from_file, **{key: value for key, value in os.environ.items() if value.strip() or key not in from_file}}


def captain_settings(env: Mapping[str, str]) -> CaptainSettings:
    """What the captain reads.

    Raises:
        SettingsError: A setting is unknown or unusable.
    """
    return _settings(CaptainSettings, env)


def bridge_settings(env: Mapping[str, str]) -> BridgeSettings:
    """What the bridge reads.

    Raises:
        SettingsError: A setting is unknown or unusable.
    """
    return _settings(BridgeSettings, env)


def tool_servers(env: Mapping[str, str], settings: CaptainSettings) -> dict[str, Server]:
    """The servers of tools that ``mcp.json`` names; none where there is no such file.

    Raises:
        SettingsError: The file is unusable; the message names the key, and no value.
    """
    if settings.mcp_file is None:
        return {}
    path = settings.mcp_file
    try:
        data = path.read_bytes()
        if len(data) > bounds.SERVERS_FILE_BYTES:
            raise SettingsError(path.name, f"expected {bounds.SERVERS_FILE_BYTES // 1024} KiB or less")
        return read_servers(data.decode("utf-8-sig"), env)
    except OSError as error:
        raise SettingsError("CLANKIE_MCP_FILE", f"{path.name} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SettingsError(path.name, "is not UTF-8 text") from error
    except ServersError as error:
        name = f"{error.place} ({path.name})" if error.place else path.name
        raise SettingsError(name, error.reason) from None


def launch_settings(env: Mapping[str, str]) -> LaunchSettings:
    """What ``clankie up`` reads to decide what it starts.

    Raises:
        SettingsError: A setting is unknown or unusable.
    """
    return _settings(LaunchSettings, env)


def variable(field: str) -> str:
    """The environment variable of a settings field."""
    name = field.upper()
    return name if name in UNPREFIXED else f"CLANKIE_{name}"


def _settings(kind: type[Settings], env: Mapping[str, str]) -> Settings:
    file = _file(env)
    known = _known_fields()
    _refuse_unknown("key of clankie.toml", file, known)
    _refuse_unknown("variable", _own_variables(env), [*(variable(each) for each in known), CONFIG])
    values: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for field in kind.model_fields:
        name = variable(field)
        if env.get(name, "").strip():
            values[field], spelled[field] = env[name].strip(), name
        elif field in file and not _blank(file[field]):
            values[field], spelled[field] = file[field], field
    if "mcp_file" in kind.model_fields and "mcp_file" not in values and (beside := _path(env).with_name(MCP)).exists():
        values["mcp_file"] = beside
    folders = {variable(field): _folder(field, values[field]) for field in FOLDERS if field in values}
    try:
        values["state"] = paths.state_folder(folders)
        values["discord_attachment_root"] = paths.attachment_root(folders)
    except RuntimeError as error:
        raise SettingsError(" or ".join(folders), "names the home of somebody who has none here") from error
    try:
        return kind.model_validate(values, context=_path(env))
    except ValidationError as error:
        raise _explained(error, spelled) from None


def _blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _folder(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{field} (clankie.toml)", "expected the path of a folder in quotes")
    return value


def _file(env: Mapping[str, str]) -> dict[str, Any]:
    path = _path(env)
    if not env.get(CONFIG, "").strip() and not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(CONFIG, f"the file cannot be read ({error.strerror}); correct the path") from error
    except UnicodeDecodeError as error:
        raise SettingsError("clankie.toml", "is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        # The parser's own sentence may quote the file; its place does not.
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        raise SettingsError("clankie.toml", f"is not valid TOML{f' {place[0]}' if place else ''}") from error


def _refuse_unreadable(file: Path) -> None:
    # What cannot be read would be passed over: with a quote that is never closed a token would be unset.
    if not file.is_file():
        return
    with file.open(encoding="utf-8") as stream:
        for binding in parse_stream(stream):
            if binding.error or (binding.key and binding.value is None):
                reason = f"line {binding.original.line} is no NAME=value, or its quotation mark is never closed"
                raise SettingsError(".env", reason)


def _path(env: Mapping[str, str]) -> Path:
    return Path(env.get(CONFIG, "").strip() or "clankie.toml")


def _known_fields() -> list[str]:
    kinds = (CaptainSettings, BridgeSettings, LaunchSettings)
    return sorted({field for kind in kinds for field in kind.model_fields})


def _own_variables(env: Mapping[str, str]) -> list[str]:
    return [name for name in env if name.startswith("CLANKIE_")]


def _refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    choices = set(known)
    for name in names:
        if name not in choices:
            raise SettingsError(name, f"is no {what} of Clankie{_hint(name, choices)}")


def _hint(name: str, choices: Iterable[str]) -> str:
    telling = {each.removeprefix("CLANKIE_").casefold(): each for each in sorted(choices)}
    near = difflib.get_close_matches(name.removeprefix("CLANKIE_").casefold(), telling, n=1, cutoff=0.6)
    return f"; did you mean {telling[near[0]]}?" if near else "; docs/settings.md lists them all"


def _explained(error: ValidationError, spelled: Mapping[str, str]) -> SettingsError:
    first = error.errors(include_url=False, include_input=False)[0]
    field, *rest = [str(each) for each in first["loc"] if each != "[key]"]
    name = ".".join([spelled[field], *rest]) + (" (clankie.toml)" if spelled[field] == field else "")
    if first["type"] == "extra_forbidden":
        return SettingsError(name, f"is no key of this table{_hint(rest[-1], SharedSettings.table_fields(field))}")
    if first["type"] == "missing":
        return SettingsError(name, "is not set; docs/settings.md says what it is")
    return SettingsError(name, _sentence(first["type"], first["msg"], first.get("ctx", {})))


def _sentence(kind: str, said: str, bounds: Mapping[str, Any]) -> str:
    sentence = SENTENCES.get(kind)
    if sentence is None:
        return said.removeprefix("Value error, ")
    # The sentence names bounds and choices of the schema, and never what was set.
    whole = {key: int(each) if isinstance(each, float) and each.is_integer() else each for key, each in bounds.items()}
    return sentence.format_map(whole)

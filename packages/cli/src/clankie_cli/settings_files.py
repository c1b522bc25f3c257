"""``.env`` and ``clankie.toml``: changed in place, whole or not at all."""

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from clankie_cli.errors import CannotRun
from clankie_settings.environment import variable

SECRET: Final = frozenset({
    "discord_bot_token", "anthropic_api_key", "openai_api_key", "google_api_key", "brave_api_key",
})  # fmt: skip
"""Settings that belong into ``.env`` alone."""

OWNER_ONLY: Final = 0o600
EVERYBODY_READS: Final = 0o644

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """What the two files hold, or will; None is a file that is not there."""

    dotenv: str | None
    toml: str | None


def read(folder: Path) -> Texts:
    """The two files of a folder.

    Raises:
        CannotRun: One cannot be read as text.
    """
    return Texts(_text(folder / ".env"), _text(folder / "clankie.toml"))


def edited(texts: Texts, values: Mapping[str, Value]) -> Texts:
    """Both with these settings in them; everything else stays as it is.

    A secret goes into ``.env``, anything else into ``clankie.toml``, unless it stands in ``.env`` already, which would
    win.

    Raises:
        CannotRun: ``clankie.toml`` is no TOML.
    """
    standing = {name for name in values if _line(variable(name)).search(texts.dotenv or "")}
    into_env = {name: value for name, value in values.items() if name in SECRET | standing}
    into_toml = {name: value for name, value in values.items() if name not in into_env}
    dotenv, toml = texts.dotenv, texts.toml
    if into_env:
        dotenv = _edited_env(dotenv or "", into_env)
    if into_toml:
        toml = _edited_toml(toml or "", into_toml)
    return Texts(dotenv, toml)


def write(folder: Path, before: Texts, after: Texts) -> list[Path]:
    """Write what changed, ``.env`` readable by its owner alone; which files were written.

    Raises:
        CannotRun: The folder cannot be written.
    """
    written: list[Path] = []
    plan = ((".env", before.dotenv, after.dotenv, OWNER_ONLY), ("clankie.toml", before.toml, after.toml, None))
    for name, old, new, mode in plan:
        if new is not None and new != old:
            try:
                _replace(folder / name, new, mode)
            except OSError as error:
                raise CannotRun(
                    f"{folder / name} cannot be written ({error.strerror}); make the folder writable"
                ) from error
            written.append(folder / name)
    return written


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8-sig") if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRun(f"{path} cannot be read as UTF-8 text; make it readable, or move it away") from error


def _line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=.*$", re.MULTILINE)


def _edited_env(text: str, values: Mapping[str, Value]) -> str:
    for field, value in values.items():
        name = variable(field)
        line = f"{name}={_quoted(value if isinstance(value, str) else ','.join(value))}"
        found = list(_line(name).finditer(text))
        if found:
            # Of several the last one counts.
            text = text[: found[-1].start()] + line + text[found[-1].end() :]
        else:
            text = f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{line}\n"
    return text


def _quoted(value: str) -> str:
    if re.fullmatch(r"[\w.:/,*=+@~-]*", value, re.ASCII):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _edited_toml(text: str, values: Mapping[str, Value]) -> str:
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise CannotRun("clankie.toml is not valid TOML; mend it, or move it away") from error
    for name, value in values.items():
        document[name] = value if isinstance(value, str) else [*value]
    return tomlkit.dumps(document)


def _replace(path: Path, text: str, mode: int | None) -> None:
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else EVERYBODY_READS
    # A link stays one: what it leads to is replaced.
    place = path.resolve()
    descriptor, draft = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(place)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise

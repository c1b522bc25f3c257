"""Tokens of presences and of the operator: given, or made once in the state folder."""

import errno
import os
import secrets
from pathlib import Path

from pydantic import SecretStr


class TokenFileError(Exception):
    """The state folder cannot hold or give a token.

    Attributes:
        path: The file concerned.
    """

    def __init__(self, path: Path, reason: str, remedy: str = "Make the folder writable") -> None:
        super().__init__(f"{path}: {reason}. {remedy}, or set the token in the environment.")
        self.path = path


def token(given: SecretStr | None, state: Path, name: str) -> SecretStr:
    """The given token, else the one in ``<state>/secrets/<name>``, which is made (mode 0600) when missing.

    Two processes that start at once agree on one: the file appears whole, and whoever comes second reads it.

    Raises:
        TokenFileError: The file can be neither read nor made.

    Source: SEC-1.
    """
    if given is not None and given.get_secret_value().strip():
        return given
    path = state / "secrets" / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(32))
        value = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a token"
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise TokenFileError(path, reason, *["Make room on that disk"] * full) from error
    if not value:
        raise TokenFileError(path, "the token file is empty; delete it")
    return SecretStr(value)


def _write_once(path: Path, value: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(value + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return
    finally:
        draft.unlink()

"""What a check found: one line for a person, that says what is wrong and what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "wrong", "skipped"]
"""Fine; fine, but worth knowing; to be changed; not looked at, since something else has to come first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line.

    Attributes:
        check: What was looked at, in a word or two.
        state: How it stands.
        said: What is so, and where it is not right, what to do. Never a secret.
    """

    check: str
    state: State
    said: str


def ok(check: str, said: str) -> Finding:
    """It is as it should be."""
    return Finding(check, "ok", said)


def note(check: str, said: str) -> Finding:
    """It works, and there is something to know."""
    return Finding(check, "note", said)


def wrong(check: str, said: str) -> Finding:
    """Somebody has to change something."""
    return Finding(check, "wrong", said)


def skipped(check: str, said: str) -> Finding:
    """It was not looked at."""
    return Finding(check, "skipped", said)

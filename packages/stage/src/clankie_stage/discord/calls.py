"""A REST call and its answer, free of HTTP, so that handlers are plain functions."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from clankie_stage.discord.errors import invalid_value
from clankie_stage.discord.world import Json

LIST = "_list"
"""The key under which a call's body holds a body that is a list."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a multipart body; ``index`` is n in ``files[n]``."""

    index: int
    filename: str
    content: bytes
    content_type: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """What the bot asks: path parameters, query, JSON body and files."""

    method: str
    template: str
    path: str
    params: dict[str, str]
    query: dict[str, str]
    body: Json = field(default_factory=dict[str, Any])
    files: tuple[Upload, ...] = ()

    @property
    def major(self) -> str:
        """The parameter that Discord limits by: the room or the guild."""
        return self.params.get("channel_id") or self.params.get("guild_id") or ""

    def snowflake(self, key: str) -> str:
        """A path parameter that must be an id.

        Raises:
            RefusalError: it is not one.
        """
        value = self.params[key]
        if not value.isdecimal():
            raise invalid_value(key, value)
        return value


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and JSON body; 204 has none."""

    status: int
    body: Any = None


Handler = Callable[[Call], Awaitable[Answer] | Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path template behind ``/api/v10``, with who answers it.

    Attributes:
        open: needs no bot token, since the path holds one of its own.
        takes_list: its body may be a list, which then stands in the call's body under `LIST`.
    """

    method: str
    template: str
    handler: Handler
    open: bool = False
    takes_list: bool = False


def ok(body: Any) -> Answer:
    """200 with a body."""
    return Answer(200, body)


def done() -> Answer:
    """204: done, nothing to say."""
    return Answer(204)


def object_of(body: Json, key: str) -> Json | None:
    """An optional object in a body.

    Raises:
        RefusalError: it is something else.
    """
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise invalid_value(key, value, "dictionary")
    return cast("Json", value)


def list_of(body: Json, key: str) -> list[Json]:
    """An optional list of objects in a body; empty when it is absent or null.

    Raises:
        RefusalError: it is something else.
    """
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in cast("list[object]", value)):
        raise invalid_value(key, "(this value)", "list")
    return cast("list[Json]", value)

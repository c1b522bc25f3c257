"""What happens in a case, step by step. Source: LOOP-8."""

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Person = Literal["Ann", "Bob"]
Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class Table(BaseModel):
    """A part of a case: no field that is unknown, and no value of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Say(Table):
    """Somebody writes. With a label it is a delivery whose end is looked at; without one it is talk between people."""

    say: Words
    by: Person
    label: Label | None = None
    picture: Literal["red", "green", "blue"] | None = None


class Chatter(Table):
    """Ann and Bob write so many messages to one another, all of them "by the river"; those he reads are waited for."""

    chatter: Annotated[int, Field(ge=1, le=50)]


class Reach(Table):
    """Wait until the scripted model stands at a gate; with a real model, some seconds from the last message on."""

    reach: Label
    otherwise_s: Annotated[float, Field(ge=0, le=60)] = 2.0


class Open(Table):
    """Let the scripted model pass a gate; nothing with a real one."""

    open: Label


class Accepted(Table):
    """Wait until the captain has these messages on disk."""

    accepted: Annotated[list[Label], Field(min_length=1)]


class Settle(Table):
    """Wait until these messages have ended."""

    settle: Annotated[list[Label], Field(min_length=1)]


class Restart(Table):
    """Kill a service as a power cut would, and start it again."""

    restart: Literal["captain"]


def _kind(value: Any) -> str | None:
    given = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    kinds = ("say", "chatter", "reach", "open", "accepted", "settle", "restart")
    return next((kind for kind in kinds if kind in given), None)


Step = Annotated[
    Annotated[Say, Tag("say")]
    | Annotated[Chatter, Tag("chatter")]
    | Annotated[Reach, Tag("reach")]
    | Annotated[Open, Tag("open")]
    | Annotated[Accepted, Tag("accepted")]
    | Annotated[Settle, Tag("settle")]
    | Annotated[Restart, Tag("restart")],
    Discriminator(
        _kind,
        custom_error_type="step",
        custom_error_message="expected say, chatter, reach, open, accepted, settle or restart",
    ),
]

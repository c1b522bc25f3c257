"""Cases of the lanes eval: what is said in a room, and what must come of it. Source: LOOP-8."""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, cast

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

FOLDER: Final = Path(__file__).with_name("lanes")
"""Where the cases are that come with the project."""

Person = Literal["Ann", "Bob"]
State = Literal["replied", "absorbed", "silent", "failed"]
Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class CaseError(Exception):
    """A case cannot be used.

    Attributes:
        file: The file's name.
        field: Where in it, such as ``play[2].by``; empty for the file as a whole.
    """

    def __init__(self, file: str, field: str, reason: str) -> None:
        super().__init__(f"{file}: {f'{field}: ' if field else ''}{reason}")
        self.file = file
        self.field = field


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Say(_Table):
    """Somebody writes. With a label it is a delivery whose end is looked at; without one it is talk between people."""

    say: Words
    by: Person
    label: Label | None = None
    picture: Literal["red", "green", "blue"] | None = None


class Chatter(_Table):
    """Ann and Bob write so many messages to one another, all of them "by the river"; those he reads are waited for."""

    chatter: Annotated[int, Field(ge=1, le=50)]


class Reach(_Table):
    """Wait until the scripted model stands at a gate; with a real model, some seconds from the last message on."""

    reach: Label
    otherwise_s: Annotated[float, Field(ge=0, le=60)] = 2.0


class Open(_Table):
    """Let the scripted model pass a gate; nothing with a real one."""

    open: Label


class Accepted(_Table):
    """Wait until the captain has these messages on disk."""

    accepted: Annotated[list[Label], Field(min_length=1)]


class Settle(_Table):
    """Wait until these messages have ended."""

    settle: Annotated[list[Label], Field(min_length=1)]


class Restart(_Table):
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


class ToolCall(_Table):
    """A tool that the scripted model calls."""

    tool: Words
    arguments: dict[str, str] = {}


class Rule(_Table):
    """How the scripted model answers a request that fits; where no rule does, it names everything it has heard.

    Attributes:
        last: Part of the newest user message.
        anywhere: Part of any message.
        gate: Where it stands before it answers.
        times: How many requests it answers.
    """

    last: Words | None = None
    anywhere: Words | None = None
    gate: Label | None = None
    say: Words | None = None
    call: ToolCall | None = None
    silence: Literal[True] | None = None
    times: Annotated[int, Field(ge=1, le=20)] = 8

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        if sum(each is not None for each in (self.say, self.call, self.silence)) != 1:
            raise ValueError("expected exactly one of say, call and silence")
        return self


class Count(_Table):
    """From so many to so many."""

    least: Annotated[int, Field(ge=0)]
    most: Annotated[int, Field(ge=0)]


class Expect(_Table):
    """What code judges.

    Attributes:
        replies: How many replies there may be, updates not counted.
        contains: Words that stand in what was replied, in all replies together; capitals do not count.
        lacks: Words that do not.
        says: Words that stand in the very reply that answers a message.
        silence: Nothing at all is posted.
        replied_to: The messages that may carry a reply.
        ends: The ends that a message may have; every other labelled message only must not fail.
        absorbed: Whose run answered a message.
        tool: A tool that is used.
    """

    replies: Count | None = None
    contains: list[Words] = []
    lacks: list[Words] = []
    says: dict[Label, list[Words]] = {}
    silence: bool = False
    replied_to: list[Label] | None = None
    ends: dict[Label, list[State]] = {}
    absorbed: dict[Label, Label] = {}
    tool: Words | None = None


class Judged(_Table):
    """What a model judges.

    Attributes:
        rubric: What is asked of it.
        scripted: On the scripted provider the judge passes what contains these words.
    """

    rubric: Words
    scripted: Words


class Case(_Table):
    """One case.

    Attributes:
        title: What the table calls it.
        asks: The question behind it.
        play: What happens, in order; at its end everything is waited for.
        script: How the scripted model answers; the first rule that fits.
    """

    title: Words
    asks: Words
    play: Annotated[list[Step], Field(min_length=1)]
    script: list[Rule] = []
    expect: Expect
    judge: Judged | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its messages, in order."""
        return tuple(step.label for step in self.play if isinstance(step, Say) and step.label is not None)

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        said: set[str] = set()
        for step in self.play:
            match step:
                case Say(label=str(label)):
                    if label in said:
                        raise ValueError(f"two messages have the label {label}")
                    said.add(label)
                case Accepted(accepted=names) | Settle(settle=names):
                    _refuse(set(names) - said, "message has been said with the label")
                case _:
                    pass
        asked = self.expect
        named = {*asked.ends, *asked.says, *asked.absorbed, *asked.absorbed.values(), *(asked.replied_to or ())}
        _refuse(named - said, "message has the label")
        gates = {rule.gate for rule in self.script}
        _refuse({step.reach for step in self.play if isinstance(step, Reach)} - gates, "rule has the gate")
        _refuse({step.open for step in self.play if isinstance(step, Open)} - gates, "rule has the gate")
        return self


class Loaded(BaseModel):
    """A case with its name and the hash of its file: a changed case is another one."""

    model_config = ConfigDict(frozen=True)

    name: str
    hash: str
    case: Case


def load(path: Path) -> Loaded:
    """Read a case.

    Raises:
        CaseError: The file cannot be read, or does not say a case.
    """
    try:
        content = path.read_bytes()
        found: object = yaml.safe_load(content)
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(path.name, "", f"cannot be read ({type(error).__name__})") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise CaseError(path.name, f"line {mark.line + 1}" if mark else "", "is no YAML") from error
    try:
        case = Case.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise CaseError(path.name, _place(first["loc"]), first["msg"].removeprefix("Value error, ")) from error
    return Loaded(name=path.stem, hash=hashlib.sha256(content).hexdigest()[:16], case=case)


def load_all(folder: Path = FOLDER, only: tuple[str, ...] = ()) -> tuple[Loaded, ...]:
    """The cases of a folder by name, or only some of them.

    Raises:
        CaseError: One cannot be used, or is not there.
    """
    paths = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if missing := [name for name in only if name not in paths]:
        raise CaseError(f"{missing[0]}.yaml", "", f"is not there; there are {', '.join(paths) or 'no cases'}")
    if not paths:
        raise CaseError(str(folder), "", "holds no cases (*.yaml)")
    return tuple(load(path) for name, path in paths.items() if not only or name in only)


def _refuse(names: set[str], what: str) -> None:
    if names:
        raise ValueError(f"no {what} {min(names)}")


def _place(where: tuple[int | str, ...]) -> str:
    found, after_index = "", False
    for each in where:
        if isinstance(each, int):
            found += f"[{each}]"
        elif not after_index or not found.startswith("play["):
            # Behind a step's index stands the kind of step, which is no field.
            found += f".{each}" if found else each
        after_index = isinstance(each, int)
    return found

"""Cases of the lanes eval: what is said in a room, and what must come of it. Source: LOOP-8."""

import hashlib
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evals.play import Accepted, Label, Open, Reach, Say, Settle, Step, Table, Words

FOLDER: Final = Path(__file__).with_name("lanes")
"""Where the cases are that come with the project."""

State = Literal["replied", "absorbed", "silent", "failed"]


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


class ToolCall(Table):
    """A tool that the scripted model calls."""

    tool: Words
    arguments: dict[str, str] = Field(default_factory=dict[str, str])


class Rule(Table):
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


class Count(Table):
    """From so many to so many."""

    least: Annotated[int, Field(ge=0)]
    most: Annotated[int, Field(ge=0)]


class Expect(Table):
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
    contains: list[Words] = Field(default_factory=list[Words])
    lacks: list[Words] = Field(default_factory=list[Words])
    says: dict[Label, list[Words]] = Field(default_factory=dict[Label, list[Words]])
    silence: bool = False
    replied_to: list[Label] | None = None
    ends: dict[Label, list[State]] = Field(default_factory=dict[Label, list[State]])
    absorbed: dict[Label, Label] = Field(default_factory=dict[Label, Label])
    tool: Words | None = None


class Judged(Table):
    """What a model judges.

    Attributes:
        rubric: What is asked of it.
        scripted: On the scripted provider the judge passes what contains these words.
    """

    rubric: Words
    scripted: Words


class Case(Table):
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
    script: list[Rule] = Field(default_factory=list[Rule])
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

"""A diagram as structure, and the text that the drawing library reads; the model writes neither code nor markup.

Whatever the model names becomes a numbered name of ours, and every character of a label that is no letter, digit or
blank becomes a numbered entity, so that no label can say anything to the library. Source: ART-2.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, model_validator

from clankie_settings import bounds


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Name = Annotated[str, Field(min_length=1, max_length=bounds.DIAGRAM_NAME_CHARS)]
Label = Annotated[str, Field(min_length=1, max_length=bounds.DIAGRAM_LABEL_CHARS)]


class Step(_Shape):
    """A box of a flow: what stands in it, and how it looks."""

    id: Name
    label: Label
    shape: Literal["box", "rounded", "decision", "store"] = "box"


class Link(_Shape):
    """An arrow of a flow from one step to another, by their ids."""

    source: Name
    target: Name
    label: Label | None = None
    dashed: bool = False


class Flow(_Shape):
    """Steps and what leads from one to the next."""

    kind: Literal["flow"]
    direction: Literal["down", "right"] = "down"
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=bounds.DIAGRAM_ITEMS)]
    links: Annotated[tuple[Link, ...], Field(max_length=bounds.DIAGRAM_LINKS)] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _known([each.id for each in self.steps], (end for each in self.links for end in (each.source, each.target)))
        return self


class Party(_Shape):
    """Somebody, or something, that takes part in a sequence."""

    id: Name
    label: Label


class Message(_Shape):
    """One arrow of a sequence, in the order of time; an answer is dashed."""

    source: Name
    target: Name
    text: Label
    answer: bool = False


class Sequence(_Shape):
    """Who says what to whom, one after another."""

    kind: Literal["sequence"]
    parties: Annotated[tuple[Party, ...], Field(min_length=1, max_length=bounds.DIAGRAM_PARTIES)]
    messages: Annotated[tuple[Message, ...], Field(min_length=1, max_length=bounds.DIAGRAM_LINKS)]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _known(
            [each.id for each in self.parties], (end for each in self.messages for end in (each.source, each.target))
        )
        return self


class Column(_Shape):
    """A field of an entity: its name, its type, and whether it is a key."""

    name: Label
    type: Name
    key: Literal["none", "primary", "foreign"] = "none"


class Entity(_Shape):
    """A kind of thing, with what is known of each."""

    id: Name
    label: Label
    columns: Annotated[tuple[Column, ...], Field(max_length=bounds.DIAGRAM_ITEMS)] = ()


Count = Literal["one", "zero_or_one", "many", "zero_or_many"]


class Relation(_Shape):
    """How many of one entity belong to how many of another."""

    source: Name
    target: Name
    label: Label
    source_count: Count = "one"
    target_count: Count = "zero_or_many"


class Entities(_Shape):
    """Kinds of things and how they belong together."""

    kind: Literal["entities"]
    entities: Annotated[tuple[Entity, ...], Field(min_length=1, max_length=bounds.DIAGRAM_ITEMS)]
    relations: Annotated[tuple[Relation, ...], Field(max_length=bounds.DIAGRAM_LINKS)] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _known([each.id for each in self.entities], (end for one in self.relations for end in (one.source, one.target)))
        return self


Diagram = Flow | Sequence | Entities
"""What can be drawn."""

_BOXES: Final = {"box": '["{}"]', "rounded": '("{}")', "decision": '{{"{}"}}', "store": '[("{}")]'}
_LEFT: Final[Mapping[Count, str]] = {"one": "||", "zero_or_one": "|o", "many": "}|", "zero_or_many": "}o"}
_RIGHT: Final[Mapping[Count, str]] = {"one": "||", "zero_or_one": "o|", "many": "|{", "zero_or_many": "o{"}
_KEYS: Final = {"none": "", "primary": " PK", "foreign": " FK"}


def source(diagram: Diagram) -> str:
    """The diagram in the drawing library's own language."""
    match diagram:
        case Flow():
            lines = _flow(diagram)
        case Sequence():
            lines = _sequence(diagram)
        case Entities():
            lines = _entities(diagram)
        case _:  # pragma: no cover
            assert_never(diagram)
    return "\n".join(lines) + "\n"


def _flow(flow: Flow) -> list[str]:
    names = _numbered(each.id for each in flow.steps)
    lines = ["flowchart TD" if flow.direction == "down" else "flowchart LR"]
    lines += [names[each.id] + _BOXES[each.shape].format(_inert(each.label)) for each in flow.steps]
    for each in flow.links:
        said = f'|"{_inert(each.label)}"|' if each.label is not None else ""
        lines.append(f"{names[each.source]} {'-.->' if each.dashed else '-->'}{said} {names[each.target]}")
    return lines


def _sequence(sequence: Sequence) -> list[str]:
    names = _numbered(each.id for each in sequence.parties)
    lines = ["sequenceDiagram"]
    lines += [f"participant {names[each.id]} as {_inert(each.label)}" for each in sequence.parties]
    for each in sequence.messages:
        arrow = "-->>" if each.answer else "->>"
        lines.append(f"{names[each.source]}{arrow}{names[each.target]}: {_inert(each.text)}")
    return lines


def _entities(entities: Entities) -> list[str]:
    names = _numbered(each.id for each in entities.entities)
    lines = ["erDiagram"]
    for each in entities.entities:
        lines.append(f'{names[each.id]}["{_inert(each.label)}"] {{')
        lines += [f"{_word(one.type)} {_word(one.name)}{_KEYS[one.key]}" for one in each.columns]
        lines.append("}")
    for one in entities.relations:
        ends = f"{_LEFT[one.source_count]}--{_RIGHT[one.target_count]}"
        lines.append(f'{names[one.source]} {ends} {names[one.target]} : "{_inert(one.label)}"')
    return lines


def _known(ids: list[str], ends: Iterable[str]) -> None:
    if len(set(ids)) != len(ids):
        raise ValueError("an id stands twice")
    unknown = next((end for end in ends if end not in ids), None)
    if unknown is not None:
        raise ValueError(f"{unknown[:40]!r} is the id of nothing here")


def _numbered(ids: Iterable[str]) -> dict[str, str]:
    return {each: f"n{number}" for number, each in enumerate(ids)}


def _inert(text: str) -> str:
    """Text that stands for itself whatever it holds; a blank label would be no label."""
    # A picture has no place for what cannot be printed, and its format none for some of it.
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split()) or "-"
    return "".join(char if char.isalnum() or char == " " else f"#{ord(char)};" for char in flat)


def _word(text: str) -> str:
    """One word of letters, digits and underscores that begins with a letter, as names of columns must be."""
    word = "".join(char if char.isascii() and char.isalnum() else "_" for char in text)
    return word if word[0].isalpha() else f"c{word}"

"""Frames of the wire that were agreed upon are read and written today as they were then."""

import inspect
import json
import pkgutil
from importlib import import_module

import pytest

from clankie_settings import wire
from clankie_settings.wire.action import ACTIONS, read_action
from clankie_settings.wire.result import ANSWER
from clankie_settings.wire.scalars import WireModel
from tests.contracts.snapshots import FRAMES, frame, shapes
from tests.settings.wire.samples import Json

pytestmark = pytest.mark.requirement("WIRE-8")

SHAPES = [*shapes()]
NAMES = [name for name, _, _ in SHAPES]


def kept(name: str) -> str:
    return (FRAMES / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "kind", "document"), SHAPES, ids=NAMES)
def test_what_is_written_today_is_the_frame_that_was_agreed_upon(
    name: str, kind: type[WireModel], document: Json
) -> None:
    assert frame(kind, document) == kept(name)


@pytest.mark.parametrize(("name", "kind", "document"), SHAPES, ids=NAMES)
def test_a_frame_that_was_agreed_upon_is_read_and_nothing_of_it_is_lost(
    name: str, kind: type[WireModel], document: Json
) -> None:
    read = kind.model_validate_json(kept(name))
    assert json.loads(read.model_dump_json(exclude_none=True)) == json.loads(kept(name))


@pytest.mark.parametrize("name", ["replied", "absorbed", "silent", "failed", "pending"])
def test_an_answer_is_told_by_its_state(name: str) -> None:
    assert type(ANSWER.validate_json(kept(name))).__name__.lower() == name


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_told_by_its_name(name: str) -> None:
    assert read_action(name, kept(name)).name == name


def test_every_shape_that_travels_by_itself_has_a_frame_and_each_frame_a_shape() -> None:
    assert sorted(each.stem for each in FRAMES.iterdir()) == sorted(NAMES)
    within = {kind for _, kind, _ in SHAPES} | set(parts(*(kind for _, kind, _ in SHAPES)))
    known = {
        kind
        for module in pkgutil.iter_modules(wire.__path__, f"{wire.__name__}.")
        for _, kind in inspect.getmembers(import_module(module.name), inspect.isclass)
        if issubclass(kind, WireModel) and not kind.__name__.startswith("_") and kind is not WireModel
    }
    assert known == within, "add a document of it to tests/contracts/snapshots.py; python -m tests.contracts.snapshots"


def parts(*kinds: type[WireModel]) -> list[type[WireModel]]:
    """The shapes that stand inside these."""
    named = {each.__name__: each for each in every(WireModel)}
    found: set[str] = set()
    for kind in kinds:
        found |= set(kind.model_json_schema().get("$defs", {}))
    return [named[name] for name in found if name in named]


def every(kind: type[WireModel]) -> list[type[WireModel]]:
    return [kind, *(under for each in kind.__subclasses__() for under in every(each))]

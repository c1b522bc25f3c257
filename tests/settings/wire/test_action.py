"""Actions are read by the name that the stream gives them."""

import json
from typing import get_args

import pytest
from pydantic import ValidationError

from clankie_settings.wire.action import (
    ACTIONS,
    Action,
    StoredAction,
    TextUpdate,
    UnknownActionError,
    read_action,
)
from tests.settings.wire.samples import SAMPLES
from tests.settings.wire.verdicts import refusal

pytestmark = pytest.mark.requirement("WIRE-1")
DOCUMENTS = dict(SAMPLES)


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_event_is_read_as_the_action_of_its_name(name: str) -> None:
    action = read_action(name, json.dumps(DOCUMENTS[ACTIONS[name]]))
    assert type(action) is ACTIONS[name]
    assert action.name == name
    assert read_action(name, action.model_dump_json(exclude_none=True)) == action


def test_an_unknown_action_is_told_from_a_broken_one() -> None:
    with pytest.raises(UnknownActionError):
        read_action("dance", "{}")
    with pytest.raises(ValidationError):
        read_action("typing", "{}")


def test_every_action_has_a_name_and_the_stored_ones_an_id() -> None:
    assert set(get_args(Action)) == set(ACTIONS.values())
    assert {each for each in ACTIONS.values() if each.stored} == set(get_args(StoredAction))
    assert all(("action_id" in each.model_fields) == each.stored for each in ACTIONS.values())


@pytest.mark.parametrize("text", ["", " \n", "a" * 601])
def test_an_update_has_one_to_six_hundred_characters(text: str) -> None:
    assert refusal(TextUpdate, {"action_id": "a", "delivery_id": "b", "text": text})[0] == "text"
    assert TextUpdate(action_id="a", delivery_id="b", text="a" * 600)


@pytest.mark.parametrize("categories", [{"Web": 1}, {"a" * 33: 1}, {"web": 0}, {"web": True}])
def test_a_card_shows_categories_and_counts_alone(categories: dict[str, int]) -> None:
    document = DOCUMENTS[ACTIONS["tool_activity"]] | {"categories": categories}
    assert refusal(ACTIONS["tool_activity"], document)[0].startswith("categories.")

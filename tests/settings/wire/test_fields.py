"""Whatever does not fit a shape is refused, and the refusal names the field and nothing that was in it."""

from typing import Any

import pytest
from pydantic import ValidationError

from clankie_settings import wire
from clankie_settings.wire import action, attachment, lease, problem, receipt, result, trigger
from clankie_settings.wire.problem import refused_field
from clankie_settings.wire.result import ANSWER, RESULT
from clankie_settings.wire.scalars import WireModel
from clankie_settings.wire.trigger import Trigger
from tests.settings.wire.samples import SAMPLES, TRIGGER, Json, Place, changed, dotted, places
from tests.settings.wire.verdicts import read, refusal

pytestmark = pytest.mark.requirement("WIRE-1")

FREE_KEYS = ("categories",)  # a table whose keys are no fields
CASES = [(kind, document, at, value) for kind, document in SAMPLES for at, value in places(document)]


def _named(cases: list[tuple[type[WireModel], Json, Place, Any]]) -> Any:
    parameters = [pytest.param(*each, id=f"{each[0].__name__}-{dotted(each[2]) or 'whole'}") for each in cases]
    return pytest.mark.parametrize(("kind", "document", "at", "value"), parameters)


objects = _named([each for each in CASES if isinstance(each[3], dict) and each[2][-1:] != FREE_KEYS])
fields = _named([each for each in CASES if each[2]])
texts = _named([each for each in CASES if isinstance(each[3], str)])


@pytest.mark.parametrize(("kind", "document"), [pytest.param(*each, id=each[0].__name__) for each in SAMPLES])
def test_a_full_document_is_read_and_written_alike(kind: type[WireModel], document: Json) -> None:
    once = read(kind, document)
    assert once == read(kind, once.model_dump(mode="json"))
    assert once.model_dump(mode="json", exclude_none=True, exclude_unset=True) == document


def test_every_shape_of_the_wire_has_a_sample() -> None:
    modules = (action, attachment, lease, problem, receipt, result, trigger)
    shapes = {
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, WireModel) and each is not WireModel
    }
    sampled = {kind for kind, _ in SAMPLES}
    inside = {
        trigger.Room,
        trigger.Actor,
        trigger.ContextMessage,
        trigger.ContextVisual,
        attachment.Attachment,
        attachment.AttachmentsOmitted,
        attachment.Artifact,
        receipt.Owed,
        receipt.KnownRoom,
    }
    named = {each for each in shapes if not each.__name__.startswith("_")}
    assert named - sampled - inside == {problem.Problem}
    assert wire.__doc__


@objects
def test_an_unknown_key_is_refused_by_name(kind: type[WireModel], document: Json, at: Place, value: Any) -> None:
    strange = changed({"it": document}, ("it", *at), value | {"unknown": "CANARY"})["it"]
    assert refusal(kind, strange)[0] == dotted((*at, "unknown"))


@fields
def test_a_wrong_type_is_refused_by_name(kind: type[WireModel], document: Json, at: Place, value: Any) -> None:
    wrong: Any = "CANARY" if not isinstance(value, str) else ["CANARY"]
    assert refusal(kind, changed(document, at, wrong))[0] == dotted(at)


@texts
def test_an_over_long_text_is_refused_by_name(kind: type[WireModel], document: Json, at: Place, value: str) -> None:
    assert refusal(kind, changed(document, at, value + "CANARY" * 3_000))[0] == dotted(at)


@texts
def test_a_text_that_no_store_takes_is_refused_by_name(
    kind: type[WireModel], document: Json, at: Place, value: str
) -> None:
    assert refusal(kind, changed(document, at, value + "\x00"))[0] == dotted(at)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind.__name__) for kind, _ in SAMPLES if kind is not receipt.KnownRooms]
)
def test_a_document_that_lacks_everything_is_refused_by_its_first_field(kind: type[WireModel]) -> None:
    assert refusal(kind, {})[0] in kind.model_fields


@pytest.mark.parametrize("document", ["CANARY", 5, None, [TRIGGER]])
def test_what_is_no_object_is_refused_as_a_whole(document: Any) -> None:
    assert refusal(Trigger, document)[0] == "(whole document)"


def test_what_is_no_json_is_refused_as_a_whole() -> None:
    with pytest.raises(ValidationError) as caught:
        Trigger.model_validate_json('{"body": CANARY')
    assert refused_field(caught.value)[0] == "(whole document)"
    assert "CANARY" not in f"{refused_field(caught.value)} {caught.value}"


@pytest.mark.parametrize("reader", [RESULT, ANSWER])
@pytest.mark.parametrize("document", ['{"state": "CANARY"}', '{"run_id": "CANARY"}', '{"state": 5}'])
def test_an_unknown_state_is_refused_by_name_and_not_repeated(reader: Any, document: str) -> None:
    with pytest.raises(ValidationError) as caught:
        reader.validate_json(document)
    assert refused_field(caught.value) == ("state", "is none of the known ones")


def test_a_result_inside_a_list_is_named_by_its_place() -> None:
    owed = dict(SAMPLES)[receipt.OwedList]["turns"][0]
    assert refusal(receipt.OwedList, {"turns": [owed | {"result": {"state": "?"}}]})[0] == "turns.0.result.state"


def test_the_name_of_an_unknown_key_cannot_flood_the_answer() -> None:
    field, reason = refusal(Trigger, TRIGGER | {"k" * 100_000: 1})
    assert field == "k" * 128
    assert len(reason) < 200


@pytest.mark.parametrize(("kind", "document"), [pytest.param(*each, id=each[0].__name__) for each in SAMPLES])
def test_a_shape_cannot_be_changed_after_it_was_read(kind: type[WireModel], document: Json) -> None:
    shape = read(kind, document)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(shape, next(iter(kind.model_fields)), "x")

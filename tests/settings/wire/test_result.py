"""Exactly one of four results, and the receipts that follow."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import Receipt
from clankie_settings.wire.result import ANSWER, RESULT, Absorbed, Failed, Pending, Replied, Silent
from tests.settings.wire.samples import ARTIFACT, SAMPLES, Json, changed, without
from tests.settings.wire.verdicts import read, refusal

DOCUMENTS = dict(SAMPLES)
RESULTS = (Replied, Absorbed, Silent, Failed)
RECEIPT = DOCUMENTS[Receipt]

ids = st.text("abcXYZ019._:-", min_size=1, max_size=64)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=300)
any_result = st.one_of(
    st.builds(Replied, delivery_id=ids, turn_id=ids, run_id=ids, owed=st.booleans(), text=texts),
    st.builds(Absorbed, delivery_id=ids, turn_id=ids, run_id=ids, owed=st.booleans(), answered_by=ids),
    st.builds(Silent, delivery_id=ids, turn_id=ids, run_id=ids, owed=st.booleans()),
    st.builds(
        Failed,
        delivery_id=ids,
        turn_id=ids,
        owed=st.booleans(),
        code=st.sampled_from(FailureCode),
        notice=st.booleans(),
    ),
)


@pytest.mark.requirement("WIRE-4")
@given(any_result)
def test_any_result_survives_the_wire_as_what_it_was(result: Replied | Absorbed | Silent | Failed) -> None:
    data = result.model_dump_json(exclude_none=True)
    assert RESULT.validate_json(data) == result
    assert type(ANSWER.validate_json(data)) is type(result)


@pytest.mark.requirement("WIRE-4")
@pytest.mark.parametrize("kind", RESULTS)
def test_the_state_alone_says_which_result_it_is(kind: type[Replied | Absorbed | Silent | Failed]) -> None:
    assert type(RESULT.validate_json(json.dumps(DOCUMENTS[kind]))) is kind


@pytest.mark.parametrize("state", ["queued", "running"])
def test_an_answer_may_also_be_pending_but_a_result_never_is(state: str) -> None:
    data = json.dumps({"state": state, "delivery_id": "400"})
    assert isinstance(ANSWER.validate_json(data), Pending)
    with pytest.raises(ValueError, match="tag"):
        RESULT.validate_json(data)


@pytest.mark.requirement("WIRE-4")
@pytest.mark.parametrize(("kind", "field"), [(Absorbed, "answered_by"), (Failed, "code"), (Replied, "text")])
def test_a_result_without_what_it_is_for_is_refused(
    kind: type[Replied | Absorbed | Silent | Failed], field: str
) -> None:
    assert refusal(kind, without(DOCUMENTS[kind], field))[0] == field


@pytest.mark.requirement("WIRE-4")
def test_a_code_outside_the_list_is_refused() -> None:
    assert refusal(Failed, DOCUMENTS[Failed] | {"code": "CANARY"})[0] == "code"


@pytest.mark.requirement("WIRE-4")
def test_the_codes_are_those_of_the_documentation() -> None:
    for code in FailureCode:
        assert read(Failed, DOCUMENTS[Failed] | {"code": code.value})


@pytest.mark.parametrize(
    "ref",
    [
        f"sha256:{'0' * 64}:../a.png",
        f"sha256:{'0' * 64}:a/../b.png",
        f"sha256:{'0' * 64}:/a.png",
        f"sha256:{'0' * 64}:plots/.a",
        f"sha256:{'0' * 64}:plots/a/b.png",
        f"sha256:{'0' * 64}:plots\\a.png",
        f"sha256:{'0' * 63}:plots/a.png",
        f"sha256:{'F' * 64}:plots/a.png",
        f"sha256:{'0' * 64}:plots/a.png\n",
    ],
)
def test_an_artifact_stays_under_its_folder(ref: str) -> None:
    assert refusal(Replied, changed(DOCUMENTS[Replied], ("artifacts", 0, "ref"), ref))[0] == "artifacts.0.ref"


def test_a_reply_carries_four_artifacts_at_most() -> None:
    assert refusal(Replied, DOCUMENTS[Replied] | {"artifacts": [ARTIFACT] * 5})[0] == "artifacts"


@pytest.mark.requirement("WIRE-1")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"part": 3}, "part"),
        ({"part": 0}, "part"),
        ({"of": 6}, "of"),
        ({"code": "no_permission"}, "message_id"),
        ({"message_id": None}, "message_id"),
        ({"message_id": None, "code": "Not A Code"}, "code"),
    ],
)
def test_a_receipt_that_contradicts_itself_is_refused_by_name(change: Json, field: str) -> None:
    assert refusal(Receipt, RECEIPT | change)[0] == field


def test_a_receipt_may_say_that_the_part_will_never_come() -> None:
    assert read(Receipt, without(RECEIPT, "message_id") | {"code": "no_permission"})

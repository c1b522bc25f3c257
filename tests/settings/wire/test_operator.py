"""The operator's shapes."""

from typing import Any

import pytest
from pydantic import ValidationError

from clankie_settings import bounds
from clankie_settings.wire.operator import OperatorMessage, RunReceipt

pytestmark = pytest.mark.requirement("WIRE-1", "OPS-1")

SAID: dict[str, Any] = {"text": "hello", "client_id": "a"}


@pytest.mark.parametrize("delivery", ["steer", "queue", None])
def test_a_message_says_how_it_is_delivered_or_leaves_it_open(delivery: str | None) -> None:
    more = {} if delivery is None else {"delivery": delivery}
    assert OperatorMessage.model_validate(SAID | more).delivery == delivery


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", " "),
        ("text", "x" * (bounds.BODY_CHARS + 1)),
        ("text", "half \ud83d"),
        ("client_id", ""),
        ("client_id", "x" * (bounds.ID_CHARS + 1)),
        ("client_id", "a/b"),
        ("delivery", "auto"),
    ],
)
def test_a_message_is_bounded_in_every_field(field: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        OperatorMessage.model_validate(SAID | {field: value})
    assert refused.value.errors()[0]["loc"] == (field,)


def test_a_receipt_has_one_of_the_known_states() -> None:
    with pytest.raises(ValidationError):
        RunReceipt.model_validate({"run_receipt": "c-1", "state": "waiting"})

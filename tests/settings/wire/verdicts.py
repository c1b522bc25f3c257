"""What a shape says about a document."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from clankie_settings.wire.problem import refused_field
from clankie_settings.wire.scalars import WireModel


def read(kind: type[WireModel], document: Any) -> WireModel:
    """The document read as it comes from the wire."""
    return kind.model_validate_json(json.dumps(document))


def refusal(kind: type[WireModel], document: Any) -> tuple[str, str]:
    """The refused field and the reason; fails when the document is accepted, or when a canary is repeated."""
    with pytest.raises(ValidationError) as caught:
        read(kind, document)
    field, reason = refused_field(caught.value)
    assert "CANARY" not in f"{field} {reason} {caught.value}"
    return field, reason

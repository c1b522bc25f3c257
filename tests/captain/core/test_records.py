"""What the core takes and gives can neither be changed nor grow."""

import dataclasses
import importlib
import pkgutil

import pytest

from clankie_captain import core

RECORDS = sorted(
    {
        kind
        for module in pkgutil.iter_modules(core.__path__, f"{core.__name__}.")
        for kind in vars(importlib.import_module(module.name)).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__.startswith(core.__name__)
    },
    key=lambda kind: kind.__qualname__,
)


def test_records_are_found() -> None:
    assert {"LiveRun", "Turn", "Settlement", "Watch", "Order"} <= {each.__name__ for each in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_of_the_core_is_frozen_and_slotted(record: type) -> None:
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(record)

"""The bridge's crash points: where a test may kill it. Source: DUR-2, OUT-1."""

from typing import Final

HANDING_OVER: Final = "bridge.handing_over"
"""A message is about to be handed over."""

HANDED_OVER: Final = "bridge.handed_over"
"""The captain has it on disk, and its answer is not read yet."""

STORED: Final = "bridge.stored"
"""Discord has stored a message, and its answer is not read yet."""

PART_POSTED: Final = "bridge.part_posted"
"""A part of a reply is in the room, and its receipt is not on its way."""

PART_RECEIPTED: Final = "bridge.part_receipted"
"""The captain knows of a part of a reply, and the next one is not on its way."""

UPDATE_POSTED: Final = "bridge.update_posted"
"""An update is in the room, and the captain does not know it."""

CARD_SHOWN: Final = "bridge.card_shown"
"""A card is in the room."""

POINTS: Final = (
    HANDING_OVER, HANDED_OVER, STORED, PART_POSTED, PART_RECEIPTED, UPDATE_POSTED, CARD_SHOWN,
)  # fmt: skip
"""All of them."""

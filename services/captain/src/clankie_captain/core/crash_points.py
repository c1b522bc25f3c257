"""The captain's crash points: where a test may kill it. Source: DUR-2."""

from typing import Final

ADMITTED: Final = "captain.admitted"
"""A new delivery is on disk, and nothing works on it yet."""

FIRST_BYTE: Final = "captain.first_byte"
"""The request is on disk and sent, and the model's first byte is here."""

TOOL_STARTED: Final = "captain.tool_started"
"""The response that calls a tool is on disk, and the tool begins."""

UPDATE_STORED: Final = "captain.update_stored"
"""A tool has its action on disk, and no receipt of it."""

UPDATE_RECEIPTED: Final = "captain.update_receipted"
"""A tool's action is done, and the tool does not know it yet."""

TOOL_ENDED: Final = "captain.tool_ended"
"""A tool has ended, and its result is not on disk."""

CALL_FINISHED: Final = "captain.call_finished"
"""A tool's result is on disk, and no request carries it yet."""

ANSWERED: Final = "captain.answered"
"""The model's last response is on disk, and the run is not settled."""

SETTLING: Final = "captain.settling"
"""Everything that a settlement writes is written, and not committed."""

SETTLED: Final = "captain.settled"
"""The settlement is committed, and nobody was told."""

TELLING: Final = "captain.telling"
"""A result is about to be told to whoever asked."""

TELLING_RECEIVED: Final = "captain.telling_received"
"""That a receipt is kept is about to be told."""

FORKED: Final = "captain.forked"
"""A child is on disk with its call's result, and nothing of it is begun."""

POINTS: Final = (
    ADMITTED, FIRST_BYTE, TOOL_STARTED, UPDATE_STORED, UPDATE_RECEIPTED, TOOL_ENDED, CALL_FINISHED, ANSWERED,
    SETTLING, SETTLED, TELLING, TELLING_RECEIVED, FORKED,
)  # fmt: skip
"""All of them, in the order in which a turn comes by."""

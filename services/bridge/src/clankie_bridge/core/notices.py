"""What the room is told where somebody called him and no answer comes. Source: ROOM-8."""

from typing import Final

from clankie_settings.wire.failure import FailureCode

NOTICES: Final[dict[FailureCode, str]] = {
    FailureCode.CAPTAIN_TURN_STALLED: "I got stuck on this one and gave up. Please ask me again.",
    FailureCode.CAPTAIN_USAGE_LIMIT_REACHED: "My model's usage limit is reached, so I cannot answer just now.",
    FailureCode.CAPTAIN_MODEL_FAILED: "My model failed, so I have no answer to this. Please try again in a while.",
    FailureCode.CAPTAIN_MODEL_REFUSED: "My model declined to answer this one.",
    FailureCode.CAPTAIN_CONTEXT_OVERFLOW: "This was more than I can read at once. A shorter message may work.",
    FailureCode.CAPTAIN_RESPONSE_MISSING: "I came out of this without an answer. Please ask me again.",
    FailureCode.CAPTAIN_INTERRUPTED: "I was interrupted before I could answer. Please ask me again.",
    FailureCode.CAPTAIN_CANCELLED: "I was stopped before I could answer.",
    FailureCode.CAPTAIN_INTERNAL_ERROR: "Something went wrong on my side. Please try again in a while.",
    FailureCode.ROOM_LOOP_GRANT_CHANGED: "What you may ask of me here has just changed. Please ask me again.",
    FailureCode.LANE_QUEUE_FULL: "Too much is waiting for me here already. Please ask me again later.",
    FailureCode.NOT_PERMITTED: "I am not permitted to do that here.",
    FailureCode.WITHDRAWN: "That message was taken back, so I leave it be.",
    FailureCode.EXPIRED: "I got to this too late to answer it. Please ask me again.",
    FailureCode.BUDGET_REACHED: "That was a lot for now: I have reached my limit here and answer again later.",
}
"""One short plain sentence or two for each failure; nothing of the provider's, and nothing that anybody wrote."""


def notice(code: FailureCode) -> str:
    """The words of a failure."""
    return NOTICES[code]

"""Every way in which a turn can fail."""

from enum import StrEnum


class FailureCode(StrEnum):
    """The cause of a failed turn, stable on the wire and in every record. Source: WIRE-4, FAIL-4."""

    CAPTAIN_TURN_STALLED = "captain_turn_stalled"
    CAPTAIN_USAGE_LIMIT_REACHED = "captain_usage_limit_reached"
    CAPTAIN_MODEL_FAILED = "captain_model_failed"
    CAPTAIN_MODEL_REFUSED = "captain_model_refused"
    CAPTAIN_CONTEXT_OVERFLOW = "captain_context_overflow"
    CAPTAIN_RESPONSE_MISSING = "captain_response_missing"
    CAPTAIN_INTERRUPTED = "captain_interrupted"
    CAPTAIN_CANCELLED = "captain_cancelled"
    CAPTAIN_INTERNAL_ERROR = "captain_internal_error"
    ROOM_LOOP_GRANT_CHANGED = "room_loop_grant_changed"
    LANE_QUEUE_FULL = "lane_queue_full"
    NOT_PERMITTED = "not_permitted"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    BUDGET_REACHED = "budget_reached"

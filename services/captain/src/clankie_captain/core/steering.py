"""Which steered words a boundary takes. Source: LANE-16."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from clankie_settings import bounds
from clankie_settings.ids import DeliveryId


@dataclass(frozen=True, slots=True)
class Steered:
    """A delivery that waits for a boundary; ``ready`` is false while its pictures are being fetched."""

    delivery: DeliveryId
    ready: bool
    accepted_at: datetime


def takeable(waiting: Sequence[Steered], now: datetime) -> tuple[DeliveryId, ...]:
    """The deliveries that the next request carries, in the order of acceptance.

    One that is not ready holds those behind it, at most 10 s; a clock that went backwards holds nothing longer.
    """

    def free(each: Steered) -> bool:
        waited = now - each.accepted_at
        return each.ready or waited >= bounds.STEER_HOLD or waited.total_seconds() < 0

    return tuple(each.delivery for each in takewhile(free, waiting))

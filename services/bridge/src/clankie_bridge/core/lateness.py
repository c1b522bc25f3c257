"""What is too late: to be posted, and to be answered. Source: OUT-5, ING-9."""

from datetime import datetime, timedelta
from typing import Final

from clankie_settings import bounds

EXPIRED: Final = "expired"
"""Receipt and evidence code of words that came too late for their room. Source: OUT-5."""


def left_to_post(settled_at: datetime | None, now: datetime, *, addressed: bool) -> timedelta:
    """How much longer a reply may be posted; nothing or less where it is too late.

    One that settled just now, or by a clock that is ahead of this one, has all of its time.

    Source: OUT-5.
    """
    longest = bounds.OWED_ADDRESSED if addressed else bounds.OWED_OTHERWISE
    if settled_at is None:
        return longest
    return min(longest - (now - settled_at), longest)


def is_answered_still(sent_at: datetime, now: datetime, *, addressed: bool) -> bool:
    """Whether a message that was missed is handed over, or is only context by now.

    Source: ING-9.
    """
    return now - sent_at <= (bounds.MISSED_ADDRESSED if addressed else bounds.MISSED_OTHERWISE)

"""Discord's ids: milliseconds since 2015 in the upper bits, a counter in the lower ones."""

import base64
from datetime import UTC, datetime, timedelta

from clankie_settings.clock import Clock

DISCORD_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)


def snowflake_time(snowflake: str) -> datetime:
    """The aware UTC instant that a snowflake carries, to the millisecond."""
    return DISCORD_EPOCH + timedelta(milliseconds=int(snowflake) >> 22)


def bot_token(bot_id: str) -> str:
    """The token of a bot on the stage: Discord's form, with nothing secret in it."""
    return base64.b64encode(bot_id.encode()).decode().rstrip("=") + ".stage.loopback"


class Snowflakes:
    """Gives out snowflakes that only ever rise, also within one millisecond."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def new(self) -> str:
        """A snowflake of this instant, larger than every one before it."""
        age = self._clock.now() - DISCORD_EPOCH
        fresh = (age // timedelta(milliseconds=1)) << 22
        self._last = max(fresh, self._last + 1)
        return str(self._last)

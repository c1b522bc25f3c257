"""The memory that makes a repeated send one message: nonces of the last minutes."""

from dataclasses import dataclass, field

from clankie_settings.clock import Clock
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.errors import invalid_form, invalid_value

LONGEST_NONCE = 25
"""Characters. Source: Discord refuses longer ones with 50035."""

KEPT_NONCES = 10_000


def checked_nonce(value: object) -> str | int | None:
    """The nonce of a request, if it has one.

    Raises:
        RefusalError: it is too long, or neither text nor a number.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        raise invalid_value("nonce", value, "string")
    if len(value) > LONGEST_NONCE:
        raise invalid_form("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {LONGEST_NONCE} or fewer in length.")
    return value


@dataclass(slots=True)
class Nonces:
    """Remembers which message a nonce made."""

    clock: Clock
    behaviour: Behaviour
    _made: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict[tuple[str, str], tuple[float, str]])

    def clear(self) -> None:
        """Forget all nonces."""
        self._made.clear()

    def message_of(self, room_id: str, nonce: str | int) -> str | None:
        """The id of the message that this nonce made in this room within the window."""
        made_at, message_id = self._made.get((room_id, str(nonce)), (float("-inf"), ""))
        return message_id if self._now() - made_at <= self.behaviour.nonce_window_s else None

    def remember(self, room_id: str, nonce: str | int, message_id: str) -> None:
        """Note what a nonce made."""
        if len(self._made) >= KEPT_NONCES:
            del self._made[next(iter(self._made))]
        self._made[room_id, str(nonce)] = (self._now(), message_id)

    def _now(self) -> float:
        return self.clock.elapsed().total_seconds()

"""Verbs that break things."""

from typing import Any, cast

from clankie_stage.discord.faults import Fault
from clankie_stage.discord.verbs.parts import Verbs

RECONNECT, INVALID_SESSION = 7, 9

SESSION_ENDED = frozenset({4007, 4009})
"""Close codes after which Discord wants a new session: an invalid sequence number, and a session that timed out."""


class Breaking(Verbs):
    """Faults of requests, ends of connections, and how the stage behaves."""

    def fault(
        self,
        *,
        method: str = "*",
        route: str = "*",
        status: int | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        times: int = 1,
        delay_s: float = 0.0,
        hold: str | None = None,
        after: bool = False,
        kill: bool = False,
    ) -> str:
        """Order a fault for requests to come; see `Fault`. Returns its id, which the recording names."""
        order = Fault(
            self.parts.ids.new("fault"), method, route, status, body, headers or {}, times, delay_s, hold, after, kill
        )
        return self.parts.faults.order(order).id

    def release(self, hold: str) -> None:
        """Let held requests go on."""
        self.parts.faults.release(hold)

    def clear_faults(self) -> None:
        """Drop all faults."""
        self.parts.faults.clear()

    def drop(self) -> int:
        """Cut every gateway connection without a word; sessions can be resumed. Returns how many."""
        connected = self.parts.sessions.connected()
        for session in connected:
            if session.socket is not None:
                session.socket.close(None)
        return len(connected)

    def reconnect(self) -> int:
        """Ask every session to reconnect and resume (op 7). Returns how many."""
        connected = self.parts.sessions.connected()
        for session in connected:
            self.parts.sessions.control(session, RECONNECT, None)
        return len(connected)

    def invalidate(self, *, resumable: bool = False) -> int:
        """Invalidate every session (op 9); they are forgotten unless resumable. Returns how many."""
        connected = self.parts.sessions.connected()
        for session in connected:
            self.parts.sessions.control(session, INVALID_SESSION, resumable)
            if not resumable:
                del self.parts.sessions.by_id[session.id]
        return len(connected)

    def close(self, code: int, reason: str = "") -> int:
        """Close every gateway connection with a code; 4007 and 4009 end the session as well. Returns how many."""
        connected = self.parts.sessions.connected()
        for session in connected:
            if session.socket is not None:
                session.socket.close(code, reason)
            if code in SESSION_ENDED:
                del self.parts.sessions.by_id[session.id]
        return len(connected)

    def forget_sessions(self) -> None:
        """Forget all sessions and cut their connections, so that a RESUME is refused."""
        self.drop()
        self.parts.sessions.by_id.clear()

    def duplicate(self, count: int = 1) -> None:
        """Send every session its last events a second time, unchanged."""
        self.parts.sessions.duplicate(count)

    def behave(self, **settings: Any) -> None:
        """Change fields of `Behaviour`, such as ``heartbeat_interval_ms`` or ``application_flags``.

        Raises:
            LookupError: there is no such setting.
            ValueError: the value is of another type.
        """
        for name, value in settings.items():
            present = getattr(self.parts.behaviour, name, None)
            if present is None or name in {"replace", "content_intent_allowed"}:
                raise LookupError(f"the stage has no behaviour {name!r}")
            wanted = cast("type[object]", type(present))
            if type(value) is not wanted and (wanted, type(value)) != (float, int):
                raise ValueError(f"{name} is of type {wanted.__name__}")
            setattr(self.parts.behaviour, name, value)

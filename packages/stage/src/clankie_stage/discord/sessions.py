"""Gateway sessions: what each has been sent, and the socket it hangs on, if any."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from clankie_stage.discord.audience import Audience
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.intents import MESSAGE_CONTENT, hears, without_content
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.world import Json, World

OUTGOING_FRAMES = 10_000
"""Frames that may wait for one socket; a slower client is cut off and may resume."""

KEPT_SESSIONS = 64
"""Sessions without a socket beyond this many are forgotten, oldest first."""

CONTENT_EVENTS = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE"})


@dataclass(frozen=True, slots=True)
class Close:
    """An order to close the socket with a code."""

    code: int
    reason: str


@dataclass(slots=True)
class Socket:
    """The sending half of one gateway connection; frames leave in the order of `send`.

    Attributes:
        cut: ends the connection without a word, also when nothing can be written any more.
    """

    outgoing: asyncio.Queue[bytes | Close]
    cut: Callable[[], None]
    closing: bool = False

    @property
    def behind(self) -> bool:
        """Whether frames pile up because the client takes them too slowly."""
        return self.outgoing.qsize() > OUTGOING_FRAMES // 10

    def send(self, frame: bytes) -> None:
        """Queue a frame; a full queue cuts the connection instead."""
        if self.closing:
            return
        if self.outgoing.full():
            self.close(None)
            return
        self.outgoing.put_nowait(frame)

    def close(self, code: int | None, reason: str = "") -> None:
        """End the connection once what is queued has left; without a code, at once and without a word."""
        if self.closing:
            return
        self.closing = True
        if code is None or self.outgoing.full():
            self.cut()
        else:
            self.outgoing.put_nowait(Close(code, reason))


@dataclass(slots=True)
class Session:
    """One IDENTIFYed session; it outlives its sockets."""

    id: str
    intents: int
    shard: tuple[int, int]
    sent: deque[tuple[int, bytes]]
    seq: int = 0
    socket: Socket | None = None

    def serves(self, guild_id: str | None) -> bool:
        """Whether events of this guild, or of DMs, belong to this shard."""
        number, count = self.shard
        return number == ((int(guild_id) >> 22) % count if guild_id else 0)


@dataclass(slots=True)
class Sessions:
    """All sessions, and the one way in which events reach them."""

    world: World
    behaviour: Behaviour
    recording: Recording
    audience: Audience
    by_id: dict[str, Session] = field(default_factory=dict[str, Session])

    def open(self, session_id: str, intents: int, shard: tuple[int, int], socket: Socket) -> Session:
        """Start a session on a socket."""
        session = Session(session_id, intents, shard, deque(maxlen=self.behaviour.replay_limit), socket=socket)
        self.by_id[session.id] = session
        idle = [each.id for each in self.by_id.values() if each.socket is None]
        for forgotten in idle[: max(0, len(idle) - KEPT_SESSIONS)]:
            del self.by_id[forgotten]
        return session

    def show(self) -> None:
        """Tell watchers how many sessions are connected."""
        self.audience.show("connected", count=len(self.connected()))

    def connected(self) -> list[Session]:
        """Sessions with a live socket."""
        return [session for session in self.by_id.values() if session.socket and not session.socket.closing]

    def dispatch(self, event: str, payload: Json, guild_id: str | None) -> None:
        """Send an event to every session whose shard and intents it fits, as each may see it."""
        for session in self.by_id.values():
            if session.serves(guild_id) and hears(event, session.intents, in_guild=guild_id is not None):
                self.send(session, event, self._as_seen(session, event, payload, guild_id))

    def send(self, session: Session, event: str, payload: Json) -> None:
        """Send an event to one session, and keep it for RESUME."""
        session.seq += 1
        frame = encode({"op": 0, "t": event, "s": session.seq, "d": payload})
        session.sent.append((session.seq, frame))
        self.recording.add("gateway_out", {"session": session.id, "op": 0, "t": event, "s": session.seq, "d": payload})
        if session.socket is not None:
            session.socket.send(frame)

    def replay(self, session: Session, after: int) -> bool:
        """Send again what came after a sequence number; False when that is no longer kept."""
        if after < session.seq and (not session.sent or session.sent[0][0] > after + 1):
            return False
        self._repeat(session, (frame for seq, frame in session.sent if seq > after))
        return True

    def duplicate(self, count: int) -> None:
        """Send each connected session its last ``count`` events once more, unchanged."""
        for session in self.connected():
            self._repeat(session, [frame for _, frame in session.sent][-count:] if count else [])

    def _repeat(self, session: Session, frames: Iterable[bytes]) -> None:
        for frame in frames:
            if session.socket is not None:
                session.socket.send(frame)
                self.recording.add("gateway_out", {"session": session.id, "again": True, **json.loads(frame)})

    def _as_seen(self, session: Session, event: str, payload: Json, guild_id: str | None) -> Json:
        if event in CONTENT_EVENTS and not session.intents & MESSAGE_CONTENT:
            return without_content(payload, self.world.bot_id, in_dm=guild_id is None)
        return payload

    def control(self, session: Session, op: int, data: Any) -> None:
        """Send an operation that is no event, such as RECONNECT."""
        self.recording.add("gateway_out", {"session": session.id, "op": op, "d": data})
        if session.socket is not None:
            session.socket.send(encode({"op": op, "d": data, "s": None, "t": None}))


def encode(frame: Json) -> bytes:
    """A gateway frame as bytes. Lone surrogates travel as escapes, as Discord's own do."""
    return json.dumps(frame, separators=(",", ":")).encode()

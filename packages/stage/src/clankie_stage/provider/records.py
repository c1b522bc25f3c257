"""What the provider was asked, kept byte for byte."""

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, cast

from clankie_stage.provider.bodies import Body, open_messages, read_body
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

State: TypeAlias = Literal["open", "refused", "finished", "hung_up", "cut", "dropped"]
_RAW_BYTES = 64 * 1024 * 1024
_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class Record:
    """One request and what became of it.

    Attributes:
        index: Place in the order of arrival, from 0.
        raw: The body as it came; emptied in the oldest records when their sum passes 64 MiB.
        arrived_at: Wall time when the whole body was read.
        arrived: The same instant on the clock that counts elapsed time, which all processes of a host share.
        state: ``open`` while it is being answered; ``hung_up`` when the client left first, ``cut`` when the
            script aborted the connection, ``dropped`` when a reset or a shutdown did.
        step: Label of the step that answered.
        refused: What a strict rule said, if one refused it.
        prompt_tokens: Approximate size of the prompt.
        cached_tokens: Part of it that an earlier prompt began with.
        first_byte: When the answer's first byte left.
        ended: When the state became final.
    """

    index: int
    raw: bytes
    arrived_at: datetime
    arrived: timedelta
    state: State = "open"
    step: str = ""
    refused: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    first_byte: timedelta | None = None
    ended: timedelta | None = None

    @property
    def body(self) -> JsonObject:
        """The parsed body; empty when it is no JSON."""
        found = read_body(self.raw)
        return found.value if isinstance(found, Body) else {}

    @property
    def messages(self) -> list[JsonObject]:
        """The parsed history, oldest first."""
        return [entry for item in sequence(self.body.get("messages")) or [] if (entry := mapping(item))]

    @property
    def open_messages(self) -> bytes:
        """The messages array as it came, without its closing bracket. Source: LANE-13."""
        return open_messages(self.raw)


def extends(earlier: Record, later: Record) -> bool:
    """Whether the later history begins with the very bytes of the earlier one. Source: LANE-13."""
    return later.open_messages.startswith(earlier.open_messages)


def encode_record(record: Record) -> JsonObject:
    """A record as a JSON object: bytes as base64, durations as seconds, instants as ISO 8601."""
    return {
        **asdict(record),
        "raw": base64.b64encode(record.raw).decode(),
        "arrived_at": record.arrived_at.isoformat(),
        **{name: _seconds(getattr(record, name)) for name in ("arrived", "first_byte", "ended")},
    }


def decode_record(value: JsonObject) -> Record:
    """A record from its JSON object."""
    return Record(
        index=cast("int", value["index"]),
        raw=base64.b64decode(str(value["raw"])),
        arrived_at=datetime.fromisoformat(str(value["arrived_at"])),
        arrived=_duration(value["arrived"]) or timedelta(),
        state=cast("State", value["state"]),
        step=str(value["step"]),
        refused=str(value["refused"]),
        prompt_tokens=cast("int", value["prompt_tokens"]),
        cached_tokens=cast("int", value["cached_tokens"]),
        first_byte=_duration(value["first_byte"]),
        ended=_duration(value["ended"]),
    )


class Recorder:
    """Keeps the records in the order of arrival, within bounds: old bodies go first, then old records."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._kept: dict[int, Record] = {}
        self._next = 0
        self._raw_bytes = 0
        self._oldest_raw = 0

    def add(self, raw: bytes, at: datetime, elapsed: timedelta) -> int:
        """Keep a new request; returns its index."""
        index, self._next = self._next, self._next + 1
        self._kept[index] = Record(index, raw, at, elapsed)
        self._raw_bytes += len(raw)
        while self._raw_bytes > _RAW_BYTES and self._oldest_raw < index:
            self._empty(self._oldest_raw)
        if len(self._kept) > _RECORDS:
            self._empty(next(iter(self._kept)))
            del self._kept[next(iter(self._kept))]
        self._changed()
        return index

    def refused(self, index: int, refusal: Refusal, elapsed: timedelta) -> None:
        """A strict rule refused the request."""
        self._replace(index, lambda r: replace(r, state="refused", refused=refusal.message, ended=elapsed))

    def taken(self, index: int, step: str, prompt_tokens: int, cached_tokens: int) -> None:
        """A step answers the request."""
        self._replace(index, lambda r: replace(r, step=step, prompt_tokens=prompt_tokens, cached_tokens=cached_tokens))

    def first_byte(self, index: int, elapsed: timedelta) -> None:
        """The answer's first byte left."""
        self._replace(index, lambda r: replace(r, first_byte=elapsed))

    def ended(self, index: int, state: State, elapsed: timedelta) -> None:
        """The answer is over."""
        self._replace(index, lambda r: replace(r, state=state, ended=elapsed))

    def all(self) -> list[Record]:
        """The kept records, oldest first."""
        return list(self._kept.values())

    def count(self) -> int:
        """How many requests came since the last reset."""
        return self._next

    def reset(self) -> None:
        """Forget everything; a request that is still open is no longer recorded."""
        self._kept.clear()
        self._next = self._raw_bytes = self._oldest_raw = 0

    def _replace(self, index: int, change: Callable[[Record], Record]) -> None:
        if index in self._kept:
            self._kept[index] = change(self._kept[index])
            self._changed()

    def _empty(self, index: int) -> None:
        record = self._kept.get(index)
        if record is not None:
            self._raw_bytes -= len(record.raw)
            self._kept[index] = replace(record, raw=b"")
        self._oldest_raw = max(self._oldest_raw, index + 1)


def _seconds(value: timedelta | None) -> float | None:
    return None if value is None else value.total_seconds()


def _duration(value: object) -> timedelta | None:
    return timedelta(seconds=value) if isinstance(value, int | float) else None

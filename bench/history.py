"""A long lane, the same for both sides: 500 messages of 100 tokens."""

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from bench.triggers import KEPT_ROOM, trigger
from clankie_captain.agent.history import draft
from clankie_captain.core.lane import Trust, lane_for
from clankie_captain.core.reply import Said
from clankie_captain.core.run import Usage
from clankie_captain.core.turns import Heard
from clankie_captain.store.engine import Database
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.runs import RunStore
from clankie_settings.ids import DeliveryId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger, content_hash

MESSAGES: Final = 500
CHARS: Final = 400
"""A message's length; four characters are about one token."""

_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES: Final = ("ba", "den", "for", "gla", "hi", "kor", "lu", "men", "no", "par", "ri", "sol", "ta", "ver")


def messages() -> list[ModelMessage]:
    """The history, the same at every call."""
    random = Random(50_000)
    found: list[ModelMessage] = []
    for _ in range(MESSAGES // 2):
        found.append(ModelRequest([UserPromptPart(_text(random), timestamp=_AT)], timestamp=_AT))
        found.append(ModelResponse([TextPart(_text(random))], timestamp=_AT))
    return found


def write(file: Path) -> None:
    """Write the history for the bare loop."""
    file.write_bytes(ModelMessagesTypeAdapter.dump_json(messages()))


async def settle_into(state: Path) -> None:
    """Put the history into a lane of a captain that does not run yet, as one settled run."""
    document = Trigger.model_validate_json(trigger("seed", KEPT_ROOM, "The first words."))
    run, presence, owner = RunId("run_seed"), PresenceId(document.presence_id), DeliveryId(document.delivery_id)
    lane = lane_for(document, TurnId("turn_seed"), Trust())
    database = await Database.open(f"sqlite+aiosqlite:///{state / 'captain.db'}")
    try:
        lanes = LaneStore(database)
        accepted = await lanes.accept(document, lane, TurnId("turn_seed"), run, _AT)
        assert accepted.started is not None
        heard = Heard(presence, owner, (), content_hash(document))
        await lanes.record(accepted.started, [draft(each) for each in messages()], [heard], _AT)
        await RunStore(database).settle(accepted.started, Said("The last words."), Usage(), RunId("run_none"), _AT)
    finally:
        await database.close()


def _text(random: Random) -> str:
    words: list[str] = []
    size = 0
    while size < CHARS:
        words.append("".join(random.choices(_SYLLABLES, k=random.randint(1, 4))))
        size += len(words[-1]) + 1
    return " ".join(words)[:CHARS].strip()

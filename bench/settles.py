"""What lanes that settle at the same time cost one another: the store itself, on a file of its own."""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.figures import Row, percentile
from bench.programs import BenchError
from bench.triggers import trigger
from clankie_captain.core.lane import Trust, lane_for
from clankie_captain.core.reply import Said
from clankie_captain.core.run import Usage
from clankie_captain.core.turns import Ended
from clankie_captain.errors import StoreError
from clankie_captain.store.engine import Database
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.runs import RunStore
from clankie_settings.clock import SystemClock
from clankie_settings.ids import RunId, TurnId
from clankie_settings.wire.trigger import Trigger

LANES: Final = 20
_AT: Final = datetime(2026, 1, 2, tzinfo=UTC)


class Settler:
    """Accepts and settles turns on one database, and takes the time of each settlement."""

    def __init__(self, database: Database) -> None:
        self._lanes, self._runs = LaneStore(database), RunStore(database)
        self._now = SystemClock().elapsed

    async def lane(self, name: str, settles: int) -> list[float]:
        """Milliseconds of each of a lane's settlements, one after the other."""
        times: list[float] = []
        for number in range(settles):
            mark = f"{name}-{number}"
            document = Trigger.model_validate_json(trigger(mark, name, "What do you make of this?"))
            turn, run = TurnId(f"turn_{mark}"), RunId(f"run_{mark}")
            accepted = await self._lanes.accept(document, lane_for(document, turn, Trust()), turn, run, _AT)
            if accepted.started is None:
                raise BenchError(f"{mark} began no run")
            began = self._now()
            settled = await self._runs.settle(accepted.started, Said("An answer."), Usage(), RunId(f"{run}_next"), _AT)
            times.append((self._now() - began).total_seconds() * 1e3)
            if not isinstance(settled, Ended):
                raise BenchError(f"{mark} did not settle")
        return times


async def measure(settles: int, say: Callable[[str], None]) -> Row:
    """The settlements of twenty lanes at once against those of one lane alone. Source: DUR-3."""
    with tempfile.TemporaryDirectory() as place:
        database = await Database.open(f"sqlite+aiosqlite:///{Path(place) / 'captain.db'}")
        try:
            settler = Settler(database)
            alone = percentile(await settler.lane("alone", settles), 99)
            found = await asyncio.gather(*(settler.lane(f"lane{number}", settles) for number in range(LANES)))
        except StoreError as error:
            raise BenchError(f"settling {LANES} lanes at once: {type(error).__name__}: {error}") from error
        finally:
            await database.close()
    together = percentile([each for times in found for each in times], 99)
    say(f"{LANES} lanes x {settles} settles: p99 {together:.1f} ms against {alone:.1f} of one lane")
    shown = f"{together - alone:+.1f} ms: {together:.1f} against {alone:.1f} of one lane ({settles} settles each)"
    return Row(f"settling, {LANES} lanes at once, p99", together - alone, shown)

"""``python -m tests.soak.mutants NAME MODULE ARGUMENT…``: a program from which one wall was taken away.

    no-fence     the store takes the word of a run whose lane another captain has taken over
    torn-settle  what was steered is read before the transaction that settles, and not in it
    no-nonce     the bridge sends its messages without the name by which Discord knows them again

Production has no switch for any of it: the walls fall in this process alone.
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import Connection, Engine, event, select

from clankie_bridge.discord import send
from clankie_bridge.ports import Outgoing
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken
from clankie_captain.core.settlement import RunOn, RunTurn, Settlement, settlement
from clankie_captain.core.turns import LiveRun, Settling
from clankie_captain.store import runs, tables
from clankie_captain.store.engine import Database
from clankie_captain.store.runs import RunStore
from clankie_settings.clock import SystemClock
from clankie_settings.ids import RunId

GAP: Final = timedelta(seconds=1)
"""Between the torn settlement's two transactions, so that a minute shows what else a day would."""

EPOCH: Final = "lane.epoch = ?"
"""How a statement asks whether a run still owns its lane."""


def no_fence() -> None:
    """Let every statement pass that asks for the lane's epoch."""

    def passed(_c: object, _cursor: object, statement: str, parameters: object, *_: object) -> tuple[str, object]:
        return statement.replace(EPOCH, f"({EPOCH} OR 1)"), parameters

    event.listen(Engine, "before_cursor_execute", passed, retval=True)


def torn_settle() -> None:
    """Settle by what was steered a moment ago."""
    settle = RunStore.settle
    seen: dict[str, frozenset[str]] = {}
    clock = SystemClock()

    async def torn(self: RunStore, run: LiveRun, *more: Any, **named: Any) -> Settling:
        def inbox(connection: Connection) -> frozenset[str]:
            mine = select(tables.delivery.c.id).where(tables.delivery.c.run == run.run)
            return frozenset(connection.execute(mine).scalars())

        seen[run.run] = await cast("Database", vars(self)["_database"]).transact(inbox)
        await clock.sleep(GAP)
        return await settle(self, run, *more, **named)

    def by_memory(run: RunId, ending: Reply | Broken, turns: Sequence[RunTurn], *more: Any) -> RunOn | Settlement:
        return settlement(run, ending, [each for each in turns if each.delivery in seen[run]], *more)

    setattr(RunStore, settle.__name__, torn)
    setattr(runs, settlement.__name__, by_memory)


def no_nonce() -> None:
    """Send without a name."""
    # Wherever it is written: what counts is the name under which the sender finds it.
    named = cast("Callable[..., dict[str, Any]]", vars(send)["message_payload"])

    def nameless(outgoing: Outgoing, *more: Any) -> dict[str, Any]:
        payload = named(outgoing, *more)
        return {key: value for key, value in payload.items() if key not in ("nonce", "enforce_nonce")}

    setattr(send, named.__name__, nameless)


MUTANTS: Final[dict[str, Callable[[], None]]] = {
    "no-fence": no_fence,
    "torn-settle": torn_settle,
    "no-nonce": no_nonce,
}


def main() -> None:
    """Take the wall away, and be the program."""
    _, name, module, *arguments = sys.argv
    MUTANTS[name]()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

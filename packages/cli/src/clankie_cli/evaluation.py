"""``clankie eval``: runs the lanes eval of the checkout, which is no part of what is installed. Source: LOOP-8."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from clankie_cli.errors import CannotRun
from clankie_cli.leash import leash

CHECKOUT: Final = Path(__file__).parents[4]
"""The project's folder, where the member is installed from it, as ``make setup`` does."""

NO_CHECKOUT: Final = "the eval is not installed with Clankie: run it in a checkout of the project, after make setup"


async def run(env: Mapping[str, str], arguments: Sequence[str], checkout: Path = CHECKOUT) -> int:
    """Run the eval with these arguments, here and with these settings; its exit code.

    Raises:
        CannotRun: This is no checkout.
    """
    if not (checkout / "evals" / "__main__.py").is_file():
        raise CannotRun(NO_CHECKOUT)
    paths = os.pathsep.join(filter(None, (str(checkout), env.get("PYTHONPATH"))))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "evals", *arguments, env={**env, "PYTHONPATH": paths}, preexec_fn=leash()
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()

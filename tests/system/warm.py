"""Processes that begin where their imports have ended: forked from one that has imported every service already.

Each is a process of its own all the same, with its own arguments, environment, folder, input and output, and is killed
when the tests die. What a service imports takes seconds of processor time, which tests would spend hundreds of times.
"""

import atexit
import ctypes
import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import TextIO

PR_SET_PDEATHSIG = 1
"""Number of the call by which a Linux process asks for a signal at its parent's death. Source: prctl(2)."""

SERVICES = (
    "clankie_captain.__main__",
    "clankie_bridge.__main__",
    "clankie_stage.__main__",
    "clankie_cli.__main__",
    # What a captain imports once its settings name a model: most of its start.
    "clankie_captain.agent.openai_chat",
    "clankie_captain.agent.openai_transform",
    "genai_prices.data",
)


def fork(
    arguments: Sequence[str], env: Mapping[str, str], folder: Path, output: Connection, words: Connection | None
) -> ForkServerProcess:
    """Start Python with these arguments, ``-m MODULE …`` or ``FILE …``; it has both ends for itself from then on.

    Args:
        arguments: What stands behind ``python``.
        env: Its whole environment.
        folder: Where it runs.
        output: Where it writes.
        words: What it reads; None for nothing.
    """
    context: ForkServerContext = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*SERVICES, __name__])
    process = context.Process(target=_become, args=(tuple(arguments), dict(env), folder, output, words))
    process.start()
    for end in (output, words):
        if end is not None:
            end.close()
    return process


def _become(
    arguments: Sequence[str], env: Mapping[str, str], folder: Path, output: Connection, words: Connection | None
) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    os.dup2(output.fileno(), 1)
    os.dup2(1, 2)
    output.close()
    if words is not None:
        os.dup2(words.fileno(), 0)
        words.close()
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), _writing(1), _writing(2)  # noqa: SIM115
    module = arguments[0] == "-m"
    sys.argv = list(arguments[1:] if module else arguments)
    try:
        if module:
            # It runs as ``__main__`` now, and would be warned about its other name.
            sys.modules.pop(f"{sys.argv[0]}.__main__", None)
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(sys.argv[0]).parent))
            runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        # A forked process leaves without these.
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]


def _writing(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)

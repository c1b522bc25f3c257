"""The ``clankie`` command."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence

from clankie_cli import backup, cancel, doctor, evaluation, exits, forget, init, send, status, tail, tokens, trail, up
from clankie_cli.commands import Chosen, chosen
from clankie_cli.errors import CannotRun, NotReachable, RefusedError
from clankie_settings.environment import SettingsError, process_environment
from clankie_settings.secrets import TokenFileError


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; ``exits.py`` has the exit codes."""
    asked = chosen(arguments)
    try:
        return _done(asked, process_environment())
    except (SettingsError, TokenFileError, CannotRun) as error:
        return _said(str(error), exits.CONFIG)
    except NotReachable as error:
        return _said(str(error), exits.NOT_REACHABLE)
    except RefusedError as error:
        return _said(f"{error} ({error.code})", exits.REFUSED)
    except KeyboardInterrupt:
        # Whoever follows or waits ends it in this way; what was accepted goes on.
        return exits.DONE if asked.command == "tail" else exits.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter must not complain about that when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.REFUSED


def _done(asked: Chosen, env: Mapping[str, str]) -> int:
    match asked.command:
        case "up":
            return asyncio.run(up.run(env))
        case "init":
            return asyncio.run(init.run(env, asked.first_answers))
        case "doctor":
            return asyncio.run(doctor.run(env, ask_model=asked.flag("ask_model"), as_json=asked.flag("json")))
        case "status":
            return asyncio.run(status.run(env, as_json=asked.flag("json")))
        case "send":
            return asyncio.run(send.run(env, asked.message, asked.sending))
        case "tail":
            return asyncio.run(tail.run(env, asked.text("name"), whole=asked.flag("all"), as_json=asked.flag("json")))
        case "cancel":
            return asyncio.run(cancel.run(env, asked.text("receipt"), as_json=asked.flag("json")))
        case "trail":
            return asyncio.run(trail.run(env, trail.target(asked.text("name")), asked.printing))
        case "backup" | "restore" | "forget":
            return asyncio.run(_kept(asked, env))
        case "eval":
            return asyncio.run(evaluation.run(env, asked.rest))
        case _:
            return tokens.run(env, asked.text("of"))


async def _kept(asked: Chosen, env: Mapping[str, str]) -> int:
    """Do what concerns everything durable."""
    match asked.command:
        case "backup":
            return await backup.run(env, asked.path, as_json=asked.flag("json"))
        case "restore":
            return await backup.restore(env, asked.text("path"), asked.restoring)
        case _:
            return await forget.run(env, asked.forgotten, asked.forgetting)


def _said(text: str, code: int) -> int:
    print(f"clankie: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

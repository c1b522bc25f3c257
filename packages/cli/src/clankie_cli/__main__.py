"""The ``clankie`` command."""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from clankie_cli import status, tokens, up
from clankie_cli.errors import CannotRun
from clankie_settings.environment import SettingsError, process_environment
from clankie_settings.secrets import TokenFileError


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; 78 where a setting must change first."""
    chosen = _parser().parse_args(arguments)
    try:
        return _done(chosen, process_environment())
    except (SettingsError, TokenFileError, CannotRun) as error:
        print(f"clankie: {error}", file=sys.stderr)
        return os.EX_CONFIG
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter must not complain about that when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _done(chosen: argparse.Namespace, env: Mapping[str, str]) -> int:
    match chosen.command:
        case "up":
            return asyncio.run(up.run(env))
        case "status":
            return asyncio.run(status.run(env, as_json=chosen.json))
        case _:
            return tokens.run(env, chosen.of)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("clankie", description="A presence for your Discord.")
    parser.add_argument("--version", action="version", version=version("clankie-cli"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "up", help="run Clankie: on your Discord with DISCORD_BOT_TOKEN, else on a loopback stage in your browser"
    )
    asked = commands.add_parser("status", help="say how he is: exit code 0 up, 1 not ready, 3 not reachable")
    asked.add_argument("--json", action="store_true", help="for programs")
    token = commands.add_parser("token", help="print a token, for curl")
    token.add_argument("of", choices=sorted(tokens.NAMES), help="whose: the bridge's at the captain, or your own")
    return parser


if __name__ == "__main__":
    sys.exit(main())

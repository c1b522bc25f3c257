"""The command line: what can be asked for, and what was."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Any, Final, NoReturn

from clankie_cli import backup, forget, init, send, tokens, trail
from clankie_settings import bounds

_CONVERSATION: Final = re.compile(r"[A-Za-z0-9._-]{1,48}")
_ID: Final = re.compile(rf"[A-Za-z0-9._:-]{{1,{bounds.ID_CHARS}}}")
_STEPS: Final = (".", "..")
"""Steps of a path: nothing can be asked for by such a name."""

SEND_CODES: Final = """exit codes:
  0  accepted; with --wait: replied, absorbed or silent
  1  the captain will not take it       2  the command line is wrong
  3  the captain is not reachable       4  failed, with its code on standard error
  5  not settled within --within       78  a setting must change first"""


class Chosen:
    """What the command line says."""

    def __init__(self, parser: argparse.ArgumentParser, given: argparse.Namespace, rest: Sequence[str]) -> None:
        self._given: dict[str, Any] = vars(given)
        self._refuse: Callable[[str], NoReturn] = self._given.get("refuse", parser.error)
        self.command: str = given.command
        self.rest: tuple[str, ...] = (*rest,)
        """What the eval reads itself."""
        if self.command == "send":
            self.message = self._message()

    def flag(self, name: str) -> bool:
        """Whether an option was given."""
        return bool(self._given[name])

    def text(self, name: str) -> str:
        """What stands in an argument's place."""
        return str(self._given[name])

    @property
    def first_answers(self) -> init.Given:
        """What ``init`` need not ask for."""
        return init.Given(
            interactive=not self.flag("no_input"),
            replace=self.flag("replace"),
            check=not self.flag("no_check"),
            guilds=tuple(self._given["guild"] or ()),
            owner=self._given["owner"],
            provider=self._given["provider"],
            model=self._given["model"],
            base_url=self._given["base_url"],
            names=tuple(self._given["name"] or ()),
            dm_policy=self._given["dm_policy"],
        )

    @property
    def sending(self) -> send.Manner:
        """How to send."""
        within = self._given["within"]
        return send.Manner(
            wait=self.flag("wait") or within is not None,
            within=None if within is None else timedelta(seconds=within),
            as_json=self.flag("json"),
        )

    @property
    def path(self) -> str | None:
        """The file that was named, if one was."""
        return self._given["path"]

    @property
    def restoring(self) -> backup.Manner:
        """How to restore."""
        return backup.Manner(self.flag("replace"), self._given["unfinished"], self.flag("json"))

    @property
    def forgotten(self) -> forget.What:
        """What to forget."""
        return forget.What(self.text("kind"), self.text("name"), not self._given.get("keep_replies", False))

    @property
    def forgetting(self) -> forget.Manner:
        """How to forget."""
        within = self._given["within"]
        return forget.Manner(self.flag("yes"), self.flag("json"), forget.WITHIN if within is None else within)

    @property
    def printing(self) -> trail.Manner:
        """How to print a lane."""
        return trail.Manner(as_text=self.flag("text"), last=self._given["last"], one_shots=self.flag("one_shots"))

    def _message(self) -> send.Message:
        given = self._given
        if (given["message"] is None) != bool(given["stdin"]):
            self._refuse("say either MESSAGE or --stdin")
        try:
            text = sys.stdin.read(bounds.BODY_CHARS + 2).rstrip("\n") if given["stdin"] else given["message"]
        except UnicodeDecodeError:
            self._refuse(send.NOT_UTF_8)
        fault = send.fault(text)
        if fault is not None:
            self._refuse(fault)
        return send.Message(given["conversation"], text, given["delivery"], given["id"])


def chosen(arguments: Sequence[str] | None) -> Chosen:
    """What these arguments ask for; a wrong command line ends the program with its usage and 2."""
    parser = _parser()
    given, rest = parser.parse_known_args(arguments)
    if rest and given.command != "eval":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return Chosen(parser, given, rest)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("clankie", description="A presence for your Discord.")
    parser.add_argument("--version", action="version", version=version("clankie-cli"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "up", help="run Clankie: on your Discord with DISCORD_BOT_TOKEN, else on a loopback stage in your browser"
    )
    _add_init(commands.add_parser("init", help="set up your own Discord: asks, writes .env and clankie.toml, checks"))
    looked = commands.add_parser("doctor", help="check everything that has to be right: exit code 0 fine, 1 not")
    looked.add_argument("--ask-model", action="store_true", help="ask each model for one word; costs a few tokens")
    _json(looked)
    _json(commands.add_parser("status", help="say how he is: exit code 0 up, 1 not ready, 3 not reachable"))
    _add_send(
        commands.add_parser(
            "send",
            help="say something to him as the operator",
            epilog=SEND_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    tailed = commands.add_parser("tail", help="follow a conversation, over restarts too; Ctrl-C ends")
    tailed.add_argument("name", metavar="CONVERSATION", type=_conversation)
    tailed.add_argument("--all", action="store_true", help="from its beginning, not from what is not settled yet")
    _json(tailed)
    ended = commands.add_parser("cancel", help="end a turn of your own by the receipt that send printed")
    ended.add_argument("receipt", metavar="RECEIPT", type=_id)
    _json(ended)
    _add_trail(commands.add_parser("trail", help="print what is written in a lane, as JSON lines"))
    _add_backup(commands.add_parser("backup", help="make one file of everything durable, while he runs or not"))
    _add_restore(commands.add_parser("restore", help="take a backup back, into a state folder that nobody uses"))
    _add_forget(commands.add_parser("forget", help="forget what was said in a room, or what a person said anywhere"))
    commands.add_parser(
        "eval", add_help=False, help="play the same cases in three ways of thinking, and compare; eval --help says how"
    )
    token = commands.add_parser("token", help="print a token, for curl")
    token.add_argument("of", choices=sorted(tokens.NAMES), help="whose: the bridge's at the captain, or your own")
    return parser


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def _add_send(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(refuse=parser.error)
    parser.add_argument("message", metavar="MESSAGE", nargs="?", help="the words; after -- if they begin with a dash")
    parser.add_argument("--stdin", action="store_true", help="read the words from standard input")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--conversation", metavar="ID", type=_conversation, help="where: any name of letters, digits, dot, dash"
    )
    where.add_argument("--new", action="store_true", help="begin a conversation, and say its name")
    parser.add_argument(
        "--delivery",
        choices=["steer", "queue"],
        help="join the run that is live, or wait for a turn of its own; unsaid, he decides",
    )
    parser.add_argument("--wait", action="store_true", help="until the turn settles, and print his reply")
    parser.add_argument("--within", metavar="SECONDS", type=_seconds, help="wait at most so long")
    parser.add_argument("--id", metavar="ID", type=_id, help="the same id again is the same message, never a second")
    _json(parser)


def _add_trail(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="ROOM|DELIVERY|LANE",
        type=_target,
        help="a room as GUILD:CHANNEL or dm:CHANNEL, a message's id or a receipt, or a lane's id",
    )
    parser.add_argument("--text", action="store_true", help="for a person, instead of JSON lines")
    parser.add_argument("--last", metavar="N", type=_count, help="only the newest N entries of a lane")
    parser.add_argument("--one-shots", action="store_true", help="the one-shots of a room as well")


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="?", help="the file, or a folder for it; else into this folder")
    _json(parser)


def _add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="what clankie backup made")
    parser.add_argument("--replace", action="store_true", help="put what is there aside, in the state folder")
    parser.add_argument(
        "--unfinished",
        choices=["answer", "drop"],
        help="turns that were open then: go on with them, or end them without a word; unsaid, they are dropped if he "
        "was running when the backup was made, since he answered them afterwards",
    )
    _json(parser)


def _add_forget(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="room|person")
    room = kinds.add_parser("room", help="everything that was said in a room")
    room.add_argument("name", metavar="ROOM", type=_room, help="GUILD:CHANNEL, or dm:CHANNEL")
    person = kinds.add_parser("person", help="what a person said in any room")
    person.add_argument("name", metavar="ID", type=_id, help="their Discord id")
    person.add_argument("--keep-replies", action="store_true", help="keep what he answered them")
    for each in (room, person):
        each.add_argument("--yes", action="store_true", help="do not ask whether you mean it")
        each.add_argument("--within", metavar="SECONDS", type=_seconds, help="wait so long for lanes that are at work")
        _json(each)


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Asks for what is needed, writes .env (the secrets, mode 0600) and clankie.toml into this folder, and checks. "
        "Secrets are never arguments: DISCORD_BOT_TOKEN and the provider's key may stand in the environment."
    )
    parser.add_argument("--guild", metavar="ID", action="append", help="your server's id; may be repeated")
    parser.add_argument("--owner", metavar="ID", help="your own Discord id")
    parser.add_argument("--provider", choices=sorted(init.KEYS), help="whose model thinks")
    parser.add_argument("--model", metavar="NAME", help="its name; unsaid, the provider's default")
    parser.add_argument("--base-url", metavar="URL", help="a model server of your own that speaks its protocol")
    parser.add_argument("--name", metavar="NAME", action="append", help="a name that he answers to; may be repeated")
    parser.add_argument("--dm-policy", choices=["deny", "owner", "allowlist"], help="whose direct messages he reads")
    parser.add_argument("--no-input", action="store_true", help="ask nothing: take defaults for what is not said")
    parser.add_argument("--replace", action="store_true", help="with --no-input: change files that are there")
    parser.add_argument("--no-check", action="store_true", help="do not ask Discord whether it is right")


def _conversation(value: str) -> str:
    if not _CONVERSATION.fullmatch(value) or value in _STEPS:
        raise argparse.ArgumentTypeError("1 to 48 letters, digits, dots, dashes or underscores, and not dots alone")
    return value


def _target(value: str) -> str:
    if trail.target(value).kind == "delivery" and not _ID.fullmatch(value):
        raise argparse.ArgumentTypeError(
            "a room as GUILD:CHANNEL or dm:CHANNEL, a message's id, a receipt of send, or a lane's id"
        )
    return value


def _room(value: str) -> str:
    if not trail.ROOM.fullmatch(value):
        raise argparse.ArgumentTypeError("a room is GUILD:CHANNEL, or dm:CHANNEL for a direct message")
    return value


def _id(value: str) -> str:
    if not _ID.fullmatch(value) or value in _STEPS:
        raise argparse.ArgumentTypeError(f"1 to {bounds.ID_CHARS} letters, digits, dots, colons, dashes or underscores")
    return value


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 7 * 86_400:
        raise argparse.ArgumentTypeError("seconds, more than 0 and at most a week")
    return seconds


def _count(value: str) -> int:
    if not value.isdecimal() or not 0 < int(value) <= 1_000_000_000:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(value)

"""``clankie init``: from nothing to a Clankie that is set up for one's own Discord."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr, TypeAdapter, ValidationError

from clankie_cli import doctor, exits, guide, settings_files
from clankie_cli.checks import bot as bots
from clankie_cli.checks.bot import Bot
from clankie_cli.checks.discord import PORTAL, Discord
from clankie_cli.checks.finding import Finding
from clankie_cli.errors import CannotRun
from clankie_cli.interview import Interview, Judge, Nobody, Terminal
from clankie_cli.plain import plain
from clankie_cli.settings_files import Value
from clankie_settings.clock import SystemClock
from clankie_settings.environment import SettingsError, bridge_settings, captain_settings, process_environment
from clankie_settings.schema import BridgeSettings, CaptainSettings, HttpAddress

KEYS: Final = {"anthropic": "anthropic_api_key", "google": "google_api_key", "openai": "openai_api_key"}
"""The setting that holds a provider's key."""

INTRODUCTION: Final = f"""
Clankie on your own Discord, in five steps. Nothing is written before the last answer; Ctrl-C leaves all as it is.

1. The bot. Open {PORTAL}
     New Application, then Bot.
     Under Privileged Gateway Intents switch on Message Content Intent, and save.
     Reset Token, and copy it: it is a password.
"""

_SNOWFLAKE: Final = re.compile(r"[0-9]{5,20}")
_WORD: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says, so that it need not be asked for."""

    interactive: bool = True
    replace: bool = False
    check: bool = True
    guilds: tuple[str, ...] = ()
    owner: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    names: tuple[str, ...] = ()
    dm_policy: str | None = None


async def run(env: Mapping[str, str], given: Given) -> int:
    """Ask, write, check, and say what comes next; 0 where nothing is wrong, 1 where something is.

    Raises:
        SettingsError: A setting that stands already is unusable.
        CannotRun: Nothing was written, and the text says why.
    """
    captain, bridge = captain_settings(env), bridge_settings(env)
    who: Interview = Terminal() if given.interactive else Nobody()
    here = Path.cwd()
    before = settings_files.read(here)
    standing = [name for name, text in ((".env", before.dotenv), ("clankie.toml", before.toml)) if text is not None]
    _may_change(standing, given, who)
    values = await Setup(given, who, captain, bridge).values()
    written = settings_files.write(here, before, settings_files.edited(before, values))
    who.say()
    who.say(f"written: {', '.join(each.name for each in written) or 'nothing, since all of it stood there'}")
    return await _ended(given, who)


def _may_change(standing: list[str], given: Given, who: Interview) -> None:
    if not standing or given.replace:
        return
    there = f"{' and '.join(standing)} {'is' if len(standing) == 1 else 'are'} here already"
    if not given.interactive:
        raise CannotRun(f"{there}: --replace changes these settings there, and leaves the rest; nothing was written")
    if not who.agree(f"{there}. Change these settings there, and leave the rest as it is?"):
        raise CannotRun("nothing was written")


async def _ended(given: Given, who: Interview) -> int:
    """Check what was written, and say what comes next."""
    wrong = False
    if given.check:
        try:
            found = await doctor.examined(process_environment(), runs=False)
        except SettingsError as error:
            found = [Finding("settings", "wrong", str(error))]
        who.say()
        who.say(doctor.table(found))
        wrong = any(each.state == "wrong" for each in found)
    called = guide.called()
    who.say()
    if wrong:
        who.say(f"Mend what is wrong above, look again with: {called} doctor")
    who.say(f"{'Then start' if wrong else 'Start'} him with: {called} up")
    who.say("and mention him in a channel of your server.")
    return exits.REFUSED if wrong else exits.DONE


class Setup:
    """One set-up: what was said, what is asked, and what comes of it."""

    def __init__(self, given: Given, who: Interview, captain: CaptainSettings, bridge: BridgeSettings) -> None:
        self._given = given
        self._who = who
        self._captain = captain
        self._bridge = bridge

    async def values(self) -> dict[str, Value]:
        """Every setting to write.

        Raises:
            CannotRun: An answer is missing or cannot be used.
        """
        if self._given.interactive:
            self._who.say(INTRODUCTION)
        token, bot = await self._token()
        guilds = await self._guilds(token, bot)
        owner = self._owner(bot)
        return {
            "discord_bot_token": token.get_secret_value(),
            "discord_guilds": guilds,
            **({"owner_id": owner} if owner else {}),
            **self._model(),
            **self._manners(owner, bot),
        }

    async def _token(self) -> tuple[SecretStr, Bot | None]:
        given = self._bridge.discord_bot_token
        while True:
            token = given or SecretStr(self._who.ask_secret("   DISCORD_BOT_TOKEN", _secret))
            if not self._given.check:
                return token, None
            async with Discord.opened(token, self._bridge.discord_rest_url) as discord:
                bot, found = await bots.looked_at(discord, SystemClock().now())
            for each in found:
                if each.state == "wrong":
                    self._who.say(f"   {each.said}")
            if bot is not None:
                self._who.say(f"   That is the bot {bot.name}.")
                return token, bot
            # What stands already is asked for anew, so that a wrong one can be mended here.
            given = None
            if not self._given.interactive:
                raise CannotRun(f"{found[0].said}; nothing was written")

    async def _guilds(self, token: SecretStr, bot: Bot | None) -> tuple[str, ...]:
        if self._given.guilds:
            return tuple(self._answer("your server's id", each, _guild) for each in self._given.guilds)
        if self._given.interactive:
            self._who.say("\n2. Your server. Invite him; the address asks for what he needs, and no more:")
            self._who.say(f"   {bot.invitation if bot else 'README.md has the address'}")
        default = ",".join(self._bridge.discord_guilds)
        if bot is not None:
            if self._given.interactive:
                self._who.ask("   Press Enter once he is there", "go on", lambda _: None)
            default = default or await self._joined(token)
        question = "   Your server's id (several with commas, * for every one)"
        said = self._who.ask(question, default or None, _guild_list)
        return tuple(each.strip() for each in said.split(","))

    async def _joined(self, token: SecretStr) -> str:
        async with Discord.opened(token, self._bridge.discord_rest_url) as discord:
            joined = await discord.get("/users/@me/guilds", {"limit": "200"})
        for each in joined.items if self._given.interactive else ():
            self._who.say(plain(f"   He is on {each.get('name')}: {each.get('id')}"))
        return str(joined.items[0].get("id")) if len(joined.items) == 1 else ""

    def _owner(self, bot: Bot | None) -> str | None:
        if self._given.owner is not None:
            return self._answer("your own Discord id", self._given.owner, _snowflake)
        default = self._bridge.owner_id or (bot.owner if bot else None)
        if self._given.interactive:
            self._who.say(
                "\n3. You. In Discord: User Settings, Advanced, Developer Mode; right-click yourself, Copy ID."
            )
        return self._who.ask("   Your own Discord id", default, lambda said: _snowflake(said) if said else None) or None

    def _model(self) -> dict[str, Value]:
        if self._given.interactive:
            self._who.say("\n4. The model that thinks. A server of your own is asked in the words of one of the three.")
        set_already = next((name for name, key in KEYS.items() if getattr(self._captain, key)), None)
        provider = self._given.provider or self._who.ask(
            "   Provider: anthropic, google or openai", set_already or "anthropic", _provider
        )
        address = self._address()
        values: dict[str, Value] = {"model_base_url": address} if address else {}
        given = self._given.model
        named = self._answer("--model", given, _word) if given else (self._captain.model or "").partition(":")[2]
        needed = bool(address) or provider == "google"
        if not named and (needed or self._given.interactive):
            question = f"   Name of the model{'' if needed else ', empty for the usual one'}"
            named = self._who.ask(question, None, _word if needed else lambda said: _word(said) if said else None)
        if named:
            values["model"] = f"{provider}:{named}"
        return values | self._key(provider, own=bool(address))

    def _address(self) -> str | None:
        if self._given.base_url is not None:
            return self._answer("--base-url", self._given.base_url, _http)
        if self._captain.model_base_url is not None or not self._given.interactive:
            return self._captain.model_base_url
        question = "   Address of a server of your own (empty: the provider's)"
        return self._who.ask(question, None, lambda said: _http(said) if said else None) or None

    def _key(self, provider: str, *, own: bool) -> dict[str, Value]:
        field = KEYS[provider]
        standing: SecretStr | None = getattr(self._captain, field)
        if standing is not None:
            return {field: standing.get_secret_value()}
        if own and not self._given.interactive:
            return {}
        question = f"   {field.upper()}{', empty if your server wants none' if own else ''}"
        key = self._who.ask_secret(question, (lambda said: _secret(said) if said else None) if own else _secret)
        return {field: key} if key else {}

    def _manners(self, owner: str | None, bot: Bot | None) -> dict[str, Value]:
        if self._given.interactive:
            self._who.say("\n5. His manners.")
        usual = [*self._bridge.names]
        if bot is not None and "names" not in self._bridge.model_fields_set and bot.name.casefold() != "clankie":
            usual.append(bot.name)
        names = ",".join(self._given.names) or self._who.ask(
            "   Names that he answers to (commas between them)", ",".join(usual), _word_list
        )
        policy = self._given.dm_policy or self._who.ask(
            "   Whose direct messages he reads: deny, owner or allowlist", "owner" if owner else "deny", _policy
        )
        return {"names": tuple(each.strip() for each in names.split(",")), "discord_dm_policy": policy}

    def _answer(self, question: str, said: str, judge: Judge) -> str:
        fault = judge(said)
        if fault is not None:
            raise CannotRun(f"{question}: {fault}; nothing was written")
        return said


def _secret(said: str) -> str | None:
    return None if _WORD.fullmatch(said) else "expected letters, digits and signs without a blank, as they were copied"


def _word(said: str) -> str | None:
    return None if _WORD.fullmatch(said) else "expected a name without a blank"


def _http(said: str) -> str | None:
    try:
        TypeAdapter(HttpAddress).validate_python(said)
    except ValidationError as error:
        return error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
    return None


def _word_list(said: str) -> str | None:
    return None if all(each.strip() for each in said.split(",")) else "expected names, with commas between them"


def _snowflake(said: str) -> str | None:
    return None if _SNOWFLAKE.fullmatch(said) else "expected a Discord id, such as 1310000000000000000"


def _guild(said: str) -> str | None:
    return None if said == "*" else _snowflake(said)


def _guild_list(said: str) -> str | None:
    return next((fault for each in said.split(",") if (fault := _guild(each.strip()))), None)


def _provider(said: str) -> str | None:
    return None if said in KEYS else "expected anthropic, google or openai"


def _policy(said: str) -> str | None:
    return None if said in ("deny", "owner", "allowlist") else "expected deny, owner or allowlist"

"""What only the captain's own code can tell: it is asked as a process of its own."""

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

from clankie_cli.checks.finding import Finding, note, ok, skipped, wrong
from clankie_cli.plain import counted
from clankie_settings.schema import CaptainSettings

LOOK_WITHIN: Final = timedelta(minutes=3)
"""How long the process may take that only looks."""

ASK_WITHIN: Final = timedelta(minutes=5)
"""How long the process may take that asks every model."""

INSTALL: Final = "apt install ffmpeg, brew install ffmpeg"
"""How a machine gets it."""

SQLITE: Final = "sqlite+aiosqlite:///"

Json = dict[str, Any]


async def refusal(env: Mapping[str, str]) -> str | None:
    """What in the settings a captain would refuse to start with: a tool that nobody has, above all."""
    said = await _answer(env, LOOK_WITHIN, "clankie_captain", "--check")
    return (
        "the captain's own check of them does not run: make setup, and ask again" if said is None else said["problem"]
    )


async def models(env: Mapping[str, str], settings: CaptainSettings, *, ask: bool, trial: bool) -> list[Finding]:
    """Whether the configured models have what they need, and with ``ask``, whether they answer."""
    keyless = (settings.anthropic_api_key, settings.openai_api_key, settings.google_api_key) == (None, None, None)
    if trial and keyless and settings.model_base_url is None:
        return [skipped("model", "the stage's rehearsal model needs no key"), await _search(env, settings, "", ask=ask)]
    said = await _answer(env, ASK_WITHIN if ask else LOOK_WITHIN, "clankie_captain.agent", *(["--ask"] if ask else []))
    if said is None:
        return [wrong("model", "the captain's own check of it does not run: make setup, and ask again")]
    if said.get("problem"):
        return [wrong("model", str(said["problem"]))]
    found = [_model(each, ask=ask) for each in cast("list[Json]", said.get("models") or [])]
    return [*found, await _search(env, settings, str(said.get("search") or ""), ask=ask)]


async def _search(env: Mapping[str, str], settings: CaptainSettings, provider: str, *, ask: bool) -> Finding:
    """Whether the web can be searched, where somebody may; ``provider`` names the model whose provider can. OPS-9."""
    if not _granted(settings, "search_web"):
        return skipped("search", "search_web is granted to nobody")
    if settings.search == "off":
        return skipped("search", "CLANKIE_SEARCH is off")
    asked = "ask" if ask or settings.search_url is not None else ""
    said = await _answer(env, LOOK_WITHIN, "clankie_captain.media", "search", provider, asked)
    if said is None:
        return wrong("search", "the captain's own check of it does not run: make setup, and ask again")
    way = {"provider": f"{provider}'s provider", "brave": "Brave", "searxng": "CLANKIE_SEARCH_URL"}.get(said["way"])
    if way is None:
        say = note if settings.search == "auto" else wrong
        return say("search", f"search_web is granted and cannot work here: {said['remedy']}")
    if said.get("fault"):
        return wrong("search", f"{way}: {said['fault']} (docs/troubleshooting.md)")
    answers = "answers" if said.get("asked") else "is asked; each search costs money, so it is not tried here"
    return ok("search", f"{way} {answers}")


async def database(env: Mapping[str, str], settings: CaptainSettings, state: Path) -> list[Finding]:
    """Whether the lanes can be read, by this version, and undamaged; and whether SQLite is a sound one."""
    url = settings.database_url
    if url is not None and not url.startswith(SQLITE):
        said = "CLANKIE_DATABASE_URL: this version keeps its lanes in SQLite; unset the variable"
        return [wrong("database", said)]
    path = Path(url.removeprefix(SQLITE)) if url else state / "captain.db"
    found = await _answer(env, LOOK_WITHIN, "clankie_captain.store", str(path))
    if found is None:
        return [wrong("database", "the captain's own check of it does not run: make setup, and ask again")]
    return [_database(path, found), _sqlite(found)]


def _database(path: Path, said: Json) -> Finding:
    if not said.get("exists"):
        return ok("database", f"{path} is not there yet; the captain makes it when it starts")
    if said.get("fault"):
        return wrong("database", f"{path} cannot be read ({said['fault']}): stop Clankie and put a backup in its place")
    if said.get("foreign"):
        return wrong("database", f"{path} holds another program's data: set CLANKIE_DATABASE_URL to a file of its own")
    if not said.get("known"):
        return wrong("database", f"{path} was written by a newer Clankie ({said['revision']}): upgrade this one")
    if said.get("revision") is None:
        return ok("database", f"{path} is empty yet; the captain fills it when it starts")
    older = said.get("revision") != said.get("newest")
    then = "; the captain brings it up to date when it starts" if older else ""
    return ok("database", f"{path}, schema {said['revision']}, {counted(int(said['lanes']), 'lane')}{then}")


def _sqlite(said: Json) -> Finding:
    if not said.get("sqlite_old"):
        return ok("sqlite", f"version {said.get('sqlite')}")
    return note(
        "sqlite",
        f"version {said.get('sqlite')} can damage a database that several programs write at once; Clankie writes over "
        "one connection, so let nothing else write to captain.db, and upgrade to 3.51.3 (or 3.50.7, 3.44.6)",
    )


async def ffmpeg(env: Mapping[str, str]) -> Finding:
    """Whether films can be taken apart; animated pictures need no ffmpeg. Source: IMG-5."""
    said = await _answer(env, LOOK_WITHIN, "clankie_captain.media")
    if said is None:
        return wrong("ffmpeg", "the captain's own check of it does not run: make setup, and ask again")
    program, lacks = said.get("program"), cast("list[str]", said.get("lacks") or [])
    if program is None:
        return note("ffmpeg", f"not here, so of films he sees the preview alone: {INSTALL}")
    if not said.get("runs"):
        return wrong("ffmpeg", f"{program} does not run: {INSTALL}")
    if lacks:
        return note("ffmpeg", f"{program} cannot read {', '.join(lacks)}, of those films he sees the preview alone")
    return ok("ffmpeg", f"{program} reads what films on Discord are made of")


async def pages(env: Mapping[str, str], settings: CaptainSettings) -> Finding:
    """Whether web pages can be shown, where somebody may have them shown. Source: OPS-9."""
    if not _granted(settings, "screenshot_page"):
        return skipped("pages", "screenshot_page is granted to nobody")
    program = str(settings.browser or "")
    said = await _answer(env, LOOK_WITHIN, "clankie_captain.media", "pages", settings.browser_sandbox, program)
    if said is None:
        return wrong("pages", "the captain's own check of them does not run: make setup, and ask again")
    if said.get("remedy"):
        return note("pages", f"screenshot_page is granted and cannot work here: {said['remedy']}")
    if not said.get("starts"):
        return wrong(
            "pages",
            f"{said['program']} does not start; where its sandbox is not to be had (containers, some kernels), "
            "docs/threats.md says what CLANKIE_BROWSER_SANDBOX=off costs",
        )
    return ok("pages", f"{said['program']} shows web pages")


async def machine(env: Mapping[str, str], settings: CaptainSettings, state: Path) -> Finding:
    """Whether a command can be run in a sandbox, where somebody is trusted with the machine. Source: OPS-9, GRANT-4."""
    if not settings.system_actors:
        return skipped(
            "machine", "CLANKIE_SYSTEM_ACTORS names nobody, so only your own clankie send may use the machine"
        )
    hidden = (str(state), *map(str, settings.own_places))
    said = await _answer(env, LOOK_WITHIN, "clankie_captain.machine", settings.machine_network, *hidden)
    if said is None:
        return wrong("machine", "the captain's own check of it does not run: make setup, and ask again")
    if said.get("remedy"):
        return note("machine", f"run_command, read_file and write_file refuse, without a sandbox: {said['remedy']}")
    web = ", with the public web" if settings.machine_network == "on" else ""
    return ok("machine", f"commands run in bubblewrap, in the workspace alone{web}")


async def servers(env: Mapping[str, str], settings: CaptainSettings) -> list[Finding]:
    """Whether each server of tools can be started or reached, and whether somebody may use it. Source: OPS-9."""
    if settings.mcp_file is None:
        return [skipped("servers", "there is no mcp.json; docs/mcp.md says how to connect a server of tools")]
    said = await _answer(env, ASK_WITHIN, "clankie_captain.mcp")
    if said is None:
        return [wrong("servers", "the captain's own check of them does not run: make setup, and ask again")]
    if said.get("problem"):
        return [wrong("servers", str(said["problem"]))]
    found = [_server(each, settings) for each in cast("list[Json]", said.get("servers") or [])]
    return found or [note("servers", f"{settings.mcp_file.name} names none that is not disabled")]


def _server(said: Json, settings: CaptainSettings) -> Finding:
    name, tools = said["server"], cast("list[str]", said["tools"])
    if said.get("fault"):
        return wrong("servers", f"{name}: {said['fault']} (docs/mcp.md)")
    left = sum(cast("dict[str, int]", said["left_out"]).values())
    more = f", and {counted(left, 'tool')} that no provider would take" if left else ""
    if not any(_granted(settings, tool) for tool in tools):
        return note("servers", f'{name}: {counted(len(tools), "tool")}{more}, granted to nobody: name "{name}_*"')
    return ok("servers", f"{name}: {counted(len(tools), 'tool')}{more}")


def paintings(settings: CaptainSettings) -> Finding:
    """Whether pictures can be generated, where somebody may have them. Source: OPS-9."""
    if settings.image_model is None:
        if _granted(settings, "generate_image"):
            return note("paintings", "generate_image is granted and cannot work: set CLANKIE_IMAGE_MODEL=openai:NAME")
        return skipped("paintings", "CLANKIE_IMAGE_MODEL is not set")
    if settings.openai_api_key is None and settings.image_base_url is None:
        return wrong("paintings", "CLANKIE_IMAGE_MODEL needs a key: set OPENAI_API_KEY")
    if not _granted(settings, "generate_image"):
        return note("paintings", f"{settings.image_model} is configured, and generate_image is granted to nobody")
    return ok("paintings", f"{settings.image_model} is configured; it is not asked, since each picture costs money")


def _granted(settings: CaptainSettings, tool: str) -> bool:
    """Whether a setting grants a tool to anybody, rooms with their own lists included."""
    tables = (*settings.rooms.values(), *settings.roles.values(), *settings.actors.values())
    named = {*settings.tools, *(name for each in tables for name in each.tools or ())}
    spelled = {tool_ for name in named for tool_ in settings.tool_sets.get(name, (name,))}
    return any(tool.startswith(each[:-1]) if each.endswith("*") else tool == each for each in spelled)


def _model(said: Json, *, ask: bool) -> Finding:
    if said.get("fault"):
        return wrong("model", f"{said['model']}: {said['fault']}; correct the key, CLANKIE_MODEL or its address")
    unasked = "is configured; --ask-model asks it for one word, which costs a few tokens"
    return ok("model", f"{said['model']} {'answers' if ask else unasked}")


async def _answer(env: Mapping[str, str], within: timedelta, module: str, *arguments: str) -> Json | None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(within.total_seconds()):
            out, _ = await process.communicate()
        said: Any = json.loads(out)
    except (TimeoutError, ValueError):
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return cast("Json", said) if isinstance(said, dict) else None

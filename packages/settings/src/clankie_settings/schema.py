"""What can be set, with types, defaults and reasons; ``environment.py`` fills it."""

import ipaddress
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, SecretStr

from clankie_settings import bounds


def _items(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    if isinstance(value, list):
        return tuple(str(item).strip() for item in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return value


def _snowflake(value: str) -> str:
    if not re.fullmatch(r"[0-9]{5,20}", value):
        raise ValueError("expected Discord ids: in Discord turn on Developer Mode, then right-click, Copy ID")
    return value


def _guild(value: str) -> str:
    return value if value == "*" else _snowflake(value)


def _room_key(value: str) -> str:
    if not re.fullmatch(r"[0-9]{5,20}:[0-9]{5,20}", value):
        raise ValueError("expected guildId:channelId")
    return value


def _tool(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\*?", name):
        raise ValueError(
            "expected names of tools or of [tool_sets], such as draw_diagram, or github_* for all of a server"
        )
    return name


def _loop(value: str) -> str:
    if value != "all":
        for each in _items(value):
            _room_key(each)
    return value


def loopback(address: str) -> str:
    """The address of something on this machine, unchanged.

    Raises:
        ValueError: It is no http(s) address, or not one of the loopback range.
    """
    host = _parts(address)[0]
    if host != "localhost":
        try:
            inside = ipaddress.ip_address(host).is_loopback
        except ValueError:
            inside = False
        if not inside:
            raise ValueError("is for trials on this machine only: use an address such as http://127.0.0.1:4320")
    return address.rstrip("/")


def _http(address: str) -> str:
    _parts(address)
    return address.rstrip("/")


def _parts(address: str) -> tuple[str, int]:
    try:
        split = urlsplit(address)
        host, port = split.hostname, split.port
    except ValueError:
        host, port, split = None, None, None
    # Readers of addresses disagree about what lies before an @, behind a backslash, or around a blank.
    plain = re.fullmatch(r"[^\s\\@?#\x00-\x20\x7f]+", address)
    if split is None or not plain or split.scheme not in ("http", "https") or not host or port == 0:
        raise ValueError("expected an address such as http://127.0.0.1:4310, without name, password or query")
    return host, port or (443 if split.scheme == "https" else 80)


def _bind(place: str) -> str:
    host, _, port = place.rpartition(":")
    if (
        not re.fullmatch(r"[^\s:/@]+|\[[0-9A-Fa-f:.]+\]", host)
        or not re.fullmatch(r"[0-9]{1,5}", port)
        or int(port) > 65_535
    ):
        raise ValueError("expected host:port, such as 0.0.0.0:4310")
    return place


def _database(url: str) -> str:
    if not re.match(r"^(sqlite\+aiosqlite|postgresql\+asyncpg)://", url):
        raise ValueError("expected sqlite+aiosqlite:///… or postgresql+asyncpg://…")
    return url


def _model(name: str) -> str:
    if name != "rehearsal" and not re.fullmatch(r"(anthropic|google|openai):\S+", name):
        raise ValueError("expected anthropic:NAME, openai:NAME, google:NAME, or rehearsal for the stage's model")
    return name


def _image_model(name: str) -> str:
    if not re.fullmatch(r"openai:\S+", name):
        raise ValueError("expected openai:NAME, also where CLANKIE_IMAGE_BASE_URL leads to a server of your own")
    return name


def _sendable(secret: SecretStr) -> SecretStr:
    # It goes into a header of HTTP, which takes no line end; and whoever copies one easily takes along a blank.
    if not re.fullmatch(r"[!-~]+", secret.get_secret_value()):
        raise ValueError("holds a blank, or a character that no key has: copy it again")
    return secret


def _counted(value: Any) -> Any:
    # TOML's true is no number, although Python's is.
    return str(value) if isinstance(value, bool) else value


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("names the home of somebody who has none here: write the whole path") from error


Items = Annotated[tuple[str, ...], BeforeValidator(_items)]
Place = Annotated[Path, AfterValidator(_at_home)]
Snowflake = Annotated[str, BeforeValidator(str), AfterValidator(_snowflake)]
Snowflakes = Annotated[tuple[Annotated[str, AfterValidator(_snowflake)], ...], BeforeValidator(_items)]
Guilds = Annotated[tuple[Annotated[str, AfterValidator(_guild)], ...], BeforeValidator(_items)]
RoomKeys = Annotated[tuple[Annotated[str, AfterValidator(_room_key)], ...], BeforeValidator(_items)]
Tools = Annotated[tuple[Annotated[str, AfterValidator(_tool)], ...], BeforeValidator(_items)]
Loopback = Annotated[str, AfterValidator(loopback)]
HttpAddress = Annotated[str, AfterValidator(_http)]
Secret = Annotated[SecretStr, AfterValidator(_sendable)]
ModelName = Annotated[str, AfterValidator(_model)]
ReplyPolicy = Literal["addressed", "all"]

_MOST: Final = 1_000_000_000_000
"""More than anybody counts of anything here, and few enough for every store."""
_CENTURY: Final = 36_500
"""Days; a calendar cannot go back as far as somebody can write zeros."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RoomSettings(_Table):
    """``[rooms."guildId:channelId"]``: what one room does differently."""

    reply_policy: ReplyPolicy | None = None
    card: bool | None = None
    notices: bool | None = None
    room_loop: bool | None = None
    tools: Tools | None = None
    context_cap: Annotated[int, Field(ge=1_000, le=_MOST), BeforeValidator(_counted)] | None = None


class Granted(_Table):
    """``[actors."id"]``, ``[roles."id"]``: what one person, or whoever has a role, may use besides. Source: GRANT-1."""

    tools: Tools


class PresenceSettings(_Table):
    """``[presences.<id>]``: another process that stands in rooms."""

    token: Annotated[Secret, Field(min_length=16)]


class SharedSettings(BaseModel):
    """What every process of Clankie reads alike."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    state: Path
    """Everything durable lies here."""
    discord_attachment_root: Path
    """Pictures of tools, written by the captain and resolved by the bridge. Source: ART-1."""
    captain_url: HttpAddress = "http://127.0.0.1:4310"
    """Where the captain is; it also listens here unless ``captain_bind`` says otherwise."""
    captain_token: Secret | None = None
    """The token of the presence ``discord``; made once in the state folder when unset. Source: SEC-1."""
    operator_token: Secret | None = None
    """The operator's token; made once in the state folder when unset. Source: SEC-1."""
    owner_id: Snowflake | None = None
    """The owner's Discord id."""
    rooms: dict[Annotated[str, AfterValidator(_room_key)], RoomSettings] = {}
    """What single rooms do differently, by ``guildId:channelId``."""
    drain_seconds: Annotated[float, Field(ge=0, le=3_600), BeforeValidator(_counted)] = bounds.DRAIN.total_seconds()
    """Seconds for which runs may go on after a stop was asked for. Source: DUR-5."""
    names: Items = ("Clankie",)
    """Names that he answers to, at word boundaries. Source: ING-2."""
    _file: Path = PrivateAttr(Path("clankie.toml"))

    def model_post_init(self, context: Any) -> None:
        """Keep where ``clankie.toml`` is, as the reader tells it by ``context``."""
        if isinstance(context, Path):
            self._file = context

    @property
    def drain_within(self) -> timedelta:
        """How long runs may go on after a stop was asked for."""
        return timedelta(seconds=self.drain_seconds)

    @property
    def stop_within(self) -> timedelta:
        """How long a service may take to stop in all, before whoever started it kills it."""
        return self.drain_within + bounds.STOP_MARGIN

    @property
    def captain_address(self) -> tuple[str, int]:
        """Host and port of ``captain_url``."""
        return _parts(self.captain_url)

    @staticmethod
    def table_fields(field: str) -> tuple[str, ...]:
        """The keys that a table of ``clankie.toml`` knows."""
        kinds: dict[str, type[BaseModel]] = {
            "actors": Granted,
            "presences": PresenceSettings,
            "roles": Granted,
            "rooms": RoomSettings,
        }
        return tuple(kinds[field].model_fields) if field in kinds else ()


class _ModelSettings(SharedSettings):
    model: ModelName | None = None
    """``provider:name`` or ``rehearsal``; unset, the provider whose key is there. Source: FAIL-4."""
    model_base_url: HttpAddress | None = None
    """Any address that speaks the provider's protocol."""
    anthropic_api_key: Secret | None = None
    openai_api_key: Secret | None = None
    google_api_key: Secret | None = None


class CaptainSettings(_ModelSettings):
    """What the captain reads besides."""

    captain_bind: Annotated[str, AfterValidator(_bind)] | None = None
    """``host:port`` to listen on, where it differs from ``captain_url`` (a container)."""
    database_url: Annotated[str, AfterValidator(_database)] | None = None
    """Unset: SQLite in the state folder. Source: DUR-3, DUR-4."""
    model_fallbacks: Annotated[tuple[ModelName, ...], BeforeValidator(_items)] = ()
    """Models that are tried in this order when the first fails. Source: FAIL-5."""
    model_window: Annotated[int, Field(ge=1_000, le=_MOST), BeforeValidator(_counted)] | None = None
    """The model's context window in tokens, where it is known better than by the provider's refusal. Source: CTX-8."""
    persona_file: Place | None = None
    """The owner's words about who he is, used verbatim. Source: CTX-3."""
    room_loop: Annotated[str, AfterValidator(_loop)] | None = None
    """``all`` or ``guildId:channelId,…``: rooms that think in one loop. Source: LOOP-1."""
    images: Literal["on", "off"] = "on"
    """``off``: he is told that pictures are there and cannot be seen. Source: IMG-8."""
    browser: Place | None = None
    """The Chromium that shows web pages; unset, the one on ``PATH``. Source: ART-2."""
    browser_sandbox: Literal["on", "off"] = "on"
    """``off``: pages are shown without Chromium's own sandbox, which root and most containers cannot have."""
    image_model: Annotated[str, AfterValidator(_image_model)] | None = None
    """``openai:NAME``: what generates pictures; unset, nothing does. Source: ART-2."""
    image_base_url: HttpAddress | None = None
    """Another address that speaks OpenAI's images API."""
    search: Literal["auto", "provider", "brave", "searxng", "off"] = "auto"
    """What ``search_web`` asks; ``auto``: a SearXNG that is named, else the model's provider, else Brave."""
    search_url: HttpAddress | None = None
    """A SearXNG of the owner's, wherever it is."""
    brave_api_key: Secret | None = None
    """The key of Brave's search."""
    tools: Tools = ("draw_diagram", "fork", "search_web", "read_page")
    """Tools, or ``[tool_sets]``, that everybody may use where no table of their own says otherwise. Source: GRANT-1."""
    tool_sets: dict[Annotated[str, AfterValidator(_tool)], Tools] = {}
    """Names for several tools at once."""
    roles: dict[Snowflake, Granted] = {}
    """What whoever has a role may use besides, by the role's id. Source: GRANT-1."""
    actors: dict[Snowflake, Granted] = {}
    """What a person may use besides, by the user's id. Source: GRANT-1."""
    system_actors: Snowflakes = ()
    """Actors who may be granted machine tools; empty grants nothing. Source: GRANT-2, GRANT-3."""
    system_rooms: RoomKeys = ()
    """Rooms with a durable system lane of their own. Source: GRANT-2."""
    workspace: Place | None = None
    """The folder that machine tools work in; unset, ``workspace`` in the state folder. Source: GRANT-2, GRANT-4."""
    mcp_file: Place | None = None
    """The ``mcp.json`` with servers of tools; unset, the one beside ``clankie.toml``, if any. Source: GRANT-1."""
    machine_network: Literal["on", "off"] = "off"
    """``on``: commands reach the public web, by a proxy that judges each address. Source: GRANT-4, SEC-3."""
    stall_seconds: Annotated[float, Field(gt=0, le=86_400), BeforeValidator(_counted)] = (
        bounds.STALL_AFTER.total_seconds()
    )
    """Seconds without any event after which a run is aborted. Source: FAIL-1."""
    live_runs: Annotated[int, Field(ge=1, le=1_000), BeforeValidator(_counted)] = bounds.LIVE_RUNS
    """Live runs at a time. Source: LANE-17."""
    actor_messages: Annotated[int, Field(ge=1, le=_MOST), BeforeValidator(_counted)] = bounds.ACTOR_MESSAGES
    """Messages of one person in ten minutes that he works on; the owner is exempt. Source: ING-10."""
    room_tokens_a_day: Annotated[int, Field(ge=1, le=_MOST), BeforeValidator(_counted)] | None = None
    """Tokens, in and out, that one room may cost on a UTC day; unset: no limit."""
    tokens_a_day: Annotated[int, Field(ge=1, le=_MOST), BeforeValidator(_counted)] | None = None
    """Tokens, in and out, that all rooms together may cost on a UTC day; unset: no limit."""
    keep_days: Annotated[int, Field(ge=bounds.KEEP_DAYS, le=_CENTURY), BeforeValidator(_counted)] | None = None
    """Days for which transcripts are kept; unset: for ever. Source: OPS-11."""
    keep_picture_days: Annotated[int, Field(ge=1, le=_CENTURY), BeforeValidator(_counted)] | None = None
    """Days for which pictures are kept; unset: as long as transcripts. Source: OPS-11."""
    otel_exporter_otlp_endpoint: HttpAddress | None = None
    """Where OpenTelemetry's spans go, over HTTP; unset: nowhere. Source: OPS-8."""
    cdn_loopback: Loopback | None = None
    """Loopback trials only: the fetch boundary connects there instead of to the CDN's hosts."""
    presences: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")], PresenceSettings] = {}
    """Other presences, by id; ``discord`` has ``captain_token``."""

    @property
    def own_places(self) -> tuple[Path, ...]:
        """Folders and files of his own, absolute, which no command may see and no workspace hold. Source: GRANT-4."""
        _, is_file, database = (self.database_url or "").partition("sqlite+aiosqlite:///")
        named = (self.mcp_file, self.persona_file, Path(database.partition("?")[0]) if is_file else None)
        # Where he was started lies ``.env``.
        places = (self.state, self.discord_attachment_root, Path(), self._file, *filter(None, named))
        return tuple(each.absolute() for each in places)

    @property
    def stall_after(self) -> timedelta:
        """The stall bound."""
        return timedelta(seconds=self.stall_seconds)


class BridgeSettings(SharedSettings):
    """What the bridge reads besides."""

    discord_bot_token: Secret | None = None
    """The bot's token from the developer portal."""
    discord_guilds: Guilds = ()
    """Guilds he is admitted in; empty admits none, ``*`` all. Source: ING-1."""
    discord_channels: Snowflakes = ()
    """Channels (or parents of threads) he is admitted in; empty admits the guild's. Source: ING-1."""
    discord_users: Snowflakes = ()
    """Users he listens to; with ``discord_roles`` empty as well, everyone there. Source: ING-1."""
    discord_roles: Snowflakes = ()
    """Roles he listens to. Source: ING-1."""
    discord_bots: bool = False
    """Whether other bots and webhooks are heard. Source: ING-1."""
    discord_dm_policy: Literal["deny", "owner", "allowlist"] = "deny"
    """Whose DMs he reads: nobody's, the owner's, or those of the owner and ``discord_users``. Source: ING-1."""
    reply_policy: ReplyPolicy = "addressed"
    """``all`` lets every admitted message become a turn. Source: ING-2."""
    catch_up_minutes: Annotated[float, Field(ge=0, le=1_440), BeforeValidator(_counted)] = (
        bounds.CATCH_UP_AFTER.total_seconds() / 60
    )
    """Minutes after which he reads what was said without calling him where he once spoke; 0: never. Source: ING-4."""
    discord_rest_url: Loopback | None = None
    """Loopback trials only: the REST root to use instead of Discord's."""

    @property
    def catch_up_after(self) -> timedelta:
        """How long talk waits for a catch-up turn; none at all: it does not."""
        return timedelta(minutes=self.catch_up_minutes)


class LaunchSettings(_ModelSettings):
    """What ``clankie up`` and ``clankie eval`` read besides."""

    discord_bot_token: Secret | None = None
    stage_port: Annotated[int, Field(ge=0, le=65_535), BeforeValidator(_counted)] = 4320
    """The stage's port on loopback."""
    eval_judge: ModelName | None = None
    """The model that judges in ``clankie eval``; unset, the one that thinks. Source: LOOP-8."""

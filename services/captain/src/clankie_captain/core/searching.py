"""What a search of the web found, whoever searched, and what its failures mean. Source: SEC-3, CTX-4."""

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from clankie_captain.core.quoting import fenced, visible
from clankie_settings import bounds

Way = Literal["provider", "brave", "searxng"]
"""Who searches: the provider of the model, or a service."""

SearchSetting = Literal["auto", "provider", "brave", "searxng", "off"]
"""``CLANKIE_SEARCH``."""

_WEB: Final = re.compile(r"https?://[^\s<>\"]+")
_TAG: Final = re.compile(r"<[^<>]{0,200}>")
_KEY: Final = frozenset({401, 403})
_BUSY: Final = 429
_FAULT: Final = 500


@dataclass(frozen=True, slots=True)
class Hit:
    """One page that was found; ``text`` is what the search says about it."""

    title: str
    address: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; ``words`` are a model's own on it, where one searched."""

    hits: tuple[Hit, ...]
    words: str = ""


def way(setting: SearchSetting, *, server: bool, provider: bool, key: bool) -> Way | None:
    """Who searches; None where nobody can, or nobody shall.

    Args:
        setting: What the owner chose.
        server: Whether ``CLANKIE_SEARCH_URL`` names a SearXNG.
        provider: Whether the provider of a configured model has a search of its own.
        key: Whether there is a key of Brave's.
    """
    able: dict[Way, bool] = {"searxng": server, "provider": provider, "brave": key}
    match setting:
        case "off":
            return None
        case "auto":
            return next((each for each, there in able.items() if there), None)
        case _:
            return setting if able[setting] else None


def remedy(setting: SearchSetting) -> str:
    """What to set where a search is wanted and cannot be had."""
    match setting:
        case "brave":
            return "set BRAVE_API_KEY"
        case "searxng":
            return "set CLANKIE_SEARCH_URL to the address of your SearXNG"
        case "provider":
            return "the configured model's provider has no search of its own: set CLANKIE_SEARCH to brave or searxng"
        case _:
            return "set BRAVE_API_KEY, or CLANKIE_SEARCH_URL to the address of a SearXNG of your own"


def brave_hits(body: object) -> tuple[Hit, ...] | None:
    """The pages of an answer of Brave's; None where it is none of theirs."""
    fields = _fields(body)
    return _hits(_fields(fields.get("web")).get("results"), "description", known=fields.get("type") == "search")


def searxng_hits(body: object) -> tuple[Hit, ...] | None:
    """The pages of an answer of SearXNG's; None where it is none of theirs."""
    return _hits(_fields(body).get("results"), "content", known=False)


def hit(title: object, address: object, text: object = "") -> Hit | None:
    """A page from what somebody else says of it; None where it has no address on the web."""
    if not isinstance(address, str) or len(address) > bounds.URL_CHARS or not _WEB.fullmatch(address):
        return None
    if visible(address) != address:
        return None
    return Hit(_plain(title, bounds.PAGE_TITLE_CHARS), address, _plain(text, bounds.SEARCH_HIT_CHARS))


def shown(query: str, found: Found, fresh: Callable[[], str]) -> str:
    """What was found as the model reads it."""
    hits = [_line(each) for each in distinct(found.hits)]
    words = visible(found.words).strip()[: bounds.SEARCH_WORDS_CHARS]
    if not hits and not words:
        return "Nothing was found. Ask in other words, or say that you found nothing."
    sources = "\n".join(("Pages:", *hits)) if hits and words else "\n".join(hits)
    return fenced("found", {"query": query}, "\n\n".join(filter(None, (words, sources))), fresh)


def distinct(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The first mention of each page, as many as are shown."""
    first: dict[str, Hit] = {}
    for each in hits:
        first.setdefault(each.address, each)
    return tuple(first.values())[: bounds.SEARCH_HITS]


def fault(status: int) -> str:
    """Why a service that answered so has nothing, in words for the model."""
    if status in _KEY:
        return "the search service does not let me in; tell whoever runs me"
    if status == _BUSY:
        return "the search service takes no more now; try again later"
    if status >= _FAULT:
        return "the search service has a fault; try again later"
    return f"the search service answers with status {status}; tell whoever runs me"


def _hits(results: object, text: str, *, known: bool) -> tuple[Hit, ...] | None:
    """The pages of a list; without a list none at all, where the answer is ``known`` to be one."""
    if not isinstance(results, list):
        return () if known else None
    # Far more than any service gives, and few enough to be looked at while others wait.
    listed = [_fields(each) for each in cast("list[object]", results)[: 10 * bounds.SEARCH_HITS]]
    hits = (hit(each.get("title"), each.get("url"), each.get(text)) for each in listed)
    return distinct(each for each in hits if each is not None)


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _line(each: Hit) -> str:
    return "\n  ".join(filter(None, (f"- {each.title}".rstrip(), each.address, each.text)))


def _plain(text: object, most: int) -> str:
    """Text of a result on one line, without the marks with which services emphasize."""
    if not isinstance(text, str):
        return ""
    return " ".join(visible(html.unescape(_TAG.sub("", text[: most * 4]))).split())[:most]

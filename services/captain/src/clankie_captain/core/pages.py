"""What a page of the web is, by its bytes, and how much of its text is read at a time. Source: SEC-3, CTX-4."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from clankie_captain.core.quoting import fenced, visible
from clankie_settings import bounds

PageForm = Literal["html", "text", "pdf"]
"""What can be read; JSON, Markdown and feeds are text as they are."""

HEAD_BYTES: Final = 1_024
"""How much of a page's beginning says what it is."""

_PDF: Final = b"%PDF-"
_BOMS: Final = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# No comment holds the end of one: else each row of them could be read in more ways than anybody has time to try.
_MARKUP: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXTS: Final = re.compile(
    r"text/.+|application/(?:json|xml|yaml|x-yaml|toml|markdown|javascript|x-ndjson|.+\+json|.+\+xml)"
)
_UNSAID: Final = ("", "application/octet-stream", "binary/octet-stream")
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """What was read of a page: ``text`` begins at its first character, and ``more`` says that it goes on behind it."""

    address: str
    title: str
    text: str
    more: bool


def form_of(head: bytes, served: str) -> PageForm | None:
    """What a page is, by its first bytes and by what its server calls it; None for what cannot be read.

    The bytes win: whatever holds a NUL in none of the wide encodings is no text, whoever calls it one.
    """
    called = served.partition(";")[0].strip().lower()
    if _PDF in head:
        return "pdf"
    if b"\0" in head and encoding_of(head) is None:
        return None
    if called in _HTML or _MARKUP.match(head):
        return "html"
    return "text" if called in _UNSAID or _TEXTS.fullmatch(called) else None


def encoding_of(head: bytes) -> str | None:
    """The encoding that the first bytes of a text name by themselves."""
    return next((name for mark, name in _BOMS.items() if head.startswith(mark)), None)


def charset_of(served: str) -> str:
    """The encoding that a server names; empty where it names none."""
    found = _CHARSET.search(served)
    return found[1] if found else ""


def enough(start: int) -> int:
    """How many characters of a text are worth having to show what lies at ``start``."""
    return start + bounds.PAGE_TEXT_BYTES + 1


def shown(page: Page, start: int, fresh: Callable[[], str]) -> str:
    """A stretch of a page as the model reads it, and what it has to ask for to read on."""
    stretch = _stretch(page.text[start:])
    after = start + len(stretch)
    labels = {"title": visible(page.title)[: bounds.PAGE_TITLE_CHARS], "address": page.address}
    block = fenced("page", labels, visible(stretch), fresh)
    if page.more or after < len(page.text):
        return f"{block}\nThe page goes on: ask again with start={after} for what follows."
    return f"{block}\nThe page ends here."


def _stretch(text: str) -> str:
    """As much as one answer holds, up to the end of a line or a word where there is one near."""
    whole = text[: bounds.PAGE_TEXT_BYTES].encode("utf-8", "replace")
    if len(whole) <= bounds.PAGE_TEXT_BYTES and len(text) <= bounds.PAGE_TEXT_BYTES:
        return text
    held = whole[: bounds.PAGE_TEXT_BYTES].decode("utf-8", "ignore")
    for mark in ("\n", " "):
        cut = held.rfind(mark, len(held) * 3 // 4)
        if cut > 0:
            return held[: cut + 1]
    return held

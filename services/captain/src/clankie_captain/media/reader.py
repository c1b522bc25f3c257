"""``python -m clankie_captain.media.reader``: take the text out of one page and end.

What is asked on the first line of stdin as JSON (``form``, ``charset``, ``address``, ``enough``), the page's bytes
behind it; on stdout as JSON the title and the text, or a fault. It is a process of its own because the libraries look
at what strangers wrote: it bounds itself before it looks. Source: SEC-3.
"""

import io
import json
import logging
import re
import sys
from typing import Any, Final, cast

from clankie_captain.core.pages import HEAD_BYTES, encoding_of
from clankie_captain.media import confinement
from clankie_captain.media.faults import OutOfTimeError
from clankie_settings import bounds

GATHERING: Final = 0.8
"""How much of its time it gathers the pages of a long document, before it tells what it has."""

_META: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_STRAY: Final = (
    "/html/head/*[not(self::title or self::meta or self::link or self::base or self::script or self::style or "
    "self::noscript or self::template)]"
)
_SHOWN: Final = "//body//text()[not(parent::script or parent::style)]"
_UNSEEN: Final = "//noscript | //template | //*[@hidden] | //*[contains(translate(@style, ' ', ''), 'display:none')]"


def read(asked: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Title, text, and whether the text goes on; or why there is none: ``locked``, ``scripted`` or ``empty``."""
    enough = int(asked["enough"])
    if asked["form"] == "pdf":
        title, text, more = _pdf(data, enough)
    elif asked["form"] == "html":
        title, text = _html(_decoded(data, asked["charset"], declared=True), asked["address"])
        more = False
        if not text.strip() and b"<script" in data.lower():
            return {"fault": "scripted"}
    else:
        title, text, more = "", _decoded(data, asked["charset"], declared=False), False
    if not text.strip():
        return {"fault": "empty"}
    return {"title": title, "text": text[:enough], "more": more or len(text) > enough}


def _decoded(data: bytes, charset: str, *, declared: bool) -> str:
    """The bytes as text: what they themselves say wins, then UTF-8, then what the server or the page claims."""
    for encoding in (encoding_of(data[:HEAD_BYTES]), "utf-8", charset, _declared(data) if declared else ""):
        if encoding:
            try:
                return data.decode(encoding)
            except (LookupError, ValueError):
                continue
    from trafilatura.utils import decode_file

    return decode_file(data)


def _declared(data: bytes) -> str:
    found = _META.search(data[:HEAD_BYTES])
    return found[1].decode() if found else ""


def _html(text: str, address: str) -> tuple[str, str]:
    """Title and words of a page: its main part, or all that it shows where no part is the main one."""
    import trafilatura
    from lxml import html  # pyright: ignore[reportMissingTypeStubs] -- it has none

    markup = cast("Any", html)
    # An encoding that the text declares is not the one that it has by now, and without any element it is no document.
    tree = markup.document_fromstring(f"{text}<p></p>".encode(), parser=markup.HTMLParser(encoding="utf-8"))
    # A page need not say where its head ends, and the parser believes that it never does.
    for stray in reversed(tree.xpath(_STRAY)):
        tree.body.insert(0, stray)
    title = " ".join(str(tree.findtext(".//title") or "").split())
    for each in tree.xpath(_UNSEEN):
        # Some pages hide themselves whole until their script has run.
        if each.tag not in ("html", "body"):
            each.drop_tree()
    words = trafilatura.extract(
        tree, url=address, output_format="markdown", include_links=True, include_comments=True, favor_recall=True
    )
    return title, words or "\n".join(filter(None, map(str.strip, tree.xpath(_SHOWN))))


def _pdf(data: bytes, enough: int) -> tuple[str, str, bool]:
    """Title, words of as many pages as are wanted or can be read in time, and whether there are more."""
    from pypdf import PdfReader

    document = PdfReader(io.BytesIO(data))
    if document.is_encrypted and not document.decrypt(""):
        raise PermissionError
    title = str((document.metadata and document.metadata.title) or "")
    pages: list[str] = []
    length = 0
    try:
        for page in document.pages:
            pages.append(page.extract_text().strip())
            length += len(pages[-1])
            if length > enough:
                break
    except OutOfTimeError:
        return title, "\n\n".join(pages), True
    confinement.forgive()
    return title, "\n\n".join(pages), len(pages) < len(document.pages)


def main() -> None:
    """Read what is on stdin."""
    confinement.confine(bounds.READER_MEMORY, bounds.READER_TIME)
    logging.disable(logging.CRITICAL)
    asked = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    confinement.allow(bounds.READER_TIME.total_seconds() * GATHERING)
    try:
        said = read(asked, data)
    except PermissionError:
        said = {"fault": "locked"}
    except MemoryError:
        said = {"fault": "heavy"}
    except OutOfTimeError:
        said = {"fault": "slow"}
    except Exception:  # noqa: BLE001 -- libraries raise anything at all for bytes that are broken
        said = {"fault": "broken"}
    confinement.forgive()
    sys.stdout.buffer.write(json.dumps(said).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

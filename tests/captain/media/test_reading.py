"""Pages of the web, fetched through the guard from a real socket: what is read of them, and what is refused."""

import asyncio
import gzip
import io
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from pypdf import PdfWriter

from clankie_captain.core.pages import enough
from clankie_captain.media import reader
from clankie_captain.media.guard import GuardedTransport
from clankie_captain.media.page_fetch import PRIVATE, UNKNOWN, PageFetch
from clankie_captain.media.page_text import PageError, PageReader
from clankie_captain.media.web import MediaWeb
from clankie_captain.ports import NotFoundError
from clankie_settings import bounds
from clankie_settings.clock import RandomIds
from tests.captain.media.listening import Answer, Listener, listening, never, response
from tests.captain.media.test_guard import EVERYWHERE, REFUSED, Lookups, Recorded

pytestmark = pytest.mark.requirement("SEC-3")

WORDS = "They float on water, and carry what is put on them, as long as it is not too much of it at once. " * 4
PAGE = f"<html><head><title>A title</title></head><article><h1>Boats</h1><p>{WORDS}</p>".encode()
HTML = response(PAGE, content_type="text/html")
START = "http://public.example/"
SOON = timedelta(seconds=0.4)


class Way:
    """Reads pages of a world in which every public host is one listener."""

    def __init__(self, listener: Listener, fetch: PageFetch) -> None:
        self.listener = listener
        self.fetch = fetch
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def web(self) -> MediaWeb:
        return MediaWeb(self.fetch, PageReader(), None, RandomIds())

    async def refused(self, address: str = START) -> str:
        with pytest.raises(PageError) as error:
            await self.fetch.fetch(address, self.step)
        assert "example" not in str(error.value)
        return str(error.value)


@asynccontextmanager
async def world(answer: Answer | bytes = HTML, within: timedelta = bounds.READ_PAGE_FETCH) -> AsyncGenerator[Way]:
    async with listening(answer) as listener:
        fetch = PageFetch(GuardedTransport(Recorded(listener.address), Lookups(EVERYWHERE)), within)
        yield Way(listener, fetch)
        await fetch.aclose()


def leading(*places: str) -> Answer:
    """Answers with redirects to these places in turn, then with the page."""
    left = list(places)

    async def lead(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = left.pop(0) if left else ""
        cookie = {"Set_Cookie": "a=b"}
        writer.write(response(b"", "302 Found", Location=place, **cookie) if place else HTML)
        await writer.drain()

    return lead


async def test_no_address_but_one_of_the_public_web_is_connected_to() -> None:
    async with world() as way:
        for address in REFUSED:
            assert await way.refused(address) == PRIVATE, address
        assert way.listener.connections == 0


async def test_no_redirect_leads_anywhere_else_either() -> None:
    # These are no other place: one is a path of the same host, and the other lies on the public web.
    own = {"public.example/a.png", "//public.example/a.png"}
    for place in [each for each in REFUSED if each not in own]:
        async with world(leading("/on", place)) as way:
            said = await way.refused()
            assert (said in (PRIVATE, UNKNOWN), way.listener.connections) == (True, 2), place


async def test_a_name_that_turns_private_between_redirects_is_refused_where_it_turns() -> None:
    names = {"public.example": ["1.1.1.1"]}

    async def turn(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        names["public.example"] = ["10.0.0.1"]
        writer.write(response(b"", "302 Found", Location="/again"))

    async with listening(turn) as listener:
        fetch = PageFetch(GuardedTransport(Recorded(listener.address), Lookups(names)))
        with pytest.raises(PageError, match="not on the public web"):
            await fetch.fetch(START, lambda: None)
        await fetch.aclose()
    assert listener.connections == 1


async def test_redirects_are_followed_to_the_page_without_a_cookie_and_never_for_ever() -> None:
    async with world(leading("/one", "//public.example/two?a=ö", "three#part")) as way:
        found = await way.fetch.fetch("http://public.example/zero#x", way.step)
        assert (found.data, found.form, found.address) == (PAGE, "html", "http://public.example/three")
        assert [head.split()[1] for head in way.listener.heads] == ["/zero", "/one", "/two?a=%C3%B6", "/three"]
        assert not any("Cookie" in head for head in way.listener.heads)
        assert way.steps >= 4
    async with world(leading(*["/round"] * 99)) as way:
        assert "without an end" in await way.refused()
        assert way.listener.connections == bounds.READ_PAGE_REDIRECTS + 1


async def test_an_address_is_asked_for_as_a_browser_would_spell_it() -> None:
    async with world() as way:
        await way.fetch.fetch(" http://public.example/K\u00e4se dich?q=\u5b57%20a#\u00fc ", way.step)
        assert way.listener.heads[0].startswith("GET /K%C3%A4se%20dich?q=%E5%AD%97%20a HTTP/1.1")


async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"word " * 50_000)
        await writer.drain()


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not reader.at_eof():
        writer.write(b"w")
        await writer.drain()
        await asyncio.wait([asyncio.ensure_future(reader.read(1))], timeout=0.02)


def packed(data: bytes, how: str) -> bytes:
    return response(data, content_type="text/html", Content_Encoding=how)


BOMB = gzip.compress(bytes(bounds.READ_PAGE_BYTES * 4))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (response(b"", "404 Not Found"), "its server answers with status 404"),
        (response(b"", "500 Oh", content_type="text/html"), "its server answers with status 500"),
        (response(b"", "304 Not Modified"), "its server answers with status 304"),
        (response(), "no text"),
        (response(b"PK\3\4\0\0", content_type="text/html"), "no text"),
        (packed(BOMB, "gzip"), "too large"),
        (packed(zlib.compress(bytes(bounds.READ_PAGE_BYTES * 4)), "deflate"), "too large"),
        (packed(b"not packed", "gzip"), "cannot be unpacked"),
        (packed(gzip.compress(PAGE)[:-9], "gzip"), "ended in the middle"),
        (packed(b"whatever", "br"), "not asked for"),
        (packed(b"whatever", "gzip, gzip"), "not asked for"),
        (endless, "too large"),
        (b"nonsense\r\n\r\n", UNKNOWN),
        (b"", UNKNOWN),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_what_is_no_page_is_refused_in_plain_words(answer: Answer | bytes, said: str) -> None:
    async with world(answer) as way:
        assert said in await way.refused()


@pytest.mark.parametrize("answer", [never, dripping])
async def test_a_page_that_does_not_come_is_given_up(answer: Answer) -> None:
    async with world(answer, SOON) as way:
        assert "in time" in await way.refused()


@pytest.mark.parametrize(
    ("body", "how"), [(gzip.compress(PAGE), "gzip"), (gzip.compress(PAGE), "x-gzip"), (zlib.compress(PAGE), "deflate")]
)
async def test_a_packed_page_is_unpacked(body: bytes, how: str) -> None:
    async with world(packed(body, how)) as way:
        assert (await way.fetch.fetch(START, way.step)).data == PAGE
    async with world() as way:
        assert await way.refused("http://unknown.example/") == UNKNOWN


def pdf(*pages: str) -> bytes:
    """A document whose pages say these words."""
    kids = " ".join(f"{10 + 2 * at} 0 R" for at in range(len(pages)))
    objects = {
        1: "<</Type/Catalog/Pages 2 0 R>>",
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        4: "<</Title(A paper)>>",
    }
    for at, words in enumerate(pages):
        font = "/Resources<</Font<</F 3 0 R>>>>"
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]{font}/Contents {11 + 2 * at} 0 R>>"
        stream = f"BT /F 12 Tf 10 200 Td ({words}) Tj ET"
        objects |= {10 + 2 * at: page, 11 + 2 * at: f"<</Length {len(stream)}>>stream\n{stream}\nendstream"}
    made, places = b"%PDF-1.4\n", dict[int, int]()
    for number, body in objects.items():
        places[number] = len(made)
        made += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{number} 1\n{place:010} 00000 n \n" for number, place in places.items())
    end = f"trailer<</Size 99/Root 1 0 R/Info 4 0 R>>\nstartxref\n{len(made)}\n%%EOF"
    return made + f"xref\n0 1\n0000000000 65535 f \n{table}{end}".encode()


def locked() -> bytes:
    writer, written = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.encrypt("a word", algorithm="RC4-128")
    writer.write(written)
    return written.getvalue()


def asked(form: str, charset: str = "", most: int = 1_000) -> dict[str, object]:
    return {"form": form, "charset": charset, "address": "https://public.example/a/b", "enough": most}


@pytest.mark.parametrize(
    ("form", "charset", "data", "text"),
    [
        ("html", "", b"<p>hello", "hello"),
        ("html", "", PAGE, f"# Boats\n\n{WORDS.strip()}"),
        ("html", "", b"<!doctype html><title>x</title><h1>Up</h1><article><p>no body</article>", "Up\nno body"),
        ("html", "", b"<body style='display:none'><p>shown by a script later", "shown by a script later"),
        ("html", "", b"<p>seen</p><p hidden>unseen</p><p style='display: none'>unseen</p>", "seen"),
        ("html", "iso-8859-1", "<p>Gr\u00fc\u00dfe in UTF-8".encode(), "Gr\u00fc\u00dfe in UTF-8"),
        ("html", "latin-1", "<p>Gr\u00fc\u00dfe".encode("latin-1"), "Gr\u00fc\u00dfe"),
        ("html", "no-such", "<meta charset=cp1251><p>\u041f\u0440\u0438".encode("cp1251"), "\u041f\u0440\u0438"),
        ("html", "", "\ufeff<p>\u5b57\u5b57".encode("utf-16-le"), "\u5b57\u5b57"),
        ("html", "", b'<?xml version="1.0" encoding="utf-16"?><html><p>words', "words"),
        ("text", "", '{"a": "\u00fc"}'.encode(), '{"a": "\u00fc"}'),
        ("text", "shift_jis", "\u65e5\u672c\u8a9e".encode("shift_jis"), "\u65e5\u672c\u8a9e"),
        ("text", "", "<p>not read as a page".encode("utf-16"), "<p>not read as a page"),
        ("pdf", "", pdf("Hello paper", "second"), "Hello paper\n\nsecond"),
    ],
)  # fmt: skip
def test_the_words_of_every_kind_of_page_are_read(form: str, charset: str, data: bytes, text: str) -> None:
    said = reader.read(asked(form, charset), data)
    assert (str(said["text"]).strip(), said["more"]) == (text, False)


@pytest.mark.parametrize(
    ("form", "data", "fault"),
    [
        ("html", b"<title>App</title><script src=a></script><noscript>Switch it on</noscript><p id=a>", "scripted"),
        ("html", b"<html><body></body></html>", "empty"),
        ("html", b"<!-- nothing -->", "empty"),
        ("text", b" \n ", "empty"),
        ("pdf", pdf(""), "empty"),
    ],
)  # fmt: skip
def test_a_page_without_words_says_why(form: str, data: bytes, fault: str) -> None:
    assert reader.read(asked(form), data) == {"fault": fault}


def test_links_lead_on_from_where_the_page_lies() -> None:
    page = b"<html><body><article><p>Read the <a href='../c?d=1'>manual of boats</a> before you go out.</p></article>"
    assert "[manual of boats](https://public.example/c?d=1)" in reader.read(asked("html"), page)["text"]


def test_only_so_much_is_read_of_a_long_document_as_was_asked_for() -> None:
    said = reader.read(asked("pdf", most=30), pdf(*["one page of it"] * 40))
    assert (len(said["text"]), said["more"]) == (30, True)


async def test_a_page_is_read_by_a_process_of_its_own_and_stands_in_a_fence() -> None:
    async with world(leading("/a")) as way:
        said = await way.web().read(START, 0, way.step)
        opening, *rest, closing, end = said.split("\n")
        assert opening.startswith("<<<page-")
        assert opening.endswith(' title="A title" address="http://public.example/a"')
        assert rest == ["# Boats", "", WORDS.strip()]
        assert (closing, end) == (opening[8:20] + ">>>", "The page ends here.")
        with pytest.raises(NotFoundError, match=f"has only {len(rest[-1]) + 9} characters"):
            await way.web().read(START, 1_000, way.step)


async def test_a_locked_or_broken_document_says_so() -> None:
    for data, said in ((locked(), "locked"), (b"%PDF-1.7 nonsense", "damaged")):
        with pytest.raises(PageError, match=said):
            await PageReader().read(data, "pdf", "", START, enough(0))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("sleep", "60"), "too long"),
        (("cat",), "damaged"),
        (("yes",), "damaged"),
        (("false",), "damaged"),
        (("/nowhere",), "damaged"),
        (("echo", "[" * 9_000), "damaged"),
        (("echo", '{"fault": "of its own"}'), "damaged"),
        (("echo", '{"title": 1, "text": "", "more": false}'), "damaged"),
    ],
)
async def test_a_process_that_hangs_dies_or_says_anything_else_costs_its_page_alone(
    command: tuple[str, ...], said: str
) -> None:
    within = SOON if command[0] == "sleep" else timedelta(minutes=1)
    with pytest.raises(PageError, match=said):
        await PageReader(within, command=command).read(b"words", "text", "", START, 10)


async def test_pages_come_so_many_at_a_time_and_others_wait_no_longer_than_they_may() -> None:
    async with world(never) as way:
        web = MediaWeb(way.fetch, PageReader(), None, RandomIds(), SOON, at_once=2)
        found = await asyncio.gather(*(web.read(START, 0, way.step) for _ in range(20)), return_exceptions=True)
        assert all(isinstance(each, NotFoundError) and "too long" in str(each) for each in found)
        # Some who wait may just get in when those before give up; without a bound all are in at once.
        assert way.listener.connections < 20


async def test_other_pages_wait_for_a_process_no_longer_than_they_may() -> None:
    async with world() as way:
        busy = PageReader(timedelta(seconds=60), at_once=1, command=("sleep", "60"))
        web = MediaWeb(way.fetch, busy, None, RandomIds(), SOON)
        found = await asyncio.gather(*(web.read(START, 0, way.step) for _ in range(2)), return_exceptions=True)
        assert all(isinstance(each, NotFoundError) and "too long" in str(each) for each in found)
        assert (web.tools, await _unsearched(web)) == ({"read_page"}, True)


async def _unsearched(web: MediaWeb) -> bool:
    with pytest.raises(NotFoundError, match="no search is set up"):
        await web.search("words", lambda: None, lambda usage: None)
    return True

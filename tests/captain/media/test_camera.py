"""Pictures of web pages by a real browser: what it shows, what it never reaches, and that nothing of it is left."""

import asyncio
import io
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from aiohttp import web
from PIL import Image

from clankie_captain.media.camera import PRIVATE, UNKNOWN, Camera, CameraError, Shot
from clankie_captain.media.chromium import Chromium, chromium
from clankie_captain.media.photographer import flags
from clankie_settings import bounds
from tests.captain.media.pages import PATIENCE, Site, forbidden, html, left, serving, usable

pytestmark = [pytest.mark.requirement("ART-2"), pytest.mark.timeout(300)]

RED = "<body style='margin:0;background:#f00'>"


@pytest.fixture
def browser() -> Chromium:
    found = usable()
    if found is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    return found


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Site]:
    """Pages; afterwards nothing of a browser may be left."""
    # A browser's sockets lie in this folder, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        async with serving() as site:
            yield site
            # The machine buries what has lost its parents.
            async with asyncio.timeout(PATIENCE.total_seconds()):
                while left(Path(folder)):  # noqa: ASYNC110 -- nothing tells of the end of other processes
                    await asyncio.sleep(0)


@pytest.fixture
def camera(site: Site, browser: Chromium) -> Camera:
    return site.camera(browser)


def seen(shot: Shot) -> Image.Image:
    picture = Image.open(io.BytesIO(shot.data))
    picture.load()
    return picture.convert("RGB")


class Steps:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


async def take(camera: Camera, path: str = "/", *, full: bool = False, host: str = "public.example") -> Shot:
    return await camera.take(f"http://{host}{path}", lambda: None, full=full)


async def refused(camera: Camera, path: str = "/", host: str = "public.example") -> str:
    with pytest.raises(CameraError) as error:
        await take(camera, path, host=host)
    return str(error.value)


async def test_a_page_is_shown_in_a_window_and_each_step_is_told(site: Site, camera: Camera) -> None:
    site.pages["/"] = html(f"{RED}<script>alert(1); confirm(2); document.body.style.background='#00f'</script>")
    steps = Steps()
    shot = await camera.take("http://public.example/", steps, full=False)
    picture = seen(shot)
    assert picture.size == (bounds.PAGE_WIDTH, bounds.PAGE_HEIGHT)
    assert picture.getpixel((5, 5)) == (0, 0, 255)
    assert (shot.media_type, shot.status, shot.whole, shot.cut) == ("image/png", 200, True, False)
    assert steps.count == 4


async def test_a_long_page_is_shown_from_its_top_and_what_it_says_of_its_height_is_not_believed(
    site: Site, camera: Camera
) -> None:
    site.pages["/long"] = html(f"{RED}<div style='height:10000px'></div>", status=404)
    shot = await take(camera, "/long", full=True)
    assert seen(shot).size == (bounds.PAGE_WIDTH, bounds.PAGE_FULL_HEIGHT)
    assert (shot.cut, shot.status) == (True, 404)
    site.pages["/lies"] = html(
        "<script>Object.defineProperty(document.documentElement,'scrollHeight',{get:()=>'1'.repeat(9)})</script>"
    )
    assert seen(await take(camera, "/lies", full=True)).size == (bounds.PAGE_WIDTH, bounds.PAGE_HEIGHT)


async def test_a_page_with_many_parts_is_shown_with_all_of_them(site: Site, camera: Camera) -> None:
    site.pages["/"] = html("".join(f"<script src='/part{n}'></script>" for n in range(100)))
    for n in range(100):
        site.pages[f"/part{n}"] = html("")
    assert (await take(camera)).whole
    assert {each for each in site.asked if each.startswith("/part")} == {f"/part{n}" for n in range(100)}


def trying(places: list[str], port: int) -> str:
    """A page that asks for each place in every way that a page has."""
    return f"""{RED}<script>
          for (const to of {places}) {{
            for (const tag of ["img", "iframe", "script", "video", "embed"]) {{
              for (const url of [`http://${{to}}/x`, `/leading?to=${{to}}`]) {{
                const made = document.createElement(tag); made.src = url; document.body.append(made);
              }}
            }}
            for (const rel of ["stylesheet", "prefetch", "preconnect", "dns-prefetch", "preload", "icon"]) {{
              const link = document.createElement("link"); link.rel = rel; link.as = "image"; link.href = `http://${{to}}/x`;
              document.head.append(link);
            }}
            for (const scheme of ["ws", "wss"]) try {{ new WebSocket(`${{scheme}}://${{to}}/x`); }} catch (e) {{}}
            try {{ new EventSource(`http://${{to}}/x`); }} catch (e) {{}}
            try {{ navigator.sendBeacon(`http://${{to}}/x`, "x"); }} catch (e) {{}}
            fetch(`http://${{to}}/x`, {{mode: "no-cors"}}).catch(() => 0);
            fetch(`https://${{to}}/x`, {{mode: "no-cors"}}).catch(() => 0);
            window.open(`http://${{to}}/x`);
            const stun = `stun:${{to.includes(":") ? to : to + ":{port}"}}`;
            try {{
              const peer = new RTCPeerConnection({{iceServers: [{{urls: [stun]}}]}});
              peer.createDataChannel("x"); peer.createOffer().then(offer => peer.setLocalDescription(offer));
            }} catch (e) {{}}
          }}
          const frame = document.createElement("iframe"); frame.src = "file:///etc/passwd"; document.body.append(frame);
        </script>"""


@pytest.mark.requirement("SEC-3")
async def test_nothing_on_this_machine_is_reached_whatever_a_page_tries(site: Site, camera: Camera) -> None:
    async with forbidden() as place:
        places = [f"127.0.0.1:{place.port}", f"localhost:{place.port}", f"[::1]:{place.port}", "here.example",
                  "127.0.0.1", "[::1]", "169.254.169.254", "metadata.example", "10.0.0.1"]  # fmt: skip

        async def leading(request: web.Request) -> web.StreamResponse:
            raise web.HTTPFound(f"http://{request.query['to']}/redirected")

        site.pages["/leading"] = leading
        site.pages["/"] = html(trying(places, place.port))
        shot = await take(camera)
        assert shot.status == 200
        assert place.reached == []
    assert site.dialled == {"1.1.1.1"}
    assert site.passages[0].refusals > 60
    assert site.asked.count("/leading") >= len(places)


@pytest.mark.requirement("SEC-3")
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://[::1]/", "http://here.example/", "http://169.254.169.254/latest/", "file:///etc/passwd",
        "chrome://crash", "chrome://settings", "about:blank", "data:text/html,<p>x", "view-source:http://public.example/",
        "javascript:1", "http://public.example:8080/", "http://name:word@public.example/", "", "public.example",
    ],
)  # fmt: skip
async def test_no_browser_is_started_for_an_address_that_is_not_on_the_web(site: Site, url: str) -> None:
    camera = Camera(Chromium(Path("/nowhere"), sandbox=True), site.passage, command=("/nowhere",))
    with pytest.raises(CameraError, match="public web"):
        await camera.take(url, lambda: None, full=False)
    assert site.dialled == set()


@pytest.mark.requirement("SEC-3")
async def test_a_page_that_leads_elsewhere_is_not_shown(site: Site, camera: Camera) -> None:
    async with forbidden() as place:

        async def leading(_: web.Request) -> web.StreamResponse:
            raise web.HTTPFound(f"http://127.0.0.1:{place.port}/")

        site.pages["/"] = leading
        assert await refused(camera) == PRIVATE
        assert place.reached == []


async def test_a_page_that_leads_in_a_circle_or_is_a_file_is_not_shown(site: Site, camera: Camera) -> None:
    async def circle(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("/circle")

    async def file(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * 1000, headers={"Content-Disposition": "attachment; filename=x.bin"})

    site.pages["/circle"], site.pages["/file"] = circle, file
    assert await refused(camera, "/circle") == UNKNOWN
    assert "file to download" in await refused(camera, "/file")
    assert await refused(camera, host="unknown.example") == UNKNOWN


@pytest.mark.requirement("SEC-3")
async def test_a_page_that_never_ends_is_shown_as_far_as_its_bytes_went(site: Site, camera: Camera) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/html"})
        await answer.prepare(request)
        await answer.write(RED.encode())
        while True:
            await answer.write(b"<!-- " + b"x" * 60_000 + b" -->")

    site.pages["/"], site.most = endless, 4_000_000
    picture = seen(await take(camera))
    assert picture.getpixel((5, 5)) == (255, 0, 0)
    assert site.passages[0].passed < 4_200_000


async def test_a_server_that_says_nothing_ends_at_the_bound(site: Site, browser: Chromium) -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    site.pages["/"] = silent
    assert "too long" in await refused(site.camera(browser, timedelta(seconds=4)))


async def test_a_page_that_keeps_its_browser_busy_ends_at_the_bound(site: Site, browser: Chromium) -> None:
    site.pages["/"] = html(f"{RED}<script>setTimeout(() => {{ while (true); }}, 0)</script>")
    assert await refused(site.camera(browser, timedelta(seconds=6))) in {
        "the page took too long",
        "the page never holds still",
    }


async def test_a_page_that_takes_all_memory_costs_its_browser_alone(site: Site, camera: Camera) -> None:
    site.pages["/"] = html(
        "<script>const kept = []; while (true) { const b = new Uint8Array(1 << 26); b.fill(1); kept.push(b); }</script>"
    )
    assert await refused(camera) in {"the page takes too much memory", "the page made its browser crash"}


async def test_a_picture_that_is_given_up_leaves_nothing(site: Site, camera: Camera) -> None:
    arrived = asyncio.Event()

    async def silent(request: web.Request) -> web.StreamResponse:
        arrived.set()
        await asyncio.Event().wait()
        return web.Response()

    site.pages["/"] = silent
    taking = asyncio.ensure_future(take(camera))
    async with asyncio.timeout(PATIENCE.total_seconds()):
        await arrived.wait()
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking


async def test_a_browser_that_is_killed_costs_its_picture_alone(site: Site, camera: Camera) -> None:
    async def deadly(request: web.Request) -> web.StreamResponse:
        for each in psutil.Process().children(recursive=True):
            if "chrom" in each.name():
                each.send_signal(signal.SIGKILL)
        return web.Response()

    site.pages["/"], site.pages["/fine"] = deadly, html(RED)
    assert await refused(camera) in {UNKNOWN, "the page made its browser crash"}
    assert (await take(camera, "/fine")).status == 200


@pytest.mark.parametrize(
    "said", [b"", b"{}\n", b"[1\n", b'{"bytes": 9, "status": 200, "whole": true, "cut": false}\nnopicture',
             b'{"bytes": 99999999999, "status": 200, "whole": true, "cut": false}\n', b"x" * 100_000]
)  # fmt: skip
async def test_a_driver_that_says_what_was_not_agreed_is_a_failure(site: Site, said: bytes) -> None:
    program = f"import sys; sys.stdin.read(); sys.stdout.buffer.write({said!r})"
    camera = site.camera(Chromium(Path("/nowhere"), sandbox=True), command=(sys.executable, "-c", program))
    assert "tell whoever runs me" in await refused(camera)


async def test_a_browser_that_starts_is_told_from_one_that_does_not(site: Site, camera: Camera) -> None:
    assert await camera.starts()
    assert not await Camera(Chromium(Path("/bin/false"), sandbox=True)).starts()
    assert site.passages == []


async def test_a_browser_that_does_not_start_is_a_failure(site: Site) -> None:
    assert "does not start" in await refused(site.camera(Chromium(Path("/bin/false"), sandbox=True)))
    assert "failed" in await refused(site.camera(Chromium(Path("/bin/false"), sandbox=True), command=("/nowhere",)))


async def test_pages_wait_for_one_another_and_not_for_ever(site: Site, browser: Chromium) -> None:
    program = "import sys, time; sys.stdin.read(); time.sleep(600)"
    camera = site.camera(browser, timedelta(seconds=1), (sys.executable, "-c", program))
    told = await asyncio.gather(refused(camera), refused(camera), refused(camera))
    assert {*told} <= {"the page took too long", "other pages are being shown; try again in a minute"}


def test_the_browser_is_the_machines_own_and_only_with_its_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chromium(None, sandbox=True, path=str(tmp_path)) == "browser"
    assert chromium(tmp_path / "none", sandbox=True) == "browser"
    program = tmp_path / "google-chrome"
    program.touch(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium(None, sandbox=True, path=str(tmp_path)) == Chromium(program, sandbox=True)
    assert chromium(program, sandbox=True) == Chromium(program, sandbox=True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert chromium(program, sandbox=True) == "sandbox"
    assert chromium(program, sandbox=False) == Chromium(program, sandbox=False)
    monkeypatch.setitem(sys.modules, "playwright", None)
    assert chromium(program, sandbox=False) == "package"


@pytest.mark.requirement("SEC-3")
def test_a_browser_knows_one_way_out() -> None:
    started = flags("http://127.0.0.1:9")
    assert {"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disable-quic"} <= set(started)

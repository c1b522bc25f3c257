"""Films, made and taken apart by a real ffmpeg: frames in order inside the bound, or a cause; no exception."""

import struct
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie_captain.core.pictures import Cause, Decoded, Part, Undecodable
from clankie_captain.media import frames, worker
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.film_program import film_program, lacking
from clankie_captain.media.parcels import FAULTS, Errand
from clankie_settings import bounds
from tests.captain.media.drawing import read
from tests.captain.media.filming import H264, VP9, Studio

RED, LIME, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


async def shown(decoder: WorkerDecoder, data: bytes, most: int = 4) -> tuple[Part, ...]:
    found = await decoder.decode(data, most)
    assert isinstance(found, Decoded), found
    assert 1 <= len(found.parts) <= most
    for part in found.parts:
        assert part.media_type == "image/png"
        assert read(part.data).size == (part.width, part.height)
        assert max(part.width, part.height) <= bounds.FRAME_SIDE
        assert len(part.data) <= bounds.PICTURE_PART_BYTES
    return found.parts


def middle(part: Part) -> tuple[int, int, int]:
    """The colour in the middle, as the nearest of those that tests film."""
    image = read(part.data).convert("RGB")
    found = image.getpixel((image.width // 2, image.height // 2))
    assert isinstance(found, tuple)
    return min((RED, LIME, BLUE, WHITE), key=lambda each: sum(abs(a - b) for a, b in zip(each, found, strict=True)))


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize(
    ("most", "colours"), [(1, [RED]), (2, [RED, WHITE]), (3, [RED, LIME, WHITE]), (4, [RED, BLUE, LIME, WHITE])]
)
async def test_frames_come_in_order_with_the_first_and_the_last(
    decoder: WorkerDecoder, studio: Studio, most: int, colours: list[tuple[int, int, int]]
) -> None:
    film = studio.colours("red", "blue", "lime", "white")
    assert [middle(part) for part in await shown(decoder, film, most)] == colours


KINDS = ["mp4", "fragments", "webm", "vp8", "av1", "live", "sound too", "high rate", "ten bits"]


def of_kind(studio: Studio, kind: str) -> bytes:
    colours = ("red", "blue", "lime", "white")
    match kind:
        case "fragments":
            return studio.colours(*colours, codec=(*H264, "-movflags", "frag_keyframe+empty_moov+default_base_moof"))
        case "webm":
            return studio.colours(*colours, codec=VP9, form="webm")
        case "vp8":
            return studio.colours(*colours, codec=("-c:v", "libvpx", "-deadline", "realtime"), form="webm")
        case "av1":
            return studio.colours(*colours, codec=("-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime"))
        case "live":
            return studio.colours(*colours, codec=(*VP9, "-live", "1"), form="webm")
        case "sound too":
            tone = ("-f", "lavfi", "-i", "sine=duration=2", "-map", "4:a", "-c:a", "aac")
            return studio.colours(*colours, codec=H264, more=tone)
        case "high rate":
            return studio.colours(*colours, codec=(*H264, "-r", "120"))
        case "ten bits":
            return studio.colours(
                *colours, codec=("-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le")
            )
        case _:
            return studio.colours(*colours)


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_film_shows_its_moments(decoder: WorkerDecoder, studio: Studio, kind: str) -> None:
    """With and without an index or a duration, in every codec that Discord serves."""
    found = await shown(decoder, of_kind(studio, kind))
    assert [middle(part) for part in found] == [RED, BLUE, LIME, WHITE]


SIZES = {
    "odd": (("401x301", "scale=401:301", ("-pix_fmt", "yuv444p")), (401, 301)),
    "wide": (("2000x1000", "", ()), (1024, 512)),
    "tall": (("300x2400", "", ()), (128, 1024)),
    "one line": (("64x48", "scale=2:1200,setsar=1", ("-pix_fmt", "yuv444p")), (2, 1024)),
    "long pixels": (("64x48", "setsar=2/1", ()), (128, 48)),
    "pixels too long": (("64x48", "setsar=40/1", ()), (1024, 19)),
}


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("kind", SIZES)
async def test_frames_keep_their_proportions_inside_the_bound(
    decoder: WorkerDecoder, studio: Studio, kind: str
) -> None:
    """C75: nothing is encoded as video again, so that odd sides are no trap."""
    (size, through, codec), wanted = SIZES[kind]
    film = studio.pattern(*H264, *codec, size=size, seconds=0.3, through=through)
    (first, *_) = await shown(decoder, film)
    assert abs(first.width - wanted[0]) <= 1
    assert abs(first.height - wanted[1]) <= 1


@pytest.mark.requirement("IMG-5")
async def test_the_smallest_film_is_a_frame(decoder: WorkerDecoder, studio: Studio) -> None:
    """C75: 1 x 1."""
    film = studio.pattern(*VP9, "-pix_fmt", "yuv444p", size="16x16", seconds=0.2, through="scale=1:1", form="webm")
    assert {(part.width, part.height) for part in await shown(decoder, film)} == {(1, 1)}


@pytest.mark.requirement("IMG-5")
async def test_a_phone_held_upright_shows_upright_frames(decoder: WorkerDecoder, studio: Studio) -> None:
    """C75: a display matrix of a quarter turn."""
    film = bytearray(studio.pattern(size="64x48", seconds=0.3))
    at = film.index(b"tkhd") + 4 + 40
    film[at : at + 36] = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)
    (first, *_) = await shown(decoder, bytes(film))
    assert (first.width, first.height) == (48, 64)


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
async def test_a_film_of_high_range_shows_frames(decoder: WorkerDecoder, studio: Studio, transfer: str) -> None:
    """C75: pale is better than none."""
    tags = ("-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
    film = studio.pattern(
        "-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le", *tags, seconds=0.5
    )
    assert len(await shown(decoder, film)) == bounds.PICTURE_FRAMES


@pytest.mark.requirement("IMG-5")
async def test_a_film_with_clear_parts_shows_frames(decoder: WorkerDecoder, studio: Studio) -> None:
    """C75: WebM with alpha."""
    film = studio.pattern(*VP9, "-pix_fmt", "yuva420p", seconds=0.5, through="format=yuva420p", form="webm")
    assert read((await shown(decoder, film))[0].data).mode == "RGB"


@pytest.mark.requirement("IMG-5")
async def test_a_film_whose_pictures_come_at_odd_times_is_sampled_in_time(
    decoder: WorkerDecoder, studio: Studio
) -> None:
    """C75: a screen that stands still for long and then changes often: by count alone, its stillness would be lost."""
    late = "select='not(mod(n,18))+gte(n,36)'"
    film = studio.colours("red", "blue", seconds=2, through=late, codec=("-fps_mode", "vfr", *H264))
    assert [middle(part) for part in await shown(decoder, film)] == [RED, RED, BLUE]


@pytest.mark.requirement("IMG-5")
async def test_beyond_a_minute_nothing_is_looked_at(decoder: WorkerDecoder, studio: Studio) -> None:
    film = studio.film(
        *("-f", "lavfi", "-i", "color=lime:s=64x48:r=5:d=60.4", "-f", "lavfi", "-i", "color=red:s=64x48:r=5:d=1"),
        *("-filter_complex", "[0:v][1:v]concat=n=2:v=1[out]", "-map", "[out]", *H264),
    )
    assert [middle(part) for part in await shown(decoder, film)] == [LIME] * 4


@pytest.mark.requirement("IMG-5")
async def test_a_film_of_one_frame_is_one_part(decoder: WorkerDecoder, studio: Studio) -> None:
    assert len(await shown(decoder, studio.pattern(seconds=0.1))) == 1


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize(("form", "cause"), [("mp4", "unsupported"), ("webm", "unsupported")])
async def test_sound_alone_is_no_picture(decoder: WorkerDecoder, studio: Studio, form: str, cause: Cause) -> None:
    assert await decoder.decode(studio.sound(form), 4) == Undecodable(cause)


@pytest.mark.requirement("IMG-5")
async def test_a_film_that_is_cut_off_shows_what_came(decoder: WorkerDecoder, studio: Studio) -> None:
    film = studio.pattern(*H264, "-movflags", "faststart", "-g", "5", size="160x120", seconds=3)
    whole = await shown(decoder, film)
    cut = await shown(decoder, film[: len(film) * 2 // 3])
    assert cut[0] == whole[0]
    assert 2 <= len(cut) <= len(whole)


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("kept", [8, 12, 40, 200])
async def test_a_film_without_its_index_is_counted(decoder: WorkerDecoder, studio: Studio, kept: int) -> None:
    """The beginning of a film alone, or of a file that is empty behind it."""
    film = studio.colours("red", "blue")
    for data in (film[:kept], film[:kept] + bytes(5_000)):
        found = await decoder.decode(data, 4)
        assert isinstance(found, Undecodable)
        assert found.cause in ("broken", "unsupported")


@pytest.mark.requirement("IMG-5")
async def test_rubbish_in_the_middle_of_a_film_is_no_exception(decoder: WorkerDecoder, studio: Studio) -> None:
    film = bytearray(studio.pattern(seconds=1))
    for at in range(film.index(b"mdat") + 8, len(film), 97):
        film[at] ^= 0x5A
    assert isinstance(await decoder.decode(bytes(film), 4), Decoded | Undecodable)


@pytest.mark.requirement("IMG-5")
@given(data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_became_of_a_film_it_is_shown_or_counted(studio: Studio, tmp_path: Path, data: st.DataObject) -> None:
    film = bytearray(studio.pattern(*data.draw(st.sampled_from([H264, VP9])), seconds=0.5, form="mp4"))
    for _ in range(data.draw(st.integers(1, 12))):
        film[data.draw(st.integers(8, len(film) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(film[: data.draw(st.integers(8, len(film)))])
    folder = tmp_path / "film"
    folder.mkdir(exist_ok=True)
    found = worker.decoded(Errand("video", 4, len(cut), 30.0, str(folder), str(studio.program)), cut)
    assert found in FAULTS or 1 <= len(found) <= 4
    assert not folder.exists()


@pytest.mark.requirement("IMG-5")
async def test_without_ffmpeg_films_are_unavailable_and_animations_are_not(studio: Studio) -> None:
    """C56: its absence is a cause and one warning at the start, and no exception."""
    film = studio.colours("red", "blue")
    with structlog.testing.capture_logs() as said:
        decoder = WorkerDecoder(None)
    assert [(line["event"], line["log_level"]) for line in said] == [("films.unavailable", "warning")]
    assert await decoder.decode(film, 4) == Undecodable("unavailable")
    gone = WorkerDecoder(Path("/nowhere/ffmpeg"))
    assert await gone.decode(film, 4) == Undecodable("unavailable")


@pytest.mark.requirement("OPS-9")
def test_the_program_that_is_found_reads_what_discord_serves(studio: Studio) -> None:
    assert lacking(studio.program) == ()


@pytest.mark.requirement("OPS-9")
def test_the_machines_own_ffmpeg_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "ffmpeg"
    own.write_text("#!/bin/sh\necho ' V....D vp9   Google VP9'\n", "utf-8")
    own.chmod(0o755)
    assert film_program(str(tmp_path)) == own
    assert lacking(own) == ("h264", "hevc", "vp8", "av1")
    own.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    assert lacking(own) is None
    assert lacking(tmp_path / "none") is None


@given(st.lists(st.floats(0, 60), min_size=1, max_size=40, unique=True).map(sorted), st.integers(1, 4))
def test_moments_are_times_of_the_film_in_order_with_both_ends(times: list[float], most: int) -> None:
    chosen = frames.moments(times, most)
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(times)
    assert chosen[0] == times[0]
    assert len(chosen) <= most
    assert most == 1 or chosen[-1] == times[-1]


def test_moments_lie_evenly_in_time_and_not_in_number() -> None:
    times = [0.0, *(5 + at / 100 for at in range(100)), 6.0]
    assert frames.moments(times, 4) == [0.0, 5.0, 6.0]


@pytest.mark.parametrize("listing", ["", "#tb 0: 1/10\n", "#software: x\n#tb 0: 1/10\n#sar 0: 1/1\n"])
def test_a_listing_of_nothing_has_no_times(listing: str) -> None:
    assert frames.times(listing) == []


def test_times_come_in_the_order_of_showing_and_without_what_is_cut_before_the_start() -> None:
    listing = (
        "#tb 0: 1/10\n0,  -2,  -1, 1, 9, 0x1\n0,  -1,  0, 1, 9, 0x1\n0, 0, 4, 1, 9, 0x1, F=0x0\n0, 1, 2, 1, 9, 0x1\n"
    )
    assert frames.times(listing) == [0.0, pytest.approx(0.2), pytest.approx(0.4)]

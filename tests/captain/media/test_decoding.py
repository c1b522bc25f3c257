"""Stills and animations as a worker decodes them: what comes out is a picture that any provider takes."""

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from PIL.GifImagePlugin import GifImageFile

from clankie_captain.core.pictures import Decoded, Undecodable, sniff
from clankie_captain.media import worker
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.faults import OutOfTimeError
from clankie_captain.media.parcels import FAULTS, Errand, Shot
from clankie_settings import bounds
from tests.captain.media.drawing import animated, chunk, colours, noise, read, saved, srgb

RED, LIME, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def parts(data: bytes, most: int = 4) -> list[Shot]:
    """What a worker makes of a picture; here without the process, which ``test_decoding_bounds`` and others have."""
    found = worker.decoded(Errand(str(sniff(data)), min(most, bounds.PICTURE_FRAMES), len(data), 5.0), data)
    assert isinstance(found, list), found
    for shot in found:
        image = read(shot.data)
        assert (image.width, image.height) == (shot.width, shot.height)
        assert f"image/{str(image.format).lower()}" == shot.media_type
        assert len(shot.data) <= bounds.PICTURE_PART_BYTES
    return found


def still(data: bytes) -> Image.Image:
    (part,) = parts(data)
    assert max(part.width, part.height) <= bounds.PICTURE_SIDE
    return read(part.data)


def near(image: Image.Image, at: tuple[int, int], colour: tuple[int, int, int], by: int = 12) -> bool:
    found = image.convert("RGB").getpixel(at)
    assert isinstance(found, tuple)
    return all(abs(one - other) <= by for one, other in zip(found, colour, strict=True))


def quarters() -> Image.Image:
    """Red left, blue right; lime in the corner that comes first."""
    image = Image.new("RGB", (80, 40), RED)
    draw = ImageDraw.Draw(image)
    draw.rectangle((40, 0, 79, 39), fill=BLUE)
    draw.rectangle((0, 0, 15, 15), fill=LIME)
    return image


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize(
    ("form", "comes"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/png"), ("WEBP", "image/png")]
)
def test_a_still_of_each_type_comes_out_whole(form: str, comes: str) -> None:
    (part,) = parts(saved(quarters(), form))
    image = read(part.data)
    assert (part.media_type, image.size) == (comes, (80, 40))
    assert near(image, (60, 20), BLUE)
    assert near(image, (5, 30), RED)


@pytest.mark.requirement("IMG-3")
def test_noise_that_fills_the_fetch_ceiling_fits_the_provider() -> None:
    """C32: 1,400 x 1,400 of noise are 5.9 MB of PNG, and 7.9 MB of base64."""
    data = saved(noise(1400, 1400))
    assert bounds.PICTURE_PART_BYTES < len(data) < bounds.ATTACHMENT_BYTES
    (part,) = parts(data)
    assert part.media_type == "image/jpeg"


@pytest.mark.requirement("IMG-3")
def test_all_parts_of_a_delivery_fit_one_request_of_the_strictest_provider() -> None:
    """C32: limits are on the encoded length; 20 MB is Google's for a whole request, 5 MiB Anthropic's for a picture."""
    encoded = (bounds.PICTURE_PART_BYTES + 2) // 3 * 4
    assert encoded <= 5 * 1024 * 1024
    assert encoded * bounds.PICTURE_PARTS <= 20_000_000


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("size", [(12_000, 40), (40, 12_000), (12_000, 1), (1, 12_000), (1, 1), (3000, 2000)])
def test_no_side_is_longer_than_what_is_looked_at_or_nothing(size: tuple[int, int]) -> None:
    image = still(saved(Image.new("RGB", size, RED)))
    assert max(image.size) == min(max(size), bounds.PICTURE_SIDE)
    assert min(image.size) >= 1
    assert near(image, (0, 0), RED)


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stands_upright(orientation: int) -> None:
    back = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    lying = quarters() if back is None else quarters().transpose(back)
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = still(saved(lying, "JPEG", exif=exif, quality=95, subsampling=0))
    assert image.size == (80, 40)
    assert near(image, (5, 5), LIME, by=40)
    assert near(image, (20, 30), RED, by=40)
    assert near(image, (60, 20), BLUE, by=40)


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_nothing_that_is_not_the_picture_comes_out(form: str) -> None:
    """Where somebody was, what they wrote about it, and what their camera is called."""
    exif = Image.Exif()
    exif[0x010E] = exif[0x013B] = "canary-7f3a"
    exif.get_ifd(0x8825)[29] = "canary-7f3a"
    profile = srgb()
    more = {"comment": b"canary-7f3a"} if form in ("JPEG", "GIF") else {}
    data = saved(quarters(), form, exif=exif, xmp=b"<x>canary-7f3a</x>", icc_profile=profile, **more)
    if form == "PNG":
        at = data.index(b"IDAT") - 4
        data = data[:at] + chunk(b"tEXt", b"Comment\x00canary-7f3a") + data[at:]
    assert b"canary-7f3a" in data
    (part,) = parts(data)
    assert not {key for key in read(part.data).info if key not in ("jfif", "jfif_version", "jfif_unit", "jfif_density")}
    assert b"canary" not in part.data
    assert b"ICC" not in part.data
    assert b"Exif" not in part.data


def painted(index: int) -> Image.Image:
    """Black and red by a palette; all of it one of them, and a dot of the other."""
    image = Image.new("P", (40, 30), index)
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 0, 255])
    image.putpixel((0, 0), 1 - index)
    image.putpixel((1, 0), 2)
    return image


MODES = {
    "one bit": saved(Image.new("1", (40, 30), 1)),
    "grey": saved(Image.new("L", (40, 30), 255)),
    "grey with alpha": saved(Image.new("LA", (40, 30), (255, 255))),
    "sixteen bits of grey": saved(Image.new("I;16", (40, 30), 65_535)),
    "palette": saved(Image.new("RGB", (40, 30), WHITE).convert("P")),
    "palette with one clear colour": saved(painted(1), transparency=1),
    "palette with alphas": saved(painted(1), transparency=bytes([255, 0, 128])),
    "clear": saved(Image.new("RGBA", (40, 30), (0, 0, 0, 0))),
    "clear WebP": saved(Image.new("RGBA", (40, 30), (0, 0, 0, 0)), "WEBP", lossless=True, exact=True),
    "RGB with one clear colour": saved(Image.new("RGB", (40, 30), RED), transparency=RED),
    "CMYK": saved(Image.new("CMYK", (40, 30), (0, 0, 0, 0)), "JPEG"),
    "YCbCr": saved(Image.new("YCbCr", (40, 30), (255, 128, 128)), "JPEG"),
}


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("kind", MODES)
def test_every_kind_of_pixel_comes_out_as_what_a_person_sees(kind: str) -> None:
    """Each of them is white, or nothing on white."""
    image = still(MODES[kind])
    assert image.mode in ("L", "RGB")
    assert near(image, (20, 15), WHITE)


@pytest.mark.requirement("IMG-3")
def test_sixteen_bits_of_grey_keep_their_middle() -> None:
    image = still(saved(Image.new("I;16", (4, 4), 0x8000)))
    assert near(image, (1, 1), (128, 128, 128), by=1)


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize(("ink", "ground"), [(WHITE, "dark"), ((0, 0, 0), "white")])
def test_what_is_drawn_on_nothing_can_be_read(ink: tuple[int, int, int], ground: str) -> None:
    image = Image.new("RGBA", (60, 60), (*ink, 0))
    ImageDraw.Draw(image).rectangle((10, 10, 50, 20), fill=(*ink, 255))
    seen = (still(saved(image))).convert("L")
    contrast = abs(int(str(seen.getpixel((30, 15)))) - int(str(seen.getpixel((30, 40)))))
    assert contrast > 150, ground


@pytest.mark.requirement("IMG-3")
def test_colours_follow_the_profile() -> None:
    """A profile that swaps red and blue, as its matrix says, is followed; one that is broken costs nothing."""
    profile = srgb()
    swapped = profile.replace(b"rXYZ", b"????").replace(b"bXYZ", b"rXYZ").replace(b"????", b"bXYZ")
    assert near(still(saved(Image.new("RGB", (9, 9), RED), icc_profile=swapped)), (4, 4), BLUE, by=60)
    for broken in (bytes(profile[:60]), b"no profile", profile.replace(b"RGB ", b"CMYK")):
        image = still(saved(Image.new("RGB", (9, 9), RED), icc_profile=broken))
        assert near(image, (4, 4), RED)


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_what_moves_comes_as_chronological_frames_with_first_and_last(form: str) -> None:
    """C59: GIF, APNG and animated WebP, each known by its content, and never passed on as it is."""
    data = animated(colours("red", "white", "blue", "black", "white", "black", "lime"), form)
    found = parts(data)
    assert {part.media_type for part in found} == {"image/png"}
    seen = [read(part.data) for part in found]
    assert len(seen) == bounds.PICTURE_FRAMES
    assert [near(image, (20, 20), colour) for image, colour in zip(seen, (RED, BLUE, WHITE, LIME), strict=True)] == [
        True
    ] * 4


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
@pytest.mark.parametrize(
    ("most", "shown"), [(1, [RED]), (2, [RED, LIME]), (3, [RED, BLUE, LIME]), (9, [RED, BLUE, LIME])]
)
def test_a_moving_picture_shows_as_many_frames_as_there_is_room_for(
    form: str, most: int, shown: list[tuple[int, int, int]]
) -> None:
    found = parts(animated(colours("red", "blue", "lime"), form), most)
    assert len(found) == len(shown)
    assert all(near(read(part.data), (20, 20), colour) for part, colour in zip(found, shown, strict=True))


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_an_animation_of_one_frame_is_a_still(form: str) -> None:
    """C59."""
    assert len(parts(animated(colours("red"), form))) == 1


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_frames_lie_inside_their_own_bound(form: str) -> None:
    found = parts(animated(colours("red", "lime", size=(2000, 1000)), form))
    assert [(part.width, part.height) for part in found] == [(1024, 512)] * 2


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("disposal", [0, 1, 2, 3])
def test_frames_are_laid_on_one_another_as_a_viewer_shows_them(disposal: int) -> None:
    """C59: a dot that wanders over nothing, with no time between."""
    frames: list[Image.Image] = []
    for at in range(5):
        image = Image.new("RGBA", (50, 20), (0, 0, 0, 0))
        ImageDraw.Draw(image).rectangle((at * 10, 5, at * 10 + 9, 15), fill=(255, 0, 0, 255))
        frames.append(image)
    found = parts(animated(frames, "GIF", disposal=disposal, duration=0))
    assert near(read(found[0].data), (5, 10), RED)
    assert near(read(found[-1].data), (45, 10), RED)


@pytest.mark.requirement("IMG-5")
def test_five_hundred_frames_are_four() -> None:
    """C59."""
    frames = [Image.new("L", (120, 90), at % 250) for at in range(500)]
    assert len(parts(animated(frames, "GIF"))) == bounds.PICTURE_FRAMES


def number(image: Image.Image) -> int:
    """Which frame it is, of those that have their number as colour."""
    found = image.convert("RGB").getpixel((4, 4))
    assert isinstance(found, tuple)
    return found[0] >> 5 << 5 | found[1] >> 3


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize(
    ("over_at", "reached"),
    [(1, [0]), (3, [0, 2]), (40, [0, 32]), (200, [0, 85, 170]), (180, [0, 85, 170]), (150, [0, 85, 128])],
)
def test_where_time_runs_out_it_is_shown_how_far_an_animation_came(
    monkeypatch: pytest.MonkeyPatch, over_at: int, reached: list[int]
) -> None:
    seek = GifImageFile.seek

    def slow(image: GifImageFile, frame: int) -> None:
        if frame == over_at:
            raise OutOfTimeError
        seek(image, frame)

    # Each frame's number is its colour.
    drawn = [Image.new("RGB", (8, 8), (at >> 5 << 5, (at & 31) << 3, 0)) for at in range(256)]
    data = animated(drawn, "GIF")
    monkeypatch.setattr(GifImageFile, "seek", slow)
    assert [number(read(shot.data)) for shot in parts(data)] == reached


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("claims", [1, 2, 400, 2**31 - 1])
def test_an_animation_that_claims_more_frames_than_it_has_shows_those(claims: int) -> None:
    data = animated(colours("red", "blue", "lime"), "PNG")
    at = data.index(b"acTL") + 4
    lied = data[: at - 8] + chunk(b"acTL", struct.pack(">II", claims, 0)) + data[at + 12 :]
    found = parts(lied)
    assert near(read(found[0].data), (20, 20), RED)
    assert len(found) == min(3, claims) or claims == 1


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_an_animation_that_is_cut_off_shows_the_frames_that_are_whole(form: str) -> None:
    data = animated([noise(60 + at, 60).crop((0, 0, 60, 60)) for at in range(6)], form)
    found = parts(data[: len(data) * 2 // 3])
    assert 2 <= len(found) <= 4


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.98])
def test_a_still_that_is_cut_off_is_refused(form: str, kept: float) -> None:
    """C13's kind: half a picture looks like a whole one to whoever is only shown it."""
    data = saved(noise(200, 200), form)
    assert worker.decoded(Errand(form.lower(), 4, 0, 5.0), data[: int(len(data) * kept)]) == "broken"


GOOD = [
    saved(noise(24, 20)),
    saved(noise(24, 20), "JPEG"),
    saved(noise(24, 20), "GIF"),
    saved(noise(24, 20), "WEBP"),
    animated(colours("red", "blue", "lime"), "GIF"),
    animated(colours("red", "blue", "lime"), "PNG"),
    animated(colours("red", "blue", "lime"), "WEBP"),
]
FORMS = ["png", "jpeg", "gif", "webp", "gif", "png", "webp"]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A picture with some bytes changed, left out, or doubled."""
    which = draw(st.integers(0, len(GOOD) - 1))
    data = bytearray(GOOD[which])
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.sampled_from(["set", "cut", "double"])):
            case "set":
                data[at] = draw(st.integers(0, 255))
            case "cut":
                del data[at : at + draw(st.integers(1, 8))]
            case _:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
        if not data:
            break
    return FORMS[which], bytes(data)


def answered(form: str, data: bytes) -> None:
    found = worker.decoded(Errand(form, 4, len(data), 5), data)
    if isinstance(found, str):
        assert found in FAULTS
    else:
        assert 1 <= len(found) <= 4
        for shot in found:
            assert read(shot.data).size == (shot.width, shot.height)


@pytest.mark.requirement("IMG-3")
@given(mutated())
@settings(max_examples=150, deadline=None)
def test_whatever_became_of_a_picture_it_is_decoded_or_counted(picture: tuple[str, bytes]) -> None:
    answered(*picture)


@pytest.mark.requirement("IMG-3")
async def test_more_bytes_than_are_fetched_are_handed_to_nobody() -> None:
    decoder = WorkerDecoder(None, command=("/nowhere/worker",))
    assert await decoder.decode(saved(quarters()) + bytes(bounds.ATTACHMENT_BYTES), 4) == Undecodable("too_large")


@pytest.mark.requirement("IMG-3")
@given(st.sampled_from(["png", "jpeg", "gif", "webp"]), st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_bytes_behind_a_true_beginning_are_decoded_or_counted(form: str, data: bytes) -> None:
    beginnings = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff", "gif": b"GIF89a", "webp": b"RIFF\0\1\0\0WEBP"}
    answered(form, beginnings[form] + data)


@pytest.mark.requirement("IMG-3")
@given(data=st.binary(max_size=64) | mutated().map(lambda each: each[1]))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_bytes_at_all_get_an_answer_from_a_real_worker(decoder: WorkerDecoder, data: bytes) -> None:
    assert isinstance(await decoder.decode(data, 4), Decoded | Undecodable)

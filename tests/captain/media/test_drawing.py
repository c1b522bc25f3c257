"""Diagrams drawn by the real library in a process of its own."""

import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pydantic import TypeAdapter

from clankie_captain.core.diagram import Diagram, source
from clankie_captain.media.drawing import Draughtsman, DrawingError
from clankie_captain.media.furnishing import furnished
from clankie_captain.ports import NotMadeError
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings

pytestmark = pytest.mark.requirement("ART-2")

DIAGRAM: TypeAdapter[Diagram] = TypeAdapter(Diagram)
NASTY = (
    "1. list", "- dash", "# `code` **bold**", "end", "%%{init: {}}%%", "click a href", "a\\nb", "<script>x</script>",
    "日本語 ünï 🎉", '"; DROP', "#quot;", "$$x^2$$", "fa:fa-car", "\u202e\u0000", "x" * 120,
)  # fmt: skip
FLOW = {
    "kind": "flow",
    "steps": [{"id": str(n), "label": text} for n, text in enumerate(NASTY)],
    "links": [{"source": str(n), "target": str(n + 1), "label": NASTY[n]} for n in range(len(NASTY) - 1)],
}
SEQUENCE = {
    "kind": "sequence",
    "parties": [{"id": str(n), "label": text} for n, text in enumerate(NASTY[:12])],
    "messages": [{"source": str(n % 12), "target": str((n + 1) % 12), "text": text} for n, text in enumerate(NASTY)],
}
ENTITIES = {
    "kind": "entities",
    "entities": [
        {"id": str(n), "label": text, "columns": [{"name": text, "type": text[:60], "key": "primary"}]}
        for n, text in enumerate(NASTY)
    ],
    "relations": [{"source": str(n), "target": str(n + 1), "label": NASTY[n]} for n in range(len(NASTY) - 1)],
}

PATIENCE = timedelta(minutes=4)


def _image(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize("given", [FLOW, SEQUENCE, ENTITIES], ids=["flow", "sequence", "entities"])
async def test_every_kind_is_drawn_on_paper_whatever_its_labels_hold(given: dict[str, object]) -> None:
    image = _image(await Draughtsman(PATIENCE).draw(source(DIAGRAM.validate_python(given))))
    assert image.format == "PNG"
    assert max(image.size) <= bounds.DRAWING_SIDE
    colours = image.convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert max(colours)[1] == (255, 255, 255)
    assert len(colours) > 10


async def test_the_largest_diagram_that_is_taken_can_be_drawn() -> None:
    steps = [{"id": str(n), "label": "step " * 20} for n in range(bounds.DIAGRAM_ITEMS)]
    links = [
        {"source": str(n % bounds.DIAGRAM_ITEMS), "target": str((n * 7 + 1) % bounds.DIAGRAM_ITEMS), "label": "then"}
        for n in range(bounds.DIAGRAM_LINKS)
    ]
    image = _image(
        await Draughtsman(PATIENCE).draw(
            source(DIAGRAM.validate_python({"kind": "flow", "steps": steps, "links": links}))
        )
    )
    assert max(image.size) <= bounds.DRAWING_SIDE


@pytest.mark.parametrize(
    ("program", "within_s", "words"),
    [
        ("import time; time.sleep(60)", 0.5, "took too long"),
        ("raise SystemExit(3)", 60, "failed"),
        ("print('no picture')", 60, "failed"),
        ("import sys; sys.stdout.write('x' * 9_000_000)", 60, "failed"),
    ],
    ids=["hangs", "fails", "says something else", "says too much"],
)
async def test_a_program_that_does_not_draw_is_reported_in_words(program: str, within_s: float, words: str) -> None:
    broken = Draughtsman(timedelta(seconds=within_s), (sys.executable, "-I", "-c", program))
    with pytest.raises(DrawingError, match=words):
        await broken.draw("flowchart TD\n")


async def test_a_drawing_ends_before_its_run_would_be_taken_for_dead(tmp_path: Path) -> None:
    given = {"state": tmp_path, "discord_attachment_root": tmp_path, "browser": "/nowhere", "stall_seconds": 0.01}
    with pytest.raises(NotMadeError, match="took too long"):
        await furnished(CaptainSettings.model_validate(given)).diagram("flowchart TD\n", "steps", lambda: None)


async def test_a_program_that_is_not_there_is_reported_in_words() -> None:
    with pytest.raises(DrawingError, match="failed"):
        await Draughtsman(command=("/nowhere/at/all",)).draw("flowchart TD\n")

"""A diagram as structure: what the library reads says nothing but what the structure says."""

import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from clankie_captain.core.diagram import Diagram, Entities, Flow, Sequence, source
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("ART-2")

DIAGRAM: TypeAdapter[Diagram] = TypeAdapter(Diagram)
LABELS = st.text(min_size=1, max_size=bounds.DIAGRAM_LABEL_CHARS)
NAMES = st.text(min_size=1, max_size=20)
ORDINARY = set(string.ascii_letters + string.digits + ' \n"-.>|{}[]()#;:_o')


def test_a_flow_names_its_boxes_by_number_and_its_labels_by_entities() -> None:
    flow = DIAGRAM.validate_python(
        {
            "kind": "flow",
            "direction": "right",
            "steps": [
                {"id": "a", "label": "Is it 1?", "shape": "decision"},
                {"id": "b", "label": "  two\n lines ", "shape": "rounded"},
                {"id": "c", "label": "kept", "shape": "store"},
                {"id": "d", "label": "end"},
            ],
            "links": [
                {"source": "a", "target": "b", "label": "yes"},
                {"source": "b", "target": "c", "dashed": True},
            ],
        }
    )
    assert source(flow) == (
        'flowchart LR\nn0{"Is it 1#63;"}\nn1("two lines")\nn2[("kept")]\nn3["end"]\nn0 -->|"yes"| n1\nn1 -.-> n2\n'
    )


def test_a_sequence_keeps_its_order_and_dashes_its_answers() -> None:
    sequence = DIAGRAM.validate_python(
        {
            "kind": "sequence",
            "parties": [{"id": "x", "label": "Ann"}, {"id": "y", "label": "Bob;"}],
            "messages": [
                {"source": "x", "target": "y", "text": "hello"},
                {"source": "y", "target": "x", "text": "end", "answer": True},
            ],
        }
    )
    assert source(sequence) == (
        "sequenceDiagram\nparticipant n0 as Ann\nparticipant n1 as Bob#59;\nn0->>n1: hello\nn1-->>n0: end\n"
    )


def test_entities_say_how_many_of_one_belong_to_another() -> None:
    entities = DIAGRAM.validate_python(
        {
            "kind": "entities",
            "entities": [
                {"id": "c", "label": "Customer", "columns": [{"name": "id", "type": "int", "key": "primary"}]},
                {"id": "o", "label": "Order", "columns": [{"name": "1st größe", "type": "int", "key": "foreign"}]},
            ],
            "relations": [
                {"source": "c", "target": "o", "label": "places"},
                {"source": "o", "target": "c", "label": "of", "source_count": "many", "target_count": "zero_or_one"},
            ],
        }
    )
    assert source(entities) == (
        "erDiagram\n"
        'n0["Customer"] {\nint id PK\n}\n'
        'n1["Order"] {\nint c1st_gr__e FK\n}\n'
        'n0 ||--o{ n1 : "places"\n'
        'n1 }|--o| n0 : "of"\n'
    )


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("links", [{"source": "a", "target": "nowhere"}]),
        ("steps", [{"id": "a", "label": "1"}, {"id": "a", "label": "2"}]),
        ("steps", []),
        ("steps", [{"id": "a", "label": "x" * (bounds.DIAGRAM_LABEL_CHARS + 1)}]),
        ("steps", [{"id": str(n), "label": "x"} for n in range(bounds.DIAGRAM_ITEMS + 1)]),
        ("steps", [{"id": "a", "label": "x", "style": "fill:red"}]),
        ("code", "graph TD"),
    ],
    ids=["an end that is nothing", "an id twice", "no step", "a long label", "many steps", "a style", "code"],
)
def test_what_is_no_diagram_is_refused(field: str, wrong: Any) -> None:
    with pytest.raises(ValidationError):
        DIAGRAM.validate_python({"kind": "flow", "steps": [{"id": "a", "label": "x"}], field: wrong})


@given(LABELS, LABELS, NAMES)
def test_no_label_or_id_says_anything_to_the_library(label: str, other: str, name: str) -> None:
    drawn = source(
        Flow(
            kind="flow",
            steps=({"id": name, "label": label}, {"id": name + "x", "label": other}),  # type: ignore[arg-type]
            links=({"source": name, "target": name + "x", "label": label},),  # type: ignore[arg-type]
        )
    )
    shaped = re.compile(r'flowchart TD\nn0\["([^"\n]*)"\]\nn1\["([^"\n]*)"\]\nn0 -->\|"([^"\n]*)"\| n1\n')
    found = shaped.fullmatch(drawn)
    assert found is not None
    for text in found.groups():
        rest = re.sub(r"#\d+;", "", text)
        assert all(char.isalnum() or char == " " for char in rest)


@given(LABELS, NAMES, NAMES)
def test_neither_a_message_nor_a_column_leaves_its_line(label: str, one: str, kind: str) -> None:
    parties = ({"id": one, "label": label},)
    talk = Sequence(kind="sequence", parties=parties, messages=({"source": one, "target": one, "text": label},))  # type: ignore[arg-type]
    assert len(source(talk).splitlines()) == 3
    column = {"name": label, "type": kind}
    table = Entities(kind="entities", entities=({"id": one, "label": label, "columns": (column,)},))  # type: ignore[arg-type]
    lines = source(table).splitlines()
    assert len(lines) == 4
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]* [A-Za-z][A-Za-z0-9_]*", lines[2])


def test_a_drawing_holds_only_what_the_language_needs_and_letters() -> None:
    every = "".join(chr(code) for code in range(32, 127))
    assert set(source(Flow(kind="flow", steps=({"id": "a", "label": every[:100]},)))) <= ORDINARY  # type: ignore[arg-type]

"""Files are nouns, classes keep the glossary, and every public name says what it means."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.rules.sources import ROOT, Source, expect_none, python_files, shipped_files, within

VAGUE_FILES = {
    "util",
    "utils",
    "utility",
    "helper",
    "helpers",
    "common",
    "manager",
    "managers",
    "base",
    "misc",
    "stuff",
}
VAGUE_CLASSES = ("Manager", "Helper", "Util", "Utils", "Base")
# docs/glossary.md, "Do not use for these". The stage speaks Discord's and OpenAI's own words instead.
OTHER_WORDS = ("Session", "Chat", "Job", "MessageQueue")


def vague_file(path: str) -> bool:
    return bool({part.removesuffix(".py") for part in PurePosixPath(path).parts} & VAGUE_FILES)


def foreign_classes(source: Source) -> Iterator[str]:
    """Public classes named by a vague word, or by one that the glossary gives another name."""
    words = VAGUE_CLASSES if within(source.path, "clankie_stage/") else VAGUE_CLASSES + OTHER_WORDS
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            said = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", node.name)
            for word in words:
                if re.search(rf"(^|\.){'.'.join(re.findall('[A-Z][a-z]*', word))}(\.|$)", ".".join(said)):
                    yield f"{source.path}:{node.lineno}: {node.name} says {word}; docs/glossary.md has the word"


def undocumented(path: str, text: str) -> str:
    """What ruff, as it is set up here, says about the docstrings of a file with this text."""
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "--no-cache", "--select", "D"]
    result = subprocess.run(
        [*command, "--output-format", "concise", "--stdin-filename", path, "-"],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


def test_file_names_are_nouns_of_the_domain() -> None:
    assert not [
        source.path
        for source in python_files("packages", "services", "tests", "bench", "evals")
        if vague_file(source.path)
    ]


def test_public_classes_keep_the_glossary() -> None:
    expect_none(fault for source in shipped_files() for fault in foreign_classes(source))


@pytest.mark.parametrize("path", ["services/a/utils.py", "tests/helpers.py", "packages/common/a.py", "tests/base.py"])
def test_a_vague_file_name_is_seen(path: str) -> None:
    assert vague_file(path)


@pytest.mark.parametrize("name", ["LaneManager", "RoomSession", "ChatClient", "JobQueue", "MessageQueue", "BaseRun"])
def test_a_foreign_class_name_is_seen(name: str) -> None:
    assert [*foreign_classes(Source("services/a/src/b.py", f"class {name}: ..."))]


@pytest.mark.parametrize("name", ["Lane", "_BaseRun", "Jobless", "Database", "MessageRow"])
def test_a_word_within_a_word_is_left_alone(name: str) -> None:
    assert not [*foreign_classes(Source("services/a/src/b.py", f"class {name}: ..."))]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1\n", "D100"),
        ('"""A module."""\n\n\nclass Lane:\n    x = 1\n', "D101"),
        ('"""A module."""\n\n\ndef settle() -> None:\n    return\n', "D103"),
        (
            '"""A module."""\n\n\nclass Lane:\n    """A lane."""\n\n    def settle(self) -> None:\n        return\n',
            "D102",
        ),
    ],
)
def test_a_public_name_without_a_docstring_is_seen(text: str, code: str) -> None:
    assert code in undocumented("services/captain/src/clankie_captain/planted.py", text)

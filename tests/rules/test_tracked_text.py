"""What is committed names no machine, no registry and no lock of another tool, and holds no secret."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.rules.sources import ROOT, expect_none, project_files

WORDS = Path(__file__).with_name("forbidden_words.txt")
OTHER_LOCKS = {"uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"}
SECRETS = re.compile(
    r"sk-ant-[\w-]{20,}|sk-(?:proj-)?[A-Za-z0-9]{32,}"  # model providers
    r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"  # a bot
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
# Folders of a container are no machine's: the checkout may happen to lie in one of the same name.
CONTAINER_FILES = ("Dockerfile", "docker-compose.yml", ".dockerignore")


def forbidden_words() -> list[str]:
    """The words of forbidden_words.txt, which keeps them turned by 13 letters so that it does not contain them."""
    lines = WORDS.read_text("utf-8").splitlines()
    return [codecs.decode(line, "rot13") for line in lines if line and not line.startswith("#")]


def faults(path: str, text: str, checkout: str) -> Iterator[str]:
    """Forbidden words, the folder of this checkout, and secrets, in one file."""
    lowered = text.lower()
    yield from (f"{path}: {word}" for word in forbidden_words() if word in lowered)
    telling = len(Path(checkout).parts) > 2 and PurePosixPath(path).name not in CONTAINER_FILES
    if telling and re.search(rf"{re.escape(checkout)}(?![\w-])", text):
        yield f"{path}: the folder of this checkout"
    if SECRETS.search(text):
        yield f"{path}: something that looks like a secret"


def test_no_committed_file_names_a_machine_a_registry_or_a_secret() -> None:
    found: list[str] = []
    for name in project_files():
        text = (ROOT / name).read_bytes().decode("utf-8", "ignore")
        found += faults(name, text, str(ROOT))
    expect_none(found)


def test_no_lock_of_another_tool_is_committed() -> None:
    assert not [name for name in project_files() if PurePosixPath(name).name in OTHER_LOCKS]


@pytest.mark.parametrize("word", forbidden_words())
def test_a_forbidden_word_is_seen(word: str) -> None:
    assert [*faults("README.md", f"see {word.upper()} for more", "/")]


def test_the_folder_of_a_checkout_and_a_secret_are_seen() -> None:
    assert [*faults("docs/a.md", "cd /home/someone/clankie && make", "/home/someone/clankie")]
    assert not [*faults("docs/a.md", "cd /home/someone/clankie-two", "/home/someone/clankie")]
    assert [*faults("a.py", "key = 'sk-ant-" + "a" * 30 + "'", "/")]
    assert [*faults("a.py", f"token = '{'M' + 'a' * 25}.{'b' * 6}.{'c' * 30}'", "/")]

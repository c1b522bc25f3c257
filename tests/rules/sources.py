"""What the house rules read: the project's files, parsed once, and the dotted names that they use."""

import ast
import functools
import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SKIPPED_FOLDERS = {".git", ".venv", ".tools", "node_modules", "__pycache__", ".hypothesis", "state", "dist"}


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path relative to the project root, and its text."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.path, self.text)


@functools.cache
def _parsed(path: str, text: str) -> ast.Module:
    return ast.parse(text, path)


@functools.cache
def project_files() -> tuple[str, ...]:
    """Every file that is or would be committed, as git sees it; without git, every file of the folder."""
    # A build may run as another user than the one who owns the folder, which git would distrust.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return tuple(sorted(_walk()))
    return tuple(sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file()))


def _walk() -> Iterator[str]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS and not name.endswith("_cache")]
        for name in names:
            yield (Path(folder) / name).relative_to(ROOT).as_posix()


def python_files(*tops: str) -> list[Source]:
    """The Python files under these top folders ("packages", "services", "tests", "bench", "evals")."""
    wanted = tuple(f"{top}/" for top in tops)
    chosen = [name for name in project_files() if name.startswith(wanted) and name.endswith(".py")]
    return [Source(name, (ROOT / name).read_text("utf-8")) for name in chosen]


def shipped_files() -> list[Source]:
    """The Python files of the members' src folders."""
    return [source for source in python_files("packages", "services") if "/src/" in source.path]


def within(path: str, *places: str) -> bool:
    """Whether a path ends with one of these files, or lies in one of these folders (ending with "/")."""
    ends = (
        f"/{path}".find(f"/{place}") >= 0 if place.endswith("/") else path.endswith(f"/{place}") for place in places
    )
    return any(ends)


def used_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every imported name that a module uses, in full, with its line: `t.time` after `import time as t` is `time.time`.

    A name counts where it is imported by itself (`from time import monotonic`) and where it is reached by attribute.
    """
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, item.name) for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{item.name}") for item in node.names)
        elif isinstance(node, ast.Attribute) and (dotted := _dotted(node, aliases)):
            yield node.lineno, dotted


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Every call of a name, with the name in full where it was imported: `print`, `pytest.skip`, `asyncio.sleep`."""
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            yield node, _dotted(node.func, aliases) or name


def _aliases(tree: ast.Module) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                bound = item.name if item.asname else item.name.partition(".")[0]
                aliases[item.asname or bound] = bound
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                aliases[item.asname or item.name] = f"{node.module}.{item.name}"
    return aliases


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, aliases)):
        return f"{owner}.{node.attr}"
    return None


def expect_none(faults: Iterable[str]) -> None:
    """Fail with one line a fault and nothing else, if there are any."""
    if found := [*faults]:
        pytest.fail("\n".join(found), pytrace=False)

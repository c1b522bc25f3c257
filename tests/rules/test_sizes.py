"""A file is read at one sitting, and a function at one glance."""

import ast
from collections.abc import Iterator

from tests.rules.sources import ROOT, Source, expect_none, python_files

LONGEST_MODULE = 400
LONGEST_FUNCTION = 40

# a file, file::function, or folder/ -> why it is better long
ALLOWED: dict[str, str] = {
    "services/captain/src/clankie_captain/store/migrations/versions/": "a migration lists tables as they were once",
}


def too_long(source: Source) -> Iterator[str]:
    """A module over 400 lines, or a function over 40 without its docstring."""
    lines = source.text.count("\n") + 1
    if lines > LONGEST_MODULE and not _allowed(source.path):
        yield f"{source.path}: {lines} lines; split it by idea"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _length(node)
            if length > LONGEST_FUNCTION and not _allowed(source.path, node.name):
                yield f"{source.path}:{node.lineno}: {node.name} has {length} lines; name its steps"


def _allowed(path: str, function: str = "") -> bool:
    folders = [place for place in ALLOWED if place.endswith("/")]
    return bool({path, f"{path}::{function}"} & ALLOWED.keys()) or path.startswith(tuple(folders))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def test_every_module_and_function_is_short() -> None:
    sources = python_files("packages", "services", "tests", "bench", "evals")
    expect_none(fault for source in sources for fault in too_long(source))


def test_every_exception_says_why_and_is_still_needed() -> None:
    assert all(reason for reason in ALLOWED.values())
    assert not [place for place in ALLOWED if not (ROOT / place.partition("::")[0]).exists()]


def test_a_long_module_is_seen() -> None:
    assert [*too_long(Source("packages/a.py", "x = 1\n" * 401))]
    assert not [*too_long(Source("packages/a.py", "x = 1\n" * 399))]


def test_a_long_function_is_seen_but_its_docstring_is_free() -> None:
    body = "    x = 1\n" * 40
    assert [*too_long(Source("packages/a.py", f"def f():\n{body}"))]
    documented = '    """One.\n' + "\n    Two.\n" * 10 + '    """\n' + "    x = 1\n" * 39
    assert not [*too_long(Source("packages/a.py", f"def f():\n{documented}"))]

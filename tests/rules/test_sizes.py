"""A file is read at one sitting, and a function at one glance."""

import ast
from collections.abc import Iterator

from tests.rules.sources import Source, python_files

LONGEST_MODULE = 400
LONGEST_FUNCTION = 40

# path or path::function -> why it is better long
ALLOWED: dict[str, str] = {}


def too_long(source: Source) -> Iterator[str]:
    """A module over 400 lines, or a function over 40 without its docstring."""
    lines = source.text.count("\n") + 1
    if lines > LONGEST_MODULE and source.path not in ALLOWED:
        yield f"{source.path}: {lines} lines; split it by idea"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _length(node)
            if length > LONGEST_FUNCTION and f"{source.path}::{node.name}" not in ALLOWED:
                yield f"{source.path}:{node.lineno}: {node.name} has {length} lines; name its steps"


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def test_every_module_and_function_is_short() -> None:
    found = [fault for source in python_files("packages", "services", "tests", "bench") for fault in too_long(source)]
    assert not found, "\n" + "\n".join(found)


def test_every_exception_says_why_and_is_still_needed() -> None:
    paths = {source.path for source in python_files("packages", "services", "tests", "bench")}
    assert all(reason for reason in ALLOWED.values())
    assert not [place for place in ALLOWED if place.partition("::")[0] not in paths]


def test_a_long_module_is_seen() -> None:
    assert [*too_long(Source("packages/a.py", "x = 1\n" * 401))]
    assert not [*too_long(Source("packages/a.py", "x = 1\n" * 399))]


def test_a_long_function_is_seen_but_its_docstring_is_free() -> None:
    body = "    x = 1\n" * 40
    assert [*too_long(Source("packages/a.py", f"def f():\n{body}"))]
    documented = '    """One.\n' + "\n    Two.\n" * 10 + '    """\n' + "    x = 1\n" * 39
    assert not [*too_long(Source("packages/a.py", f"def f():\n{documented}"))]

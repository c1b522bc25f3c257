"""docs/limits.md, as the limits themselves have it: ``python -m tests.cli.limits`` writes it."""

import ast
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from clankie_settings import bounds, tool_bounds

LIMITS = Path(__file__).resolve().parents[2] / "docs" / "limits.md"

HEAD = """# Limits

Every limit of the wire, the lanes and the tools, as `bounds.py` and `tool_bounds.py` in `clankie_settings` have it; a
test keeps this so. What may be set is in [settings.md](settings.md) and named here by its default.
"""


def documented() -> Iterator[tuple[str, str, str]]:
    """Each section or limit in order: its title with nothing, or its name with its docstring."""
    for module in (bounds, tool_bounds):
        yield from _of(Path(module.__file__ or "").read_text("utf-8"))


def _of(source: str) -> Iterator[tuple[str, str, str]]:
    titles = {number: found[1] for number, line in enumerate(source.splitlines(), 1)
              if (found := re.match(r"# --- (.+?) -+$", line))}  # fmt: skip
    body = ast.parse(source).body
    for node, after in pairwise(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        for number in [each for each in titles if each < node.lineno]:
            yield titles.pop(number), "", ""
        assert isinstance(after, ast.Expr), f"{node.target.id} has no docstring"
        assert isinstance(after.value, ast.Constant), f"{node.target.id} has no docstring"
        said, _, cited = " ".join(str(after.value.value).split()).partition(" Source: ")
        yield node.target.id, said.rstrip("."), cited.rstrip(".")


def amount(value: object) -> str:
    """A limit's value as a person reads it."""
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        for unit, size in (("h", 3_600), ("min", 60)):
            if seconds >= size and seconds % size == 0:
                return f"{seconds / size:g} {unit}"
        return f"{seconds:g} s"
    if isinstance(value, int) and value % (1024 * 1024) == 0 and value:
        return f"{value // (1024 * 1024)} MiB"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def text() -> str:
    """The whole document."""
    lines = [HEAD]
    for name, said, cited in documented():
        if not said:
            lines.append(
                f"\n## {name[0].upper()}{name[1:]}\n\n| limit | value | what it bounds | from |\n|---|---|---|---|"
            )
        else:
            shown = said.replace("``", "`").replace("|", "\\|")
            lines.append(f"| `{name}` | {amount(getattr(bounds, name))} | {shown} | {cited} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


if __name__ == "__main__":
    LIMITS.write_text(text(), "utf-8")

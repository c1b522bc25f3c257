"""The lines of ``requirements.lock`` that some members or packages need, hashes and all: ``pins.py LOCK NAME...``.

A name with a minus before it is left out, where the image has the same thing from elsewhere.

An image holds what its own service imports, and nothing is pinned twice: whoever needs a package stands in the lock's
``# via`` comments. pip still refuses what is missing or altered, since it is called with ``--require-hashes``.
"""  # noqa: INP001 -- it runs alone in a build, where nothing of the project is installed yet

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==")
_NEEDED_BY = re.compile(r" {4}# (?:via| ) +(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass(frozen=True, slots=True)
class Pin:
    """A package of the lock: its lines as they stand, and who needs it."""

    name: str
    lines: tuple[str, ...]
    needed_by: frozenset[str]


def pins(lock: str) -> list[Pin]:
    """Every package of a lock as ``uv pip compile --generate-hashes`` writes it."""
    blocks: list[list[str]] = []
    for line in lock.splitlines():
        if _PIN.match(line):
            blocks.append([line])
        elif blocks and line.startswith(" "):
            blocks[-1].append(line)
    return [_pin(block) for block in blocks]


def needed(lock: str, names: Iterable[str]) -> list[Pin]:
    """The packages that these members or packages need, themselves included, in the lock's order.

    Raises:
        ValueError: The lock knows nothing of one of the names.
    """
    every = pins(lock)
    wanted = set(names)
    known = {pin.name for pin in every}.union(*(pin.needed_by for pin in every))
    if strangers := wanted - known:
        raise ValueError(f"the lock does not know {', '.join(sorted(strangers))}; run: make lock")
    while grown := {pin.name for pin in every if pin.needed_by & wanted} - wanted:
        wanted |= grown
    return [pin for pin in every if pin.name in wanted]


def _pin(block: list[str]) -> Pin:
    found = _PIN.match(block[0])
    name = found["name"] if found else ""
    return Pin(name, tuple(block), frozenset(each["name"] for line in block if (each := _NEEDED_BY.match(line))))


def main(arguments: list[str]) -> int:
    """Print them; 2 where a name is unknown."""
    lock, *names = arguments
    left_out = {name.removeprefix("-") for name in names if name.startswith("-")}
    try:
        text = Path(lock).read_text(encoding="utf-8")
        needed(text, left_out)
        chosen = [pin for pin in needed(text, [name for name in names if name[:1] != "-"]) if pin.name not in left_out]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.writelines(f"{line}\n" for pin in chosen for line in pin.lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

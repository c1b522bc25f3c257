"""One lock with hashes and no address, exact pins where a minor release changes what we rely on."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.rules.sources import ROOT

# A minor release of these has changed events or request bytes before: docs/adr/0005 and 0004.
EXACT = ("hikari", "pydantic-ai-slim")
REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?(?P<range>[^;]*)")


def members() -> dict[str, dict[str, Any]]:
    paths = sorted([*(ROOT / "packages").glob("*/pyproject.toml"), *(ROOT / "services").glob("*/pyproject.toml")])
    return {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in paths}


def declared(project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for line in project["project"]["dependencies"]:
        found = REQUIREMENT.match(line)
        assert found, line
        yield re.sub(r"[-_.]+", "-", found["name"]).lower(), found["range"].strip()


def loose(project: dict[str, Any]) -> list[str]:
    """Dependencies without a lower bound, and those that must be exact and are not."""
    found: list[str] = []
    for name, bounds in declared(project):
        if name.startswith("clankie-"):
            continue
        if name in EXACT and not re.fullmatch(r"==\d+(\.\d+)+", bounds):
            found.append(f"{name} must be pinned exactly, not {bounds or 'left open'}")
        elif not re.match(r"(>=|==|~=)\d", bounds):
            found.append(f"{name} needs a lower bound")
    return found


def lock_faults(lock: str) -> list[str]:
    """Entries of a lock without a hash or version, and every address in it."""
    entries = re.split(
        r"\n(?=[A-Za-z0-9])", "\n".join(re.sub(r"(^|\s)#.*", "", line) for line in lock.splitlines()).strip()
    )
    return [
        *(f"no hash: {entry.split()[0]}" for entry in entries if "--hash=sha256:" not in entry),
        *(f"no version: {entry.split()[0]}" for entry in entries if "==" not in entry.split()[0]),
        *(f"address: {found[0]}" for found in re.finditer(r"\w+://\S*|--(?:extra-)?index-url|--find-links|-f ", lock)),
    ]


def lock() -> str:
    return (ROOT / "requirements.lock").read_text("utf-8")


@pytest.mark.parametrize("member", members())
def test_a_member_bounds_what_it_depends_on(member: str) -> None:
    assert not loose(members()[member])


@pytest.mark.parametrize("member", members())
def test_the_lock_holds_what_a_member_depends_on(member: str) -> None:
    locked = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock(), re.MULTILINE))
    for name, bounds in declared(members()[member]):
        assert name.startswith("clankie-") or name in locked, f"{name}: run make lock"
        assert name not in EXACT or bounds == f"=={locked[name]}", f"{name}: run make lock"


def test_the_lock_has_hashes_and_no_address() -> None:
    assert not lock_faults(lock())


def test_a_lock_without_hash_or_with_an_address_is_seen() -> None:
    assert lock_faults("a==1\nb==2 \\\n    --hash=sha256:00\n") == ["no hash: a==1"]
    assert lock_faults("a>=1 \\\n    --hash=sha256:00\n") == ["no version: a>=1"]
    assert lock_faults("--index-url x\na==1 --hash=sha256:00\n")
    assert lock_faults("a @ https://example.test/a.whl \\\n    --hash=sha256:00\n")


@pytest.mark.parametrize("line", ["hikari>=2.7", "hikari", "hikari~=2.7.0", "hikari==2.*", "httpx", "httpx<1"])
def test_an_open_dependency_is_seen(line: str) -> None:
    assert loose({"project": {"dependencies": [line]}})

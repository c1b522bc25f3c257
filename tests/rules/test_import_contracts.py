"""The import contracts of pyproject.toml hold, and each of them fails when somebody breaks it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.rules.sources import ROOT

MEMBERS = sorted(path.relative_to(ROOT) for top in ("packages", "services") for path in (ROOT / top).glob("*/src"))

PLANTED = {
    "members": ("clankie_stage.planted", "import clankie_bridge"),
    "captain": ("clankie_captain.core.planted_layer", "import clankie_captain.api"),
    "bridge": ("clankie_bridge.captain.planted_layer", "import clankie_bridge.discord"),
    "stage": ("clankie_stage.provider.planted", "import clankie_stage.discord"),
    "pure": ("clankie_bridge.core.planted_clock", "import time"),
    "hikari": ("clankie_bridge.captain.planted", "import hikari.errors"),
    "database": ("clankie_captain.lanes.planted_store", "from sqlalchemy import select"),
    "loop": ("clankie_captain.lanes.planted_loop", "import pydantic_ai"),
    "http": ("clankie_captain.lanes.planted_door", "import fastapi"),
}


def contracts() -> list[dict[str, str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(str(folder / member) for member in MEMBERS)
    program = "import sys; from importlinter.cli import lint_imports_command as main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-logo", "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def plant(folder: Path, module: str, line: str) -> None:
    """Write a module with this line, and the packages that lead to it and to what it imports."""
    for name in (module, f"{line.split()[1]}.x"):
        for member in MEMBERS:
            root = folder / member
            if not (root / name.partition(".")[0]).is_dir():
                continue
            for parent in list(Path(*name.split(".")).parents)[:-1]:
                if not (root / parent).with_suffix(".py").exists():
                    (root / parent).mkdir(parents=True, exist_ok=True)
                    (root / parent / "__init__.py").touch()
            if name == module:
                (root / Path(*name.split("."))).with_suffix(".py").write_text(f"{line}\n")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    for member in MEMBERS:
        shutil.copytree(ROOT / member, folder / member, ignore=shutil.ignore_patterns("__pycache__", "*.js", "*.css"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def planted(copy: Path) -> str:
    for module, line in PLANTED.values():
        plant(copy, module, line)
    return lint(copy).stdout


def test_the_contracts_hold() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("contract", contracts(), ids=lambda contract: contract["id"])
def test_a_planted_violation_breaks_its_contract(contract: dict[str, str], planted: str) -> None:
    module, _ = PLANTED[contract["id"]]
    assert f"{contract['name']} BROKEN" in planted
    assert module in planted


def test_a_module_outside_the_layers_is_refused(copy: Path) -> None:
    plant(copy, "clankie_captain.stray", "import math")
    output = lint(copy).stdout
    assert "clankie_captain.stray" in output
    assert "not listed as layers" in output

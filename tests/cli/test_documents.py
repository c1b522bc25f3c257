"""What the documents tell people to do is done here, as it stands; what they list is what there is."""

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clankie_bridge.core.admission import Refusal
from clankie_bridge.ports import Happened
from clankie_cli import exits
from clankie_cli.commands import chosen
from clankie_settings.wire.failure import FailureCode
from tests.cli import limits
from tests.cli.launching import PATIENCE_S, Launched

ROOT = Path(__file__).resolve().parents[2]
TOLD = ("README.md", "docs/operations.md", "docs/troubleshooting.md")


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a document in this language."""
    found: list[str] = re.findall(rf"^ *```{language}\n(.*?)^ *```$", text(name), re.MULTILINE | re.DOTALL)
    return found


def section(name: str, title: str) -> str:
    """A document from this heading to the next one of any level."""
    return re.split(r"^#", text(name).partition(f" {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(table: str) -> set[str]:
    """The code words in the first cells of a table."""
    cells = re.findall(r"^\|([^|]*)\|", table, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def done(up: Launched, commands: str) -> str:
    """What a person's shell prints for these lines; fails where one of them does."""
    assert shutil.which("curl"), "this test runs the documents' own commands: install curl"
    env = up.env | {"PATH": f"{sys.prefix}/bin:{up.env['PATH']}"}
    here = commands.replace("127.0.0.1:4310", f"127.0.0.1:{up.captain_port}")
    shown = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here],
        cwd=up.folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert shown.returncode == 0, f"{commands}\n{shown.stdout}\n{shown.stderr}"
    return shown.stdout


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.requirement("WIRE-5", "WIRE-6")
def test_the_curl_of_the_readme_is_answered(shared: Launched) -> None:
    (command,) = [each for each in blocks("README.md", "bash") if "curl" in each]
    first, again = (json.loads(done(shared, command)) for _ in range(2))
    assert (first["state"], first["owed"]) == ("replied", True)
    assert "Hello there" in str(first["text"])
    assert again == first


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.requirement("OPS-3", "OPS-9")
@pytest.mark.parametrize(
    ("document", "number"),
    [(name, number) for name in TOLD for number, each in enumerate(blocks(name, "bash")) if "v1/turns" not in each],
)
def test_each_command_of_the_documents_does_what_it_says(shared: Launched, document: str, number: int) -> None:
    assert done(shared, blocks(document, "bash")[number])


def test_every_document_has_commands_that_are_run() -> None:
    assert [name for name in TOLD if not blocks(name, "bash")] == []


@pytest.mark.parametrize("name", [*TOLD, "docs/docker.md", "docs/threats.md"])
def test_every_command_that_a_document_names_exists(name: str) -> None:
    named = set(re.findall(r"(?:^|[`\s/])clankie (?:--)?([a-z]+)\b", "\n".join(re.findall(r"`[^`]+`", text(name)))))
    for each in sorted(named):
        with pytest.raises(SystemExit) as ended:
            chosen(["--version"] if each == "version" else [each, "--help"])
        assert ended.value.code == 0, each


def test_every_limit_is_in_the_table_of_limits() -> None:
    assert text("docs/limits.md") == limits.text(), "run: python -m tests.cli.limits"


def test_every_failure_is_explained_once() -> None:
    table = section("docs/troubleshooting.md", "He says that something went wrong")
    assert first_column(table) == {code.value for code in FailureCode}


def test_troubleshooting_opens_with_the_message_content_intent() -> None:
    assert re.search(r"^## .+$", text("docs/troubleshooting.md"), re.MULTILINE)[0] == "## Message Content Intent"  # pyright: ignore[reportOptionalSubscript]


def test_every_line_of_the_evidence_is_explained() -> None:
    table = section("docs/operations.md", "A line of `evidence.jsonl`")
    assert first_column(table) == {each.value for each in Happened}
    assert {each.value for each in Refusal} <= set(re.findall(r"`(\w+)`", table))


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.requirement("OPS-6")
def test_every_field_of_a_settled_run_is_explained(shared: Launched) -> None:
    done(shared, "clankie send --conversation fields --wait hello")
    lines = (shared.folder / "state/stage/turn-settled.jsonl").read_text("utf-8").splitlines()
    assert set(json.loads(lines[-1])) == first_column(section("docs/operations.md", "A line of `turn-settled.jsonl`"))


def test_every_exit_code_is_in_the_table() -> None:
    codes = {value for name, value in vars(exits).items() if name.isupper()}
    found = re.findall(r"^\| (\d+) \|", section("docs/operations.md", "Speak"), re.MULTILINE)
    assert {int(each) for each in found} == codes


def test_the_unit_of_systemd_starts_the_command_and_leaves_a_wrong_configuration_alone() -> None:
    unit = configparser.ConfigParser(strict=True)
    unit.read_string(blocks("docs/operations.md", "ini")[0])
    assert unit["Service"]["ExecStart"].endswith("/.venv/bin/clankie up")
    assert unit["Service"]["RestartPreventExitStatus"] == str(exits.CONFIG)
    # Three programs stop one after the other.
    assert int(unit["Service"]["TimeoutStopSec"]) > 3 * 12


def test_the_index_names_every_document() -> None:
    index = text("docs/README.md")
    here = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in here if f"({name})" not in index} == set()

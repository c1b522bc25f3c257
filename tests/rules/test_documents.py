"""Documents say what is so: settings, reports, decisions and the links between them."""

import re
import tomllib

import pytest

from clankie_settings.environment import CONFIG, variable
from clankie_settings.schema import BridgeSettings, CaptainSettings, LaunchSettings
from tests.requirements import BUILT
from tests.rules.sources import ROOT, project_files

TABLES = {"actors", "presences", "roles", "rooms", "tool_sets"}
SETTING = re.compile(r"\b(?:CLANKIE_[A-Z_]+|DISCORD_BOT_TOKEN|[A-Z]+_API_KEY|OTEL_[A-Z_]+)\b")
REPORTS = "docs/reports.md"
ADRS = sorted(path.name for path in (ROOT / "docs/adr").glob("[0-9]*.md"))


def text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def settings() -> set[str]:
    kinds = (CaptainSettings, BridgeSettings, LaunchSettings)
    return {variable(field) for kind in kinds for field in kind.model_fields if field not in TABLES} | {CONFIG}


def enforcers(adr: str) -> list[str]:
    """What an ADR names as its checks: test files, import contracts, requirement ids."""
    section = adr.partition("## Enforced by\n")[2]
    contracts = re.findall(r"`([a-z]+)`", section)
    return [*re.findall(r"`(tests/[\w/.]+)`", section), *contracts, *re.findall(r"\b[A-Z]+-\d+\b", section)]


def dead_links(path: str, content: str) -> list[str]:
    """Links of a document to files that are not there."""
    targets = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", content)
    return [target for target in targets if not (ROOT / path).parent.joinpath(target).exists()]


@pytest.mark.parametrize("document", [".env.example", "docs/settings.md"])
def test_a_document_of_the_settings_names_each_of_them_and_no_other(document: str) -> None:
    assert set(SETTING.findall(text(document))) == settings()


def test_the_architecture_names_no_setting_that_does_not_exist() -> None:
    assert set(SETTING.findall(text("docs/architecture.md"))) <= settings()


def test_the_example_environment_sets_no_secret() -> None:
    assigned = re.findall(r"^#?([A-Z_]+)=(.*)$", text(".env.example"), re.MULTILINE)
    assert not [name for name, value in assigned if value and re.search("TOKEN|KEY", name)]


def cited(content: str) -> set[str]:
    """The reports that a text names: C26, and nothing of a linter's rules or a colour."""
    return set(re.findall(r"(?<![\w#-])C\d\d(?![\w-])", content))


def test_every_report_that_is_cited_is_listed_once_and_no_other() -> None:
    listed = re.findall(r"^\| (C\d\d) \|", text("docs/reports.md"), re.MULTILINE)
    assert listed == sorted(set(listed))
    places = {name: cited(text(name)) for name in project_files() if name.endswith((".py", ".md")) and name != REPORTS}
    assert {name: lacking for name, found in places.items() if (lacking := found - {*listed})} == {}
    assert {*listed} == set().union(*places.values())


def test_a_report_is_found_where_it_is_cited() -> None:
    assert cited("C26: a. Source: WIRE-6, C07. (C49) #C12345 C901 xC11 C-12") == {"C26", "C07", "C49"}


@pytest.mark.parametrize("name", ADRS)
def test_an_adr_is_short_listed_and_names_checks_that_exist(name: str) -> None:
    adr = text(f"docs/adr/{name}")
    contracts = {each["id"] for each in tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]}
    assert adr.count("\n") <= 40
    assert f"({name})" in text("docs/adr/README.md")
    assert enforcers(adr)
    assert not [each for each in enforcers(adr) if each not in contracts | BUILT and not (ROOT / each).is_file()]


def test_an_adr_without_a_check_is_seen() -> None:
    assert not enforcers("# ADR\n\nWe do. Requirement LANE-1.\n")
    assert enforcers("## Enforced by\n\n`tests/rules/test_a.py`, contract `pure`; LANE-1.") == [
        "tests/rules/test_a.py",
        "pure",
        "LANE-1",
    ]


def test_links_between_documents_lead_somewhere() -> None:
    documents = [name for name in project_files() if name.endswith(".md")]
    assert not {name: dead for name in documents if (dead := dead_links(name, text(name)))}


def test_a_dead_link_is_seen() -> None:
    assert dead_links("docs/a.md", "[one](nowhere.md) [two](https://example.test) [three](wire.md#x)") == ["nowhere.md"]

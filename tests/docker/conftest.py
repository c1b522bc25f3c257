"""Says at the end of a run, in plain sight, that no containers were tried and why."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    reasons = [each.longrepr[2] for each in skipped if isinstance(each.longrepr, tuple)]
    for reason in sorted({each.removeprefix("Skipped: ") for each in reasons if "no containers were tried" in each}):
        terminalreporter.write_line(reason, yellow=True)

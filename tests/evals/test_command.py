"""What the command line of the eval asks for, and what it refuses."""

from pathlib import Path

import pytest

from evals.__main__ import main
from evals.campaign import Plan
from evals.observed import MODES

KEYLESS = ("CLANKIE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "CLANKIE_EVAL_JUDGE")


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without settings."""
    for name in KEYLESS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no model is configured"),
        (("--scripted", "--case", "nothing"), "nothing.yaml: is not there; there are after_restart"),
        (("--scripted", "--price", "1,2"), "expected three prices"),
        (("--scripted", "--price", "1,2,-3"), "expected three prices"),
        (("--scripted", "--cases", "nowhere"), "holds no cases"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(
    nobody: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert main(arguments) == 78
    assert said in capsys.readouterr().err
    assert not [*nobody.iterdir()]


def test_the_rehearsal_model_is_no_model_to_judge(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLANKIE_MODEL", "rehearsal")
    assert main(()) == 78
    assert "say --scripted" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--repetitions", "0"), ("--mode", "thread"), ("--nonsense",)])
def test_a_wrong_argument_is_refused_with_the_usage(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: clankie eval" in capsys.readouterr().err


def test_unsaid_each_case_is_played_twice_in_each_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    async def only_asked(plan: Plan, out: Path, prices: object) -> int:
        asked.append(plan)
        return 0

    monkeypatch.setattr("evals.__main__._done", only_asked)
    assert main(("--scripted",)) == 0
    (plan,) = asked
    names = [each.name for each in plan.cases]
    assert [(key.mode, key.repetition, key.case) for key in plan.keys] == [
        (mode, number, name) for mode in MODES for number in (1, 2) for name in names
    ]


def test_a_judge_is_named_on_the_command_line_else_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    async def only_asked(plan: Plan, out: Path, prices: object) -> int:
        asked.append(plan)
        return 0

    monkeypatch.setattr("evals.__main__._done", only_asked)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("CLANKIE_MODEL", "openai:thinker")
    main(())
    monkeypatch.setenv("CLANKIE_EVAL_JUDGE", "openai:judge")
    main(())
    main(("--judge", "openai:another"))
    assert [(each.model, each.judge) for each in asked] == [
        ("openai:thinker", None),
        ("openai:thinker", "openai:judge"),
        ("openai:thinker", "openai:another"),
    ]

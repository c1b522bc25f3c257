"""``clankie eval`` hands over to the checkout's eval, and says so where there is none."""

from pathlib import Path

import pytest

from clankie_cli import evaluation
from clankie_cli.errors import CannotRun
from tests.cli.launching import clankie, environment


async def test_without_a_checkout_it_says_where_the_eval_is(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="run it in a checkout of the project"):
        await evaluation.run({}, ("--scripted",), tmp_path)


def test_its_arguments_and_its_exit_code_are_the_evals_own(tmp_path: Path) -> None:
    helped = clankie(tmp_path, environment(tmp_path), "eval", "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "usage: clankie eval" in helped.stdout
    assert "--repetitions" in helped.stdout
    wrong = clankie(tmp_path, environment(tmp_path), "eval", "--scripted", "--case", "nothing")
    assert wrong.returncode == 78
    assert "nothing.yaml: is not there" in wrong.stderr
    assert not [*tmp_path.iterdir()]

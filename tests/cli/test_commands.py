"""The command line: what is wrong in it is said with its usage, before anything happens."""

import io
from pathlib import Path

import pytest

from clankie_cli.commands import chosen
from clankie_cli.send import Manner, Message
from clankie_cli.trail import Target, target
from tests.cli.launching import called, environment


@pytest.mark.requirement("OPS-3")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("send", "hello"), "--conversation"),
        (("send", "--new"), "say either MESSAGE or --stdin"),
        (("send", "--new", "--stdin", "hello"), "say either MESSAGE or --stdin"),
        (("send", "--new", "--conversation", "x", "hello"), "not allowed with"),
        (("send", "--new", " "), "the message is empty"),
        (("send", "--new", "a\0b"), "NUL"),
        (("send", "--conversation", "a/b", "hello"), "1 to 48 letters"),
        (("send", "--conversation", "x" * 49, "hello"), "1 to 48 letters"),
        (("send", "--new", "--delivery", "shout", "hello"), "invalid choice"),
        (("send", "--new", "--within", "-1", "hello"), "more than 0"),
        (("send", "--new", "--within", "nan", "hello"), "more than 0"),
        (("send", "--new", "--id", "a b", "hello"), "1 to 64 letters"),
        (("tail",), "CONVERSATION"),
        (("tail", "a b"), "1 to 48 letters"),
        (("cancel", "a/b"), "1 to 64 letters"),
        (("send", "--conversation", "..", "hello"), "not dots alone"),
        (("send", "--new", "a\udcff"), "no UTF-8 text"),
        (("cancel", ".."), "1 to 64 letters"),
        (("trail", "x", "--last", "0"), "from 1"),
        (("trail", ""), "a lane's id"),
        (("trail", "a b"), "a lane's id"),
        (("trail", "rooms/\udcff"), "a lane's id"),
        (("init", "--dm-policy", "everybody"), "invalid choice"),
        (("init", "--token", "CANARY"), "unrecognized"),
    ],
)
def test_a_wrong_command_line_is_refused_with_its_usage(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = called(tmp_path, environment(tmp_path), *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "usage: clankie" in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.requirement("OPS-3")
def test_bytes_that_are_no_text_are_refused_like_a_wrong_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\xff"), encoding="utf-8"))
    done = called(tmp_path, environment(tmp_path), "send", "--new", "--stdin")
    assert (done.returncode, "no UTF-8 text" in done.stderr) == (2, True)


@pytest.mark.requirement("OPS-3")
def test_a_message_is_taken_as_it_was_written() -> None:
    asked = chosen(["send", "--conversation", "a.b-C_1", "--delivery", "queue", "--wait", "--", "--dashes  and spaces"])
    assert asked.message == Message("a.b-C_1", "--dashes  and spaces", "queue", None)
    assert asked.sending == Manner(wait=True)


@pytest.mark.requirement("OPS-3")
def test_a_bound_on_the_wait_is_a_wait() -> None:
    assert chosen(["send", "--new", "--within", "2.5", "hi"]).sending.wait


@pytest.mark.requirement("LANE-12")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("1310:42", "room"), ("dm:42", "room"), ("42", "delivery"), ("c-0af3", "delivery"),
        ("conversation:7", "delivery"),
        ("rooms/discord:1:2", "lane"), ("conversations/mine", "lane"), ("turns/discord:1:2~3/t_4", "lane"),
        ("voice/discord:1:2", "lane"), ("elsewhere/x", "delivery"),
    ],
)  # fmt: skip
def test_a_name_is_understood_by_its_form(name: str, meant: str) -> None:
    found = target(name)
    assert (found.kind, found) == (meant, Target(found.kind, name))


def test_the_help_names_every_exit_code_of_send(tmp_path: Path) -> None:
    shown = called(tmp_path, environment(tmp_path), "send", "--help").stdout
    for code in ("0", "1", "2", "3", "4", "5", "78"):
        assert f"{code}  " in shown

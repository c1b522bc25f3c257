"""The operator's commands against real processes: send, tail, cancel and trail, over a captain's death too."""

import io
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.launching import PATIENCE_S, Launched, called, clankie, until

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

Json = dict[str, Any]


def ran(up: Launched, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = called(up.folder, up.env, *arguments)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def sent(up: Launched, conversation: str, text: str, *options: str) -> str:
    """A message that is not waited for; its receipt."""
    done = ran(up, "send", "--conversation", conversation, "--json", *options, text)
    return json.loads(done.stdout)["run_receipt"]


class Tail:
    """A ``clankie tail --json`` that is read while it runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.events: list[Json] = []
        self.asides: list[str] = []
        self.readers = [threading.Thread(target=each) for each in (self._read, self._listen)]
        for each in self.readers:
            each.start()

    def until(self, holds: Callable[[Json], bool]) -> Json:
        """The first event of which this holds."""
        assert until(lambda: any(holds(each) for each in [*self.events])), (self.events, self.asides)
        return next(each for each in self.events if holds(each))

    def settled(self, receipt: str) -> Json:
        return self.until(lambda each: each["event"] == "settled" and each["run_receipt"] == receipt)

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.events.append(json.loads(line))

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            self.asides.append(line)


@contextmanager
def tailing(up: Launched, *arguments: str) -> Generator[Tail]:
    process = subprocess.Popen(
        [sys.executable, "-m", "clankie_cli", "tail", "--json", *arguments],
        cwd=up.folder,
        env=up.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    tail = Tail(process)
    try:
        assert until(lambda: any("following" in each for each in tail.asides))
        yield tail
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE_S)
        for each in tail.readers:
            each.join()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    assert code == 0, tail.asides


@pytest.mark.requirement("OPS-3")
def test_a_message_is_answered_where_it_is_waited_for(shared: Launched) -> None:
    done = clankie(shared.folder, shared.env, "send", "--new", "--wait", "hello there")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "operator, I heard \u201chello there\u201d.\n"
    assert "clankie: conversation c_" in done.stderr


@pytest.mark.requirement("OPS-3")
def test_words_are_read_from_standard_input_and_the_answer_is_json_for_programs(
    shared: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("two\nlines\n"))
    said = json.loads(ran(shared, "send", "--stdin", "--json", "--wait", "--conversation", "piped").stdout)
    assert (said["state"], said["conversation_id"]) == ("replied", "piped")
    assert "two lines" in said["text"]


@pytest.mark.requirement("OPS-3")
def test_an_end_without_words_is_said_beside_the_answer(shared: Launched) -> None:
    done = ran(shared, "send", "--conversation", "quiet", "--wait", "please stay silent")
    assert "chose not to speak" in done.stderr
    assert not done.stdout


@pytest.mark.requirement("OPS-3")
def test_the_same_id_again_is_the_same_message(shared: Launched) -> None:
    first, again = (sent(shared, "twice", "hello once", "--id", "only-one") for _ in range(2))
    assert first == again
    other = ran(shared, "send", "--conversation", "twice", "--id", "only-one", "hello twice", code=1)
    assert "delivery_conflict" in other.stderr
    ran(shared, "send", "--conversation", "twice", "--id", "only-one", "--wait", "hello once")
    heard = [json.loads(line) for line in ran(shared, "trail", "conversations/twice").stdout.splitlines()]
    assert [each["kind"] for each in heard].count("heard") == 1


@pytest.mark.requirement("OPS-1", "OPS-2", "OPS-3")
def test_a_steer_joins_the_live_run_and_a_queued_message_waits_for_its_own(shared: Launched) -> None:
    with tailing(shared, "both") as tail:
        live = sent(shared, "both", "slow please, and count")
        tail.until(lambda each: each["event"] == "token")
        steer = sent(shared, "both", "and this too", "--delivery", "steer")
        queued = sent(shared, "both", "a second matter", "--delivery", "queue")
        assert tail.settled(steer)["state"] == "absorbed"
        assert tail.settled(live)["state"] == "replied"
        assert tail.settled(queued)["state"] == "replied"
    said = [each["text"] for each in tail.events if each["event"] == "said"]
    assert len(said) == 2
    assert "and this too" in said[0]
    assert "a second matter" in said[1]
    accepted = [each["run_receipt"] for each in tail.events if each["event"] == "accepted"]
    assert accepted == [live, steer, queued]


@pytest.mark.requirement("OPS-1", "OPS-3")
def test_a_turn_that_is_cancelled_ends_and_the_one_behind_it_goes_on(shared: Launched) -> None:
    begun = ran(shared, "send", "--conversation", "cancels", "--id", "live", "--within", "0.2", "slow please", code=5)
    live = begun.stderr.rpartition(" ")[2].strip()
    assert f"it goes on, and ends with: clankie cancel {live}" in begun.stderr
    behind = sent(shared, "cancels", "the next matter", "--delivery", "queue")
    assert live in ran(shared, "cancel", live).stdout
    assert "no turn of yours has the receipt c-0" in ran(shared, "cancel", "c-0", code=1).stderr
    ended = ran(shared, "send", "--conversation", "cancels", "--id", "live", "--wait", "slow please", code=4)
    assert "failed: captain_cancelled" in ended.stderr
    waited = ran(shared, "send", "--conversation", "cancels", "--delivery", "queue", "--wait", "last")
    assert "last" in waited.stdout
    written = [json.loads(line) for line in ran(shared, "trail", "conversations/cancels").stdout.splitlines()]
    ends = {each["payload"]["run_receipt"]: each["payload"]["state"] for each in written if each["kind"] == "settled"}
    assert (ends[live], ends[behind]) == ("failed", "replied")
    assert json.loads(ran(shared, "cancel", "--json", behind).stdout)["state"] == "replied"
    assert "unknown_delivery" in ran(shared, "cancel", "nothing", code=1).stderr


@pytest.mark.requirement("OPS-2", "OPS-3")
def test_a_captains_death_breaks_neither_the_wait_nor_the_tail(shared: Launched) -> None:
    with tailing(shared, "over") as tail:
        command = [sys.executable, "-m", "clankie_cli", "send", "--conversation", "over", "--wait", "slow please"]
        with subprocess.Popen(
            command, cwd=shared.folder, env=shared.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as waiting:
            tail.until(lambda each: each["event"] == "token")
            shared.programs()["captain"].kill()
            out, err = waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == 0, err
        assert "slow please" in out
        tail.until(lambda each: each["event"] == "settled")
    assert any("taken up again" in each for each in tail.asides)
    stored = [int(each["id"]) for each in tail.events if each["id"] is not None]
    assert stored == sorted(set(stored))
    assert [each["event"] for each in tail.events].count("said") == 1


@pytest.mark.requirement("LANE-12")
def test_a_lane_is_found_by_its_room_by_a_message_and_by_its_own_id(shared: Launched) -> None:
    from tests.cli.test_up import answer_to, told

    assert "trail me" in answer_to(shared, "Ann", "@Clankie trail me", room="random")
    rooms = told(shared, "describe")["rooms"]
    room = next(each for each in rooms if each.get("name") == "random")
    (asked,) = [each for each in told(shared, "messages", room="random") if each["content"].endswith("trail me")]
    lane = f"rooms/discord:{room['guild_id']}:{room['id']}"
    shown = [ran(shared, "trail", name).stdout for name in (f"{room['guild_id']}:{room['id']}", asked["id"], lane)]
    assert shown[0] == shown[1] == shown[2]
    lines = [json.loads(line) for line in shown[0].splitlines()]
    assert {each["lane"] for each in lines} == {lane}
    assert [each["payload"]["body"] for each in lines if each["kind"] == "heard"] == ["@Clankie trail me"]
    last = ran(shared, "trail", lane, "--last", "2").stdout.splitlines()
    assert last == shown[0].splitlines()[-2:]
    text = ran(shared, "trail", lane, "--text").stdout
    assert "Ann: @Clankie trail me" in text


@pytest.mark.requirement("LANE-12")
@pytest.mark.parametrize(
    ("name", "said"), [("1:2", "has he ever been spoken to"), ("404", "message's id"), ("rooms/x", "no such lane")]
)
def test_what_has_no_lane_is_said(shared: Launched, name: str, said: str) -> None:
    assert said in ran(shared, "trail", name, code=1).stderr


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize(
    "arguments", [("send", "--new", "hello"), ("tail", "mine"), ("cancel", "c-1"), ("trail", "rooms/x")]
)
def test_another_operators_token_opens_nothing(shared: Launched, arguments: tuple[str, ...]) -> None:
    done = called(shared.folder, shared.env | {"CLANKIE_OPERATOR_TOKEN": "CANARY-of-another"}, *arguments)
    assert done.returncode == 1
    assert "CLANKIE_OPERATOR_TOKEN" in done.stderr
    assert "CANARY" not in done.stderr


@pytest.mark.requirement("OPS-9")
def test_a_running_trial_is_in_good_health(shared: Launched) -> None:
    found = json.loads(ran(shared, "doctor", "--json").stdout)
    states = {each["check"]: each["state"] for each in found["checks"]}
    assert found["ok"]
    assert (states["captain"], states["bridge"], states["database"], states["secrets"]) == ("ok", "ok", "ok", "ok")
    assert (states["token"], states["model"]) == ("skipped", "skipped")


@pytest.mark.parametrize(
    "arguments", [("send", "--new", "hello"), ("tail", "mine"), ("cancel", "c-1"), ("trail", "1:2")]
)
def test_without_a_captain_each_command_says_what_to_do_and_makes_nothing(
    tmp_path: Path, shared: Launched, arguments: tuple[str, ...]
) -> None:
    env = shared.env | {"CLANKIE_CAPTAIN_URL": "http://127.0.0.1:9", "CLANKIE_STATE": str(tmp_path / "state")}
    done = called(tmp_path, env, *arguments)
    assert done.returncode == 3
    assert done.stderr == "clankie: nothing answers at http://127.0.0.1:9; start it with: clankie up\n"
    assert not (tmp_path / "state").exists()

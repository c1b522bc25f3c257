"""Each server is asked once, and what keeps it from answering is said with what to do."""

from pathlib import Path

import pytest

from clankie_captain.mcp.inquiry import inquire
from clankie_settings.servers import HttpServer, StdioServer
from tests.captain.mcp.conftest import odd


@pytest.mark.requirement("OPS-9")
async def test_servers_are_asked_together_and_each_has_its_line(tmp_path: Path) -> None:
    ends = StdioServer(command="/bin/false", env={"PATH": "/bin"}, cwd="/")
    lost = StdioServer(command="no-such-program", env={"PATH": "/bin"}, cwd="/")
    homeless = StdioServer(command="true", env={"PATH": "/bin"}, cwd=str(tmp_path / "none"))
    found = await inquire({
        "homeless": homeless,
        "odd": odd(tmp_path, "b", "a", "a"), "ends": ends, "lost": lost, "away": HttpServer(url="http://127.0.0.1:9/mcp"),
    })  # fmt: skip
    said = {each.server: each for each in found}
    assert said["odd"].tools == ("odd_a", "odd_b")
    assert said["odd"].left_out == {"twice": 1}
    assert "its program ended" in (said["ends"].fault or "")
    assert "no program on PATH" in (said["lost"].fault or "")
    assert "its cwd is no folder" in (said["homeless"].fault or "")
    assert "nothing answers at its address" in (said["away"].fault or "")

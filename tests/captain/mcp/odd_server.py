"""A server over standard input and output that does what servers should not; it needs nothing but Python.

Its tools are those of the file that it is given, and a call's name says what it does.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[1])
"""Holds the names of its tools, one a line; what it was told lies beside it."""


KINDS = (
    {"type": "image", "data": "QUJD" * 100, "mimeType": "image/png"},
    {"type": "resource_link", "uri": "file:///x", "name": "it"},
    {"type": "resource", "resource": {"uri": "file:///y", "text": "held words"}},
    {"type": "resource", "resource": {"uri": "file:///z", "blob": "QUJD"}},
    {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
)


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(number: Any, *parts: dict[str, Any], failed: bool = False) -> None:
    say(id=number, result={"content": list(parts), "isError": failed})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"words": {"type": "string"}}}
    return [{"name": each, "description": f"Does {each}.", "inputSchema": schema} for each in FILE.read_text().split()]


def call(number: Any, name: str, given: dict[str, Any], token: Any) -> None:  # noqa: C901 -- a list of oddities
    words = str(given.get("words", ""))
    match name:
        case "environment":
            answer(number, text(json.dumps(dict(os.environ))))
        case "folder":
            answer(number, text(str(Path.cwd())))
        case "million":
            answer(number, text("x" * 1_000_000))
        case "flood":
            answer(number, text("x" * 3_000_000))
        case "maze":
            answer(number, *[text("x")] * 30_000)
        case "hang":
            FILE.with_suffix(".asked").touch()
        case "die":
            os._exit(3)
        case "slow":
            for step in range(3):
                say(method="notifications/progress", params={"progressToken": token, "progress": step})
            answer(number, text("at last"))
        case "fail":
            answer(number, text("no such thing"), failed=True)
        case "refuse":
            say(id=number, error={"code": -32603, "message": "not today"})
        case "junk":
            say(id=number, result={"content": "of another shape"})
        case "kinds":
            answer(number, *KINDS)
        case "child":
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            answer(number, text(f"{os.getpid()} {child.pid}"))
        case "grow":
            FILE.write_text(FILE.read_text() + f" {words}")
            say(method="notifications/tools/list_changed")
            answer(number, text("grown"))
        case _:
            answer(number, text(words))


def main() -> None:
    print("starting up", flush=True)
    print("a word of the program's own", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        number = message.get("id")
        match message["method"]:
            case "initialize":
                FILE.with_suffix(".capabilities").write_text(json.dumps(params["capabilities"]))
                information = {"name": "odd", "version": "1"}
                able = {"tools": {"listChanged": True}}
                say(id=number, result={"protocolVersion": params["protocolVersion"], "capabilities": able,
                                       "serverInfo": information})  # fmt: skip
            case "tools/list":
                say(id=number, result={"tools": tools()})
            case "tools/call":
                call(number, params["name"], params.get("arguments", {}), params.get("_meta", {}).get("progressToken"))
            case "notifications/cancelled":
                FILE.with_suffix(".cancelled").touch()
            case _ if number is not None:
                say(id=number, error={"code": -32601, "message": "no such method"})
            case _:
                pass
    if FILE.with_suffix(".stays").exists():
        # It goes on when nobody speaks with it any more.
        subprocess.run(["sleep", "600"], check=False)


main()

"""What became of a turn, in words and as an exit code."""

from typing import Any

from clankie_cli import exits
from clankie_cli.plain import plain, plain_lines

Json = dict[str, Any]


def code_of(result: Json) -> int:
    """The exit code of a settled turn."""
    return exits.FAILED if result.get("state") == "failed" else exits.DONE


def words(result: Json) -> tuple[str | None, str | None]:
    """His words, and what else there is to say about a settled turn."""
    match result.get("state"):
        case "replied":
            return plain_lines(str(result.get("text", ""))), None
        case "absorbed":
            answered = plain(str(result.get("answered_by")))
            return None, f"heard by the run of {answered}, whose reply answers it"
        case "silent":
            return None, "he read it, and chose not to speak"
        case "failed":
            return None, f"failed: {plain(str(result.get('code')))}"
        case state:
            return None, f"ended as {plain(str(state))}, which this version does not know; upgrade the clankie command"

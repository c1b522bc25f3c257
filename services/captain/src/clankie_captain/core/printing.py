"""What a program wrote, as text for a reader who is no terminal. Source: GRANT-4."""

import re
from typing import Final

from clankie_captain.core.quoting import visible

_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # titles, links, and what only some terminals know
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_ENDS: Final = re.compile(r"\r\n?")


def readable(data: bytes) -> str:
    """The text without sequences for terminals and what nobody sees; what is no UTF-8 becomes U+FFFD."""
    return visible(_ENDS.sub("\n", _SEQUENCE.sub("", data.decode("utf-8", "replace"))))


def shortened(head: bytes, tail: bytes, cut: int) -> str:
    """Beginning and end of what a program wrote, and how many bytes are missing between them."""
    if not cut:
        return readable(head + tail)
    return f"{readable(head)}\n[… {cut} bytes are left out here …]\n{readable(tail)}"

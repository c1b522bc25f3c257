"""Takes the OpenAI client's walk over all messages out of each request.

The client walks through every message of a request to rename keys that callers may write in Python's manner. It does so
on the event loop, and takes a tenth of a second for five hundred messages. The loop library hands over messages in the
wire's own form, so the walk changes nothing; a test compares the bodies.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from openai.resources.chat.completions import completions

_NAME: Final = "async_maybe_transform"
_MARK: Final = "__wrapped__"


def skip_message_walk() -> bool:
    """Have chat completion requests of this process keep their messages as they are; False where that is not possible.

    Another version of the client that has no such walk is left alone. Doing it twice is doing it once.
    """
    walk: Callable[[Any, Any], Awaitable[Any]] | None = getattr(completions, _NAME, None)
    if walk is None:
        return False
    if hasattr(walk, _MARK):
        return True
    setattr(completions, _NAME, _without_messages(walk))
    return True


def _without_messages(walk: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    async def walk_the_rest(data: Any, expected_type: Any) -> Any:
        given = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if not isinstance(given.get("messages"), list):
            return await walk(data, expected_type)
        walked = await walk({**given, "messages": []}, expected_type)
        # The key keeps its place, and with it the body its bytes.
        return {**walked, "messages": given["messages"]}

    setattr(walk_the_rest, _MARK, walk)
    return walk_the_rest

"""Text that every provider and every database takes: no half of a surrogate pair, no NUL. Source: LANE-14."""

import json
import unicodedata
from typing import Any, cast

REPLACEMENT = "\ufffd"


def scrub(text: str) -> str:
    """The text with surrogate pairs joined, their lone halves replaced by U+FFFD, and without NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        # Both halves may have come in different chunks; this joins those and replaces what stays alone.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "")


def scrub_data(value: Any) -> Any:
    """JSON-like data with every text in it scrubbed, keys included; whatever is clean is returned as it is."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub_data(key): scrub_data(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [scrub_data(item) for item in cast("list[Any]", value)]
    return value


def scrub_json(text: str) -> str:
    """JSON text whose strings are scrubbed too where they hold escapes; text that is no JSON is only scrubbed."""
    text = scrub(text)
    folded = text.casefold()
    if "\\ud" not in folded and "\\u0000" not in folded:
        return text
    try:
        return json.dumps(scrub_data(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return text


def is_blank(text: str) -> bool:
    """Whether nothing can be seen of it: only spaces, and control or format characters. Source: C10."""
    return all(unicodedata.category(char)[0] in "ZC" for char in text)

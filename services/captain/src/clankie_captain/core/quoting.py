"""What a tool found, between two lines that nothing in it can imitate. Source: CTX-4."""

import json


def quoted(text: str, name: str, delimiter: str) -> str:
    """Text of a file as the model reads it; ``delimiter`` is random and new for each.

    Raises:
        ValueError: The delimiter occurs in it; take another.
    """
    label = json.dumps(name, ensure_ascii=True)
    if delimiter in text or delimiter in label:
        raise ValueError("the delimiter occurs in the file")
    return f"<<<file-{delimiter} path={label}\n{text}\n{delimiter}>>>"

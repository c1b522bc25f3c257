"""Text as a terminal may be given it."""


def plain(text: str) -> str:
    """One line without control characters, which could move the cursor of whoever reads."""
    return "".join(char if char.isprintable() else " " for char in text).rstrip()


def plain_lines(text: str) -> str:
    """Several lines, each without control characters."""
    return "\n".join(plain(line.expandtabs(4)) for line in text.splitlines())

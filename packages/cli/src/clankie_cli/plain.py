"""Text as a terminal may be given it."""


def plain(text: str) -> str:
    """One line without control characters, which could move the cursor of whoever reads."""
    return "".join(char if char.isprintable() else " " for char in text).rstrip()


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in ``1 lane`` and ``2 lanes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def plain_lines(text: str) -> str:
    """Several lines, each without control characters."""
    return "\n".join(plain(line.expandtabs(4)) for line in text.splitlines())

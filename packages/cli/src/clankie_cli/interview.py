"""Questions to a person at a terminal, one a line."""

import getpass
import sys
from collections.abc import Callable
from typing import Final, Protocol

from clankie_cli.errors import CannotRun

TRIES: Final = 5
"""How often one question is put before it is given up."""

Judge = Callable[[str], str | None]
"""Says what is wrong with an answer, if something is."""


class Interview(Protocol):
    """Whoever answers."""

    def say(self, text: str = "") -> None:
        """Show a line."""
        ...

    def ask(self, question: str, default: str | None, judge: Judge) -> str:
        """An answer that the judge lets pass; an empty one is the default."""
        ...

    def ask_secret(self, question: str, judge: Judge) -> str:
        """The same, without showing what is typed."""
        ...

    def agree(self, question: str) -> bool:
        """Yes or no; an empty answer is yes."""
        ...


class Terminal:
    """A person at standard input."""

    def say(self, text: str = "") -> None:
        """Show a line."""
        print(text, flush=True)

    def ask(self, question: str, default: str | None, judge: Judge) -> str:
        """An answer that the judge lets pass; an empty one is the default.

        Raises:
            CannotRun: Nobody answers, or nobody answers well.
        """
        shown = f"{question}{f' [{default}]' if default else ''}: "
        return self._sought(lambda: _typed(shown) or (default or ""), judge)

    def ask_secret(self, question: str, judge: Judge) -> str:
        """An answer that is not shown while it is typed.

        Raises:
            CannotRun: Nobody answers, or nobody answers well.
        """
        shown = f"{question} (is not shown): "

        def read() -> str:
            return getpass.getpass(shown).strip() if sys.stdin.isatty() else _typed(shown)

        return self._sought(read, judge)

    def agree(self, question: str) -> bool:
        """Yes or no; an empty answer is yes.

        Raises:
            CannotRun: Nobody answers.
        """
        return _typed(f"{question} [Y/n]: ").casefold() in ("", "y", "yes")

    def _sought(self, read: Callable[[], str], judge: Judge) -> str:
        for _ in range(TRIES):
            try:
                answer = read()
            except EOFError as error:
                raise _nobody() from error
            fault = judge(answer)
            if fault is None:
                return answer
            self.say(f"  {fault}")
        raise CannotRun(f"no answer could be used in {TRIES} tries; nothing was written")


class Nobody:
    """Answers every question with its default."""

    def say(self, text: str = "") -> None:
        """Show a line."""
        print(text, flush=True)

    def ask(self, question: str, default: str | None, judge: Judge) -> str:
        """The default.

        Raises:
            CannotRun: There is none that could be used.
        """
        fault = judge(default or "")
        if fault is not None:
            raise CannotRun(f"{question.strip()}: {fault}; say it with an option (clankie init --help)")
        return default or ""

    def ask_secret(self, question: str, judge: Judge) -> str:
        """Nobody tells a secret.

        Raises:
            CannotRun: Always.
        """
        del judge
        raise CannotRun(f"{question.strip()}: set it in the environment")

    def agree(self, question: str) -> bool:
        """No."""
        del question
        return False


def _typed(shown: str) -> str:
    try:
        return input(shown).strip()
    except EOFError as error:
        raise _nobody() from error


def _nobody() -> CannotRun:
    return CannotRun("nobody answers; without a terminal use: clankie init --no-input, and options")

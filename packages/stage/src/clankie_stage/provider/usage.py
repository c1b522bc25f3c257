"""What an answer cost."""

from dataclasses import dataclass

from clankie_stage.provider.tokens import tokens_of


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token counts of what was asked; ``size`` includes ``cached`` and ``written``, what the cache takes in anew."""

    size: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request; ``completion`` includes ``reasoning``."""

    prompt: Prompt
    completion: int = 0
    reasoning: int = 0


@dataclass(slots=True)
class Meter:
    """Adds up the bytes that an answer sends."""

    answer: int = 0
    thought: int = 0

    def spoke(self, words: str) -> None:
        """Count words, refusals and tool arguments."""
        self.answer += len(words.encode("utf-8", "surrogatepass"))

    def mused(self, words: str) -> None:
        """Count reasoning."""
        self.thought += len(words.encode("utf-8", "surrogatepass"))

    def read(self, prompt: Prompt) -> Usage:
        """The usage so far, for this prompt."""
        reasoning = tokens_of(self.thought)
        return Usage(prompt, tokens_of(self.answer) + reasoning, reasoning)

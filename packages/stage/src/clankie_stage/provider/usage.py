"""What an answer cost."""

from dataclasses import dataclass

from clankie_stage.provider.tokens import tokens_of


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request; ``prompt`` includes ``cached``, ``completion`` includes ``reasoning``."""

    prompt: int = 0
    cached: int = 0
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

    def read(self, prompt: int, cached: int) -> Usage:
        """The usage so far, for a prompt of this many tokens."""
        reasoning = tokens_of(self.thought)
        return Usage(prompt, cached, tokens_of(self.answer) + reasoning, reasoning)

"""Approximate token counts, and the prompt cache that makes them cheaper."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1_000
"""What one picture costs, whatever its size: of the order of both providers' prices for a mid-sized one."""
_BLOCKS = 200_000


def tokens_of(size: int) -> int:
    """Tokens of a text of ``size`` bytes, rounded up."""
    return -(-size // BYTES_PER_TOKEN)


def render(tools: Iterable[JsonObject], messages: Iterable[JsonObject]) -> bytes:
    """The prompt as one run of bytes, tools before messages as providers hash them.

    A picture becomes its hash, padded to its price, so that neither base64 nor its length counts.
    """
    lines = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools]
    lines.extend(_message_text(message) for message in messages)
    return "\n".join(lines).encode()


def _message_text(message: JsonObject) -> str:
    parts = sequence(message.get("content"))
    if parts is not None:
        message = {**message, "content": [_folded(part) for part in parts]}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _folded(part: object) -> object:
    entry = mapping(part) or {}
    if (image := mapping(entry.get("image_url"))) is not None:
        return _priced(image.get("url"))
    if (source := mapping(entry.get("source"))) is not None:
        return _priced(source.get("data"))
    if (inner := sequence(entry.get("content"))) is not None:
        return {**entry, "content": [_folded(each) for each in inner]}
    return part


def _priced(picture: object) -> str:
    return hashlib.sha256(str(picture).encode()).hexdigest().ljust(IMAGE_TOKENS * BYTES_PER_TOKEN, "=")


def cacheable(size: int, limits: Limits) -> int:
    """How many tokens of a prompt of ``size`` tokens the cache takes in."""
    whole = size - size % max(1, limits.cache_step_tokens)
    return whole if whole >= limits.cache_minimum_tokens else 0


class PrefixCache:
    """Remembers the prefixes of earlier prompts in blocks, as providers do, forgetting the oldest blocks."""

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def lookup(self, rendered: bytes, limits: Limits) -> int:
        """How many tokens an earlier prompt shares with this one from the start; then remember this one."""
        cached, unbroken = 0, True
        for tokens, key in self._blocks(rendered, limits):
            unbroken = unbroken and key in self._seen
            if unbroken:
                cached = tokens
            self._seen[key] = None
            self._seen.move_to_end(key)
        while len(self._seen) > _BLOCKS:
            self._seen.popitem(last=False)
        return cached

    def clear(self) -> None:
        """Forget every prompt."""
        self._seen.clear()

    @staticmethod
    def _blocks(rendered: bytes, limits: Limits) -> Iterator[tuple[int, bytes]]:
        """The length in tokens and the hash of each prefix that ends on a block border."""
        step = max(1, limits.cache_step_tokens)
        chain, start = hashlib.blake2b(digest_size=16), 0
        first = max(step, limits.cache_minimum_tokens)
        tokens = -(-first // step) * step
        while tokens * BYTES_PER_TOKEN <= len(rendered):
            end = tokens * BYTES_PER_TOKEN
            chain.update(memoryview(rendered)[start:end])
            yield tokens, chain.copy().digest()
            start, tokens = end, tokens + step

"""What the loopback provider accepts, as numbers a test may narrow."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one provider.

    Attributes:
        body_bytes: Whole request body. Source: Anthropic's 32 MB request limit.
        image_base64_chars: One image, counted on its base64 text. Source: C32.
        images: Image parts in one request.
        image_side: Longer side of one image, in pixels. Source: Anthropic's limit.
        many_images: Image parts beyond which each may only be ``many_images_side`` pixels long. Source: Anthropic's.
        context_tokens: Prompt size from which ``context_length_exceeded`` is answered. Source: C09.
        tools: Tools offered in one request. Source: OpenAI's 128.
        cache_minimum_tokens: Shortest prefix that counts as cached. Source: OpenAI prompt caching.
        cache_step_tokens: Cached prefixes grow in steps of this many tokens. Source: OpenAI prompt caching.
        models: Names that are served; empty serves any name.
        vision: Whether image parts are understood at all. Source: C04.
    """

    body_bytes: int = 32 * 1024 * 1024
    image_base64_chars: int = 5_242_880
    images: int = 100
    image_side: int = 8_000
    many_images: int = 20
    many_images_side: int = 2_000
    context_tokens: int = 128_000
    tools: int = 128
    cache_minimum_tokens: int = 1024
    cache_step_tokens: int = 128
    models: tuple[str, ...] = ()
    vision: bool = True

    def for_images(self, count: int) -> "Limits":
        """The bounds of a request with so many images."""
        return replace(self, image_side=self.many_images_side) if count > self.many_images else self

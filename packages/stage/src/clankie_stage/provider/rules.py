"""The one entry to strictness: raw bytes in, an accepted request or the first refusal out."""

from collections.abc import Iterator
from dataclasses import dataclass

from clankie_stage.provider.bodies import read_body
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.messages import message_rules
from clankie_stage.provider.parameters import parameter_rules
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.shapes import JsonObject, mapping, sequence
from clankie_stage.provider.tokens import render, tokens_of
from clankie_stage.provider.tooling import tool_rules


@dataclass(frozen=True, slots=True)
class Request:
    """A request that passed every rule.

    Attributes:
        model: The model's name as it was asked for.
        stream: Whether the answer is wanted as server-sent events.
        include_usage: Whether a stream ends with a usage chunk.
        messages: The history, oldest first, in OpenAI's form whatever the request's own was.
        tools: The offered tools, in OpenAI's form.
        rendered: The prompt as one run of bytes, tools first, images folded to their price.
        prompt_tokens: Approximate size of the prompt, four bytes a token.
        caches: Whether the prompt cache is used at all.
    """

    model: str
    stream: bool
    include_usage: bool
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...]
    rendered: bytes
    prompt_tokens: int
    caches: bool = True


def check(raw: bytes, limits: Limits) -> Request | Refusal:
    """Judge a chat completion body as strictly as the strictest real provider would."""
    if len(raw) > limits.body_bytes:
        return too_large(limits)
    body = read_body(raw)
    if isinstance(body, Refusal):
        return body
    refusal = next(_rules(body.value, limits), None)
    if refusal is not None:
        return refusal
    request = _request(body.value)
    return _overflow(request.prompt_tokens, limits) or request


def authorize(header: str | None, bad_keys: frozenset[str]) -> Refusal | None:
    """Why a request's Authorization header does not let it in; None when it does."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return Refusal(401, "No API key: send 'Authorization: Bearer KEY'.")
    if key.strip() in bad_keys:
        return Refusal(401, "Incorrect API key.", code="invalid_api_key")
    return None


def too_large(limits: Limits) -> Refusal:
    """The refusal of a body over the limit."""
    return Refusal(413, f"The body exceeds {limits.body_bytes} bytes.", code="request_too_large")


def _rules(body: JsonObject, limits: Limits) -> Iterator[Refusal]:
    yield from parameter_rules(body, limits)
    yield from tool_rules(body, limits)
    yield from message_rules(sequence(body["messages"]) or [], limits)


def _overflow(prompt_tokens: int, limits: Limits) -> Refusal | None:
    if prompt_tokens <= limits.context_tokens:
        return None
    return Refusal(
        400,
        f"This model's maximum context length is {limits.context_tokens} tokens; the messages are {prompt_tokens}.",
        param="messages",
        code="context_length_exceeded",
    )


def _request(body: JsonObject) -> Request:
    messages = _objects(body["messages"])
    tools = _objects(body.get("tools"))
    rendered = render(tools, messages)
    options = mapping(body.get("stream_options")) or {}
    return Request(
        model=str(body["model"]),
        stream=body.get("stream") is True,
        include_usage=options.get("include_usage") is True,
        messages=messages,
        tools=tools,
        rendered=rendered,
        prompt_tokens=tokens_of(len(rendered)),
    )


def _objects(value: object) -> tuple[JsonObject, ...]:
    return tuple(entry for item in sequence(value) or [] if (entry := mapping(item)) is not None)

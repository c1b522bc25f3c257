"""The entry to Anthropic's strictness: headers and raw bytes in, an accepted request or the first refusal out."""

from collections.abc import Iterator, Mapping

from clankie_stage.provider.anthropic_errors import TOO_LONG
from clankie_stage.provider.anthropic_hearing import as_heard, offered
from clankie_stage.provider.anthropic_messages import history_rules
from clankie_stage.provider.anthropic_parameters import body_rules, caches, thinks
from clankie_stage.provider.bodies import read_body
from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal, invalid
from clankie_stage.provider.rules import Request
from clankie_stage.provider.shapes import JsonObject, mapping, sequence
from clankie_stage.provider.tokens import render, tokens_of

OLD_VERSIONS = ("2023-01-01", "2023-06-01")
NEWEST_VERSION = "2026-10-21"
"""What the version header may say. Source: the API's published versions."""

_SAMPLING = ("temperature", "top_p", "top_k")


def authorize_key(headers: Mapping[str, str], bad_keys: frozenset[str]) -> Refusal | None:
    """Why a request's headers do not let it in; None when they do.

    The key comes as ``x-api-key`` or, from newer clients, as a bearer.
    """
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    key = headers.get("x-api-key", "").strip() or (bearer.strip() if scheme.lower() == "bearer" else "")
    if not key:
        return Refusal(401, "x-api-key header is required")
    if key in bad_keys:
        return Refusal(401, "invalid x-api-key")
    version = headers.get("anthropic-version")
    if version is None:
        return invalid("anthropic-version", "header is required")
    known = version in (*OLD_VERSIONS, NEWEST_VERSION)
    return None if known else invalid("anthropic-version", "is not a valid version")


def check_messages(raw: bytes, limits: Limits, version: str = NEWEST_VERSION) -> Request | Refusal:
    """Judge a messages body as strictly as the real provider would for a version of its API."""
    if len(raw) > limits.body_bytes:
        return size_refusal()
    body = read_body(raw)
    if isinstance(body, Refusal):
        return body
    refusal = next(_rules(body.value, limits, version), None)
    if refusal is not None:
        return refusal
    request = _request(body.value)
    if request.prompt_tokens > limits.context_tokens:
        return invalid(None, f"{TOO_LONG}: {request.prompt_tokens} tokens > {limits.context_tokens} maximum")
    return request


def size_refusal() -> Refusal:
    """The refusal of a body over the limit."""
    return Refusal(413, "Request exceeds the maximum size")


def _rules(body: JsonObject, limits: Limits, version: str) -> Iterator[Refusal]:
    yield from body_rules(body, limits)
    for name in _SAMPLING if version == NEWEST_VERSION else ():
        if name in body:
            yield invalid(name, f"is no parameter of version {NEWEST_VERSION}")
    yield from history_rules(sequence(body["messages"]) or [], thinks(body), limits)


def _request(body: JsonObject) -> Request:
    messages = [entry for item in sequence(body["messages"]) or [] if (entry := mapping(item)) is not None]
    tools = [entry for item in sequence(body.get("tools")) or [] if (entry := mapping(item)) is not None]
    system: list[JsonObject] = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    rendered = render(_plain_objects(tools), _plain_objects([*system, *messages]))
    return Request(
        model=str(body["model"]),
        stream=body.get("stream") is True,
        include_usage=True,
        messages=tuple(as_heard([*system, *messages])),
        tools=tuple(offered(tools)),
        rendered=rendered,
        prompt_tokens=tokens_of(len(rendered)),
        caches=caches(body),
    )


def _plain_objects(values: list[JsonObject]) -> list[JsonObject]:
    return [mapping(_plain(value)) or {} for value in values]


def _plain(value: object) -> object:
    """The value without its cache points: where they stand is no part of what is cached."""
    if (items := sequence(value)) is not None:
        return [_plain(item) for item in items]
    if (entry := mapping(value)) is not None:
        return {key: _plain(item) for key, item in entry.items() if key != "cache_control"}
    return value

"""Spans of runs, model requests and tool calls for OpenTelemetry, where an endpoint is configured. Source: OPS-8.

What leaves is chosen by name: counts, durations, and words of ours. Prompts, answers, arguments, results and a
provider's error words are not recorded, and whatever else the library writes into a span is left out here.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings

from clankie_captain.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

WORDS: Final = frozenset({
    "error.type", "gen_ai.agent.name", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model",
    "gen_ai.response.finish_reasons", "gen_ai.response.model", "gen_ai.tool.name",
})  # fmt: skip
"""Attributes that hold words and may leave; of all others only numbers and switches do."""

SEND_WITHIN: Final = timedelta(seconds=3)
"""How long sending some spans may take with all its tries; a stopping captain waits as long for its last ones."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Tracing:
    """What a loop needs to be traced, and what sends the spans."""

    capability: Instrumentation
    provider: "TracerProvider"

    async def aclose(self) -> None:
        """Send the last spans, for a moment at most."""
        await asyncio.to_thread(self.provider.shutdown)


def tracing(endpoint: str | None, exporter: "SpanExporter | None" = None) -> Tracing | None:
    """Tracing to an OTLP endpoint over HTTP; None where none is configured.

    Raises:
        ConfigurationError: An endpoint is configured, and what sends to it is not installed.
    """
    if endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT needs what is not installed: pip install 'clankie-captain[otel]'"
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "clankie-captain"}))
    sender = exporter or OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=SEND_WITHIN.total_seconds())
    provider.add_span_processor(BatchSpanProcessor(_bare(sender)))
    settings = InstrumentationSettings(
        tracer_provider=provider,
        include_content=False,
        include_binary_content=False,
        include_model_request_parameters=False,
    )
    return Tracing(Instrumentation(settings), provider)


def kept(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """The attributes of a span that may leave."""
    found = attributes or {}
    return {name: value for name, value in found.items() if name in WORDS or isinstance(value, bool | int | float)}


def _bare(exporter: "SpanExporter") -> "SpanExporter":
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Bare(SpanExporter):
        """Hands spans on without what is not ours to tell; says once that they do not arrive, and once that they do."""

        def __init__(self) -> None:
            self._arrive = True

        def export(self, spans: "Sequence[ReadableSpan]") -> SpanExportResult:
            done = exporter.export([_without_words(span) for span in spans])
            arrive = done is SpanExportResult.SUCCESS
            if arrive is not self._arrive:
                self._arrive = arrive
                (_log.info if arrive else _log.warning)("tracing.arrives" if arrive else "tracing.lost")
            return done

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

    return Bare()


def _without_words(span: "ReadableSpan") -> "ReadableSpan":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Status

    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=kept(span.attributes),
        kind=span.kind,
        # An error's description, like an event of it, holds the provider's words.
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )

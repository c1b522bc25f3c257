"""Spans leave where an endpoint is configured, and hold no word that anybody wrote."""

import json
from collections.abc import AsyncIterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.model import build_models
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.quietness import quiet_libraries
from clankie_captain.agent.tracing import kept, tracing
from clankie_captain.core.run import Answered, Broken
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail
from tests.captain.agent.lane import Lane
from tests.captain.agent.strict import Strict, refusals

pytestmark = pytest.mark.requirement("OPS-8")

SECRET = "CANARY"


class Traced:
    """A loop that is traced, and what its spans would send."""

    def __init__(self, strict: Strict) -> None:
        self.sent = InMemorySpanExporter()
        self._tracing = tracing("http://127.0.0.1:1", self.sent)
        models, self._close = build_models(strict.settings(), Pulse())
        self.loop = PydanticLoop(models, strict.clock, Pulse(), self._close, self._tracing)

    async def names(self) -> list[str]:
        assert self._tracing is not None
        self._tracing.provider.force_flush()
        return [span.name for span in self.sent.get_finished_spans()]

    def told(self) -> str:
        return json.dumps([json.loads(span.to_json()) for span in self.sent.get_finished_spans()])


@pytest.fixture
async def traced(strict: Strict) -> AsyncIterator[Traced]:
    made = Traced(strict)
    yield made
    await made.loop.aclose()


async def test_a_run_its_requests_and_its_tools_are_spans_without_a_word_of_anybody(
    strict: Strict, lane: Lane, traced: Traced
) -> None:
    update = steps.call("send_text_update", {"text": f"{SECRET} soon"})
    strict.brain.script(steps.calls(update, before=SECRET), steps.text(f"{SECRET} answer"))
    lane.instructions = f"You are {SECRET}."
    assert await lane.run(traced.loop, f"{SECRET} words") == Answered(f"{SECRET} answer")
    names = await traced.names()
    assert sum(name.startswith("chat ") for name in names) == 2
    assert {"invoke_agent clankie", "execute_tool send_text_update"} <= set(names)
    told = traced.told()
    assert SECRET not in told
    assert "gen_ai.usage.input_tokens" in told
    # What is sent to the provider is the same with it as without.
    assert refusals(await strict.ended(2)) == []


async def test_an_error_is_told_by_its_kind_and_not_in_the_providers_words(
    strict: Strict, lane: Lane, traced: Traced
) -> None:
    strict.brain.script(steps.failed(Fail(400, "invalid_request_error", message=f"{SECRET} is wrong")))
    assert isinstance(await lane.run(traced.loop, f"{SECRET} words"), Broken)
    await traced.names()
    told = traced.told()
    assert SECRET not in told
    assert "ERROR" in told


def test_only_what_is_named_or_a_number_is_kept() -> None:
    given = {"gen_ai.tool.name": "search", "a": 1, "b": 2.5, "c": True, "words": "x", "list": ["x"], "bytes": b"x"}
    assert kept(given) == {"gen_ai.tool.name": "search", "a": 1, "b": 2.5, "c": True}
    assert kept(None) == {}


def test_without_an_endpoint_nothing_is_traced() -> None:
    assert tracing(None) is None


class Collector(InMemorySpanExporter):
    """Takes spans only while it is up."""

    up = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return super().export(spans) if self.up else SpanExportResult.FAILURE


async def test_a_collector_that_is_down_is_told_once_and_costs_no_run() -> None:
    collector = Collector()
    traced = tracing("http://127.0.0.1:1", collector)
    assert traced is not None
    spans = traced.provider.get_tracer("test")
    with capture_logs() as logged:
        for up in (False, False, True, True):
            collector.up = up
            spans.start_span("a span").end()
            traced.provider.force_flush()
    assert [line["event"] for line in logged] == ["tracing.lost", "tracing.arrives"]
    await traced.aclose()


async def test_nothing_but_our_own_line_is_said_of_a_collector_that_does_not_answer(
    capfd: pytest.CaptureFixture[str],
) -> None:
    quiet_libraries()
    traced = tracing("http://127.0.0.1:9")
    assert traced is not None
    traced.provider.get_tracer("test").start_span("a span").end()
    await traced.aclose()
    assert "127.0.0.1" not in "".join(capfd.readouterr())

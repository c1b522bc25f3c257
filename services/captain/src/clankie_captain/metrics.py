"""What Prometheus is told: counts and durations, by code; never a name, a text or an id. Source: OPS-8."""

from datetime import timedelta
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from clankie_captain.core.compaction import CompactionOutcome
from clankie_captain.core.pictures import POLICY, Pictures
from clankie_captain.core.run import Usage
from clankie_captain.core.turns import Counts
from clankie_captain.ports import SettledRun
from clankie_captain.ports.servers import CallOutcome

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The format of what is exposed."""

_SECONDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)


class Metrics:
    """One captain's measures; also a place where settled runs are written down."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._runs = Counter("clankie_runs", "Settled runs by outcome.", ["outcome"], registry=self._registry)
        self._absorbed = Counter("clankie_absorbed_turns", "Turns that another's run heard.", registry=self._registry)
        self._tokens = Counter("clankie_tokens", "Tokens by kind.", ["kind"], registry=self._registry)
        self._compactions = Counter(
            "clankie_compactions", "Compactions by outcome.", ["outcome"], registry=self._registry
        )
        self._requests = Counter("clankie_model_requests", "Answered model requests.", registry=self._registry)
        self._tools = Counter("clankie_tool_calls", "Tool calls.", registry=self._registry)
        self._pictures = Counter(
            "clankie_pictures", "Pictures of deliveries by fate and cause.", ["fate", "cause"], registry=self._registry
        )
        self._served = Counter(
            "clankie_server_calls", "Calls of tools of servers by outcome.", ["outcome"], registry=self._registry
        )
        self._took = Histogram(
            "clankie_run_seconds", "From a run's start to its end.", buckets=_SECONDS, registry=self._registry
        )
        self._waited = Histogram(
            "clankie_run_wait_seconds", "What runs waited for a slot.", buckets=_SECONDS, registry=self._registry
        )
        self._latency = Histogram(
            "clankie_reply_seconds", "From a message to its posted reply.", buckets=_SECONDS, registry=self._registry
        )
        self._live = Gauge("clankie_live_runs", "Runs that are live.", registry=self._registry)
        self._waiting = Gauge("clankie_waiting_turns", "Turns that no run has heard.", registry=self._registry)
        self._lanes = Gauge("clankie_lanes", "Lanes that there are.", registry=self._registry)

    async def settled(self, record: SettledRun) -> None:
        """Count a settled run."""
        self._runs.labels(record.outcome).inc()
        self._absorbed.inc(record.absorbed)
        self._tokens.labels("input").inc(record.usage.input_tokens)
        self._tokens.labels("output").inc(record.usage.output_tokens)
        self._tokens.labels("cached").inc(record.usage.cached_tokens)
        self._requests.inc(record.usage.requests)
        self._tools.inc(record.usage.tool_calls)
        self._took.observe(record.took.total_seconds())
        self._waited.observe(record.waited.total_seconds())

    def compacted(self, outcome: CompactionOutcome, usage: Usage) -> None:
        """Count a compaction that has ended, and what it cost."""
        self._compactions.labels(outcome).inc()
        self._tokens.labels("input").inc(usage.input_tokens)
        self._tokens.labels("output").inc(usage.output_tokens)
        self._tokens.labels("cached").inc(usage.cached_tokens)
        self._requests.inc(usage.requests)

    def resolved(self, pictures: Pictures) -> None:
        """Count a delivery's pictures: what is shown, what was left out, and what was not to be had. Source: IMG-4."""
        self._pictures.labels("shown", "").inc(len(pictures.shown))
        for each in pictures.unseen:
            self._pictures.labels("omitted" if each.cause in POLICY else "unresolved", each.cause).inc()

    def called(self, outcome: CallOutcome) -> None:
        """Count a call of a server's tool that has ended."""
        self._served.labels(outcome).inc()

    def replied(self, latency: timedelta) -> None:
        """Count a reply that has reached its room."""
        self._latency.observe(max(0.0, latency.total_seconds()))

    def exposed(self, counts: Counts) -> bytes:
        """Everything in Prometheus's text format, with what is in hand right now."""
        self._live.set(counts.live_runs)
        self._waiting.set(counts.waiting)
        self._lanes.set(counts.lanes)
        return generate_latest(self._registry)

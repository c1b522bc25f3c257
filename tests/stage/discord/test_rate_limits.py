"""The rate limits on a held clock."""

from datetime import UTC, datetime, timedelta

from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.rate_limits import RateLimits

ROUTE = ("POST", "/channels/{channel_id}/messages")


class HeldClock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.passed = timedelta(0)

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.passed

    def elapsed(self) -> timedelta:
        return self.passed

    async def sleep(self, duration: timedelta) -> None:
        self.passed += duration


def test_five_pass_and_the_sixth_waits_for_one_to_refill() -> None:
    clock = HeldClock()
    limits = RateLimits(clock, Behaviour())
    remaining = [limits.judge(*ROUTE, "1").headers["X-RateLimit-Remaining"] for _ in range(5)]
    assert remaining == ["4", "3", "2", "1", "0"]
    refused = limits.judge(*ROUTE, "1")
    assert refused.retry_after == 1.0
    assert refused.headers["X-RateLimit-Reset-After"] == "5.000"
    clock.passed += timedelta(seconds=1)
    assert limits.judge(*ROUTE, "1").retry_after is None
    assert limits.judge(*ROUTE, "1").retry_after is not None


def test_a_refused_request_costs_nothing() -> None:
    clock = HeldClock()
    limits = RateLimits(clock, Behaviour())
    for _ in range(500):
        limits.judge(*ROUTE, "1")
    clock.passed += timedelta(seconds=5)
    assert limits.judge(*ROUTE, "1").headers["X-RateLimit-Remaining"] == "4"


def test_rooms_do_not_share_a_bucket_and_carry_its_name_alike() -> None:
    limits = RateLimits(HeldClock(), Behaviour())
    for _ in range(6):
        limits.judge(*ROUTE, "1")
    other = limits.judge(*ROUTE, "2")
    assert other.retry_after is None
    assert other.headers["X-RateLimit-Bucket"] == limits.judge(*ROUTE, "1").headers["X-RateLimit-Bucket"]


def test_the_gateway_address_is_not_limited() -> None:
    assert RateLimits(HeldClock(), Behaviour()).judge("GET", "/gateway/bot", "").headers == {}

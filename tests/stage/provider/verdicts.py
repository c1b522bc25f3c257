"""Verdicts of the rules, for tests."""

from clankie_stage.provider.limits import Limits
from clankie_stage.provider.refusals import Refusal
from clankie_stage.provider.rules import Request, check


def refused(body: bytes, limits: Limits | None = None) -> Refusal:
    judged = check(body, limits or Limits())
    assert isinstance(judged, Refusal), "accepted"
    return judged


def accepted(body: bytes, limits: Limits | None = None) -> Request:
    judged = check(body, limits or Limits())
    assert isinstance(judged, Request), judged
    return judged

"""Who searches, and what is shown of what was found."""

import pytest

from clankie_captain.core.searching import (
    Found,
    Hit,
    SearchSetting,
    brave_hits,
    fault,
    hit,
    remedy,
    searxng_hits,
    shown,
    way,
)
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("SEC-3")

A = "https://public.example/a"


@pytest.mark.parametrize(
    ("setting", "there", "who"),
    [
        ("auto", "searxng provider brave", "searxng"),
        ("auto", "provider brave", "provider"),
        ("auto", "brave", "brave"),
        ("auto", "", None),
        ("off", "searxng provider brave", None),
        ("provider", "searxng provider brave", "provider"),
        ("provider", "searxng brave", None),
        ("brave", "searxng provider brave", "brave"),
        ("brave", "searxng provider", None),
        ("searxng", "searxng brave", "searxng"),
        ("searxng", "provider brave", None),
    ],
)
def test_who_searches_is_the_owners_word_and_else_whoever_is_there(
    setting: SearchSetting, there: str, who: str | None
) -> None:
    able = there.split()
    assert way(setting, server="searxng" in able, provider="provider" in able, key="brave" in able) == who


def test_whoever_lacks_something_is_told_what_to_set() -> None:
    settings: tuple[SearchSetting, ...] = ("auto", "provider", "brave", "searxng")
    said = [remedy(each) for each in settings]
    named = ("BRAVE_API_KEY", "CLANKIE_SEARCH", "BRAVE_API_KEY", "CLANKIE_SEARCH_URL")
    assert all(name in each for name, each in zip(named, said, strict=True))


@pytest.mark.parametrize(
    "address",
    [
        None,
        "",
        5,
        "javascript:alert(1)",
        "file:///etc/passwd",
        "//public.example",
        f"{A} b",
        f"{A}\n",
        f"{A}\U000e0041",
        f"{A}{'x' * 3_000}",
    ],
)
def test_what_has_no_address_on_the_web_is_no_page(address: object) -> None:
    assert hit("A title", address) is None


def test_services_are_read_as_they_answer_and_nothing_else_is() -> None:
    result = {"title": "<b>A</b> &amp; B", "url": A, "description": "one\n<strong>two</strong>", "content": "three"}
    assert brave_hits({"web": {"results": [result, "x", {"title": "no address"}]}}) == (Hit("A & B", A, "one two"),)
    assert searxng_hits({"results": [result, result]}) == (Hit("A & B", A, "three"),)
    assert brave_hits({"type": "search", "query": {}}) == ()
    assert searxng_hits({"results": []}) == ()
    others: tuple[object, ...] = (None, [], "x", {"web": 5}, {"results": "x"}, {"error": "x"})
    for body in others:
        assert (brave_hits(body), searxng_hits(body)) == (None, None)
    assert hit(None, A, 5) == Hit("", A)


def test_what_is_found_is_bounded_fenced_and_said_once() -> None:
    many = tuple(Hit("t" * 300, f"{A}{n}", "w " * 900) for n in range(50))
    found = Found((many[0], *many), "\u200bwords " * 9_000)
    said = shown('a "query"', found, lambda: "k1")
    assert said.startswith('<<<found-k1 query="a \\"query\\""\nwords words')
    assert said.endswith("\nk1>>>")
    assert said.count(A) == bounds.SEARCH_HITS
    assert "\u200b" not in said
    assert len(said) < bounds.SEARCH_WORDS_CHARS + bounds.SEARCH_HITS * 3_000


def test_pages_alone_and_words_alone_are_shown_as_they_are() -> None:
    assert shown("q", Found((Hit("", A, "text"),)), lambda: "k") == f'<<<found-k query="q"\n-\n  {A}\n  text\nk>>>'
    assert shown("q", Found((), "words"), lambda: "k") == '<<<found-k query="q"\nwords\nk>>>'
    assert "Nothing was found" in shown("q", Found((), " \u200b"), lambda: "k")


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "let me in"), (403, "let me in"), (429, "no more"), (500, "a fault"), (503, "a fault"), (302, "status 302")],
)
def test_a_failure_of_a_service_says_what_can_be_done(status: int, said: str) -> None:
    assert said in fault(status)

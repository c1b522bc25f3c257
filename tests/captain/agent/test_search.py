"""The search of the model's own provider: asked apart from the lane, counted, bounded, and fenced."""

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from clankie_captain.agent.search import SEARCHES, provider_search
from clankie_captain.core.run import Answered, Usage
from clankie_captain.core.searching import Hit
from clankie_captain.media.page_fetch import PageFetch
from clankie_captain.media.page_text import PageReader
from clankie_captain.media.web import MediaWeb
from clankie_captain.ports import NotFoundError
from clankie_settings import bounds
from clankie_settings.clock import RandomIds
from clankie_settings.schema import CaptainSettings
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Step
from clankie_stage.provider.records import Record
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.strict import Strict, refusals, strict_provider

PAGES = (("Boats", "https://boats.example/a"), ("Ships", "https://ships.example/b"))
GOOGLE = "https://generativelanguage.googleapis.com"
CALL = steps.calls(steps.call("search_web", {"query": "boats"}))
FOUND = steps.searched("boats", *PAGES, words="They float.")
READ = steps.calls(steps.call("read_page", {"url": "http://127.0.0.1/"}))
ANSWER = steps.text("Here")


def settings(folder: Path = Path("s"), **given: Any) -> CaptainSettings:
    return CaptainSettings(state=folder, discord_attachment_root=folder, **given)


class Searching:
    """A lane on the strict provider, which searches the lane's web itself."""

    def __init__(self, strict: Strict) -> None:
        self.strict, self.line = strict, Line()
        self.lane = Lane(tools=("send_text_update", "search_web", "read_page"))
        own = strict.settings()
        way = ("anthropic", "searcher", "k", str(own.model_base_url))
        search = provider_search(own.model_copy(update={"search": "provider"}), [way], httpx2.AsyncClient)
        assert search is not None
        assert search.name == "searcher"
        # Whatever a page's address is, nothing is asked there.
        nowhere = PageFetch(httpx2.MockTransport(lambda request: httpx2.Response(404)))
        self.line.web = self.web = MediaWeb(nowhere, PageReader(), search, RandomIds())

    async def run(self, *script: Step, count: int) -> list[Record]:
        self.strict.brain.script(*script)
        assert await self.lane.run(self.strict.loop(), "look it up", line=self.line) == Answered("Here")
        records = await self.strict.ended(count)
        assert refusals(records) == []
        return records

    @property
    def told(self) -> str:
        """What the model read of its call."""
        blocks = self.strict.brain.records()[-1].messages[-1]["content"]
        assert isinstance(blocks, list)
        return str(json.loads(json.dumps(blocks))[0]["content"][0]["text"])


@pytest.fixture
async def searching(tmp_path: Path) -> AsyncGenerator[Searching]:
    async with strict_provider("anthropic", tmp_path) as strict:
        searching = Searching(strict)
        yield searching
        await searching.web.aclose()


@pytest.mark.requirement("LANE-13", "CTX-4")
async def test_the_provider_is_asked_apart_from_the_lane_whose_bytes_stay(searching: Searching) -> None:
    first, aside, last = await searching.run(CALL, FOUND, ANSWER, count=3)
    body = aside.body
    assert body["tools"] == [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES}
        | dict.fromkeys(("allowed_domains", "blocked_domains", "user_location"))
    ]
    assert body["max_tokens"] == bounds.SEARCH_TOKENS
    assert [str(each["content"]) for each in aside.messages] == [str([{"text": "boats", "type": "text"}])]
    named = [[tool["name"] for tool in json.loads(each.raw)["tools"]] for each in (first, last)]
    assert named == [["send_text_update", "search_web", "read_page"]] * 2
    start = first.raw.index(b'"messages":')
    assert {k: v for k, v in first.body.items() if k != "messages"} == {
        k: v for k, v in last.body.items() if k != "messages"
    }
    assert last.messages[: len(first.messages)] == first.messages, start
    opening, *_ = searching.told.split("\n")
    assert opening.startswith("<<<found-")
    assert opening.endswith(' query="boats"')
    for each in ("They float.", "https://boats.example/a", "as Boats has it", "https://ships.example/b"):
        assert each in searching.told


@pytest.mark.requirement("OPS-6", "FAIL-3")
async def test_what_it_costs_counts_into_the_run_and_not_into_the_lanes_context(searching: Searching) -> None:
    _, aside, _ = await searching.run(CALL, FOUND, ANSWER, count=3)
    calls = searching.line.calls
    assert (calls.count("spent"), calls.count("spent aside")) == (2, 1)
    assert searching.line.usage.requests == 3
    assert searching.line.usage.input_tokens > aside.prompt_tokens
    assert "event" in calls[calls.index("tool started") : calls.index("spent aside")]


@pytest.mark.requirement("GRANT-5")
@pytest.mark.parametrize(("call", "tool"), [(CALL, "search_web"), (READ, "read_page")])
async def test_whoever_may_not_search_or_read_now_costs_nothing(searching: Searching, call: Step, tool: str) -> None:
    searching.line.withheld[tool] = "nobody has said so"
    await searching.run(call, ANSWER, count=2)
    assert searching.told == "Not done: nobody has said so. Say so instead of trying again."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (steps.failed(steps.rate_limit_error()), "limit is reached"),
        (steps.failed(steps.quota_error()), "limit is reached"),
        (steps.failed(steps.key_error()), "refuses to search"),
        (steps.failed(steps.image_error()), "refuses to search"),
        (steps.failed(steps.server_error()), "search failed"),
        (steps.cut(40), "search failed"),
        (steps.searched("boats", error="unavailable"), "does not work now"),
        (steps.empty(), "Nothing was found"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_search_that_fails_says_so_and_the_run_goes_on(searching: Searching, answer: Step, said: str) -> None:
    await searching.run(CALL, answer, ANSWER, count=3)
    assert said in searching.told


async def test_a_page_that_is_not_read_says_so_and_the_run_goes_on(searching: Searching) -> None:
    await searching.run(READ, ANSWER, count=2)
    assert searching.told == "Not read: its server answers with status 404."
    searching.line.web = None
    await searching.run(READ, ANSWER, count=4)
    assert searching.told == "Not read: that cannot be done here."


async def test_a_search_that_takes_too_long_is_given_up(searching: Searching) -> None:
    own = searching.strict.settings().model_copy(update={"search": "provider", "stall_seconds": 0.3})
    way = ("anthropic", "searcher", "k", str(own.model_base_url))
    search = provider_search(own, [way], httpx2.AsyncClient)
    assert search is not None
    searching.strict.brain.script(steps.unanswered())
    with pytest.raises(NotFoundError, match="took too long"):
        await search.search("boats", lambda: None, lambda usage: None)
    await search.aclose()


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {each.get('type', 'x')}\ndata: {json.dumps(each)}\n\n".encode() for each in events)


def responses() -> bytes:
    """A search in OpenAI's other protocol."""
    cited = {"type": "url_citation", "start_index": 0, "end_index": 5, "url": PAGES[0][1], "title": "Boats"}
    text = {"type": "output_text", "text": "They float.", "annotations": [cited], "logprobs": []}
    sources = [{"type": "url", "url": PAGES[1][1]}]
    action = {"type": "search", "query": "q", "sources": sources}
    call = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    usage = {
        "input_tokens": 9, "output_tokens": 4, "total_tokens": 13,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    whole: dict[str, Any] = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "status": "in_progress",
    }  # fmt: skip
    begun, part = {**message, "content": []}, {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    place = {**part, "annotation_index": 0}
    return sse(
        {"type": "response.created", "sequence_number": 0, "response": whole},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": call},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": call},
        {"type": "response.output_item.added", "sequence_number": 3, "output_index": 1, "item": begun},
        {"type": "response.output_text.delta", "sequence_number": 4, "delta": "They float.", "logprobs": [], **part},
        {"type": "response.output_text.annotation.added", "sequence_number": 5, "annotation": cited, **place},
        {"type": "response.output_text.done", "sequence_number": 6, "text": "They float.", "logprobs": [], **part},
        {"type": "response.output_item.done", "sequence_number": 7, "output_index": 1, "item": message},
        {
            "type": "response.completed", "sequence_number": 8,
            "response": {**whole, "status": "completed", "output": [call, message], "usage": usage},
        },
    )  # fmt: skip


def grounded() -> bytes:
    """A search of Google's."""
    grounding = {
        "webSearchQueries": ["boats"],
        "groundingChunks": [{"web": {"uri": PAGES[0][1], "title": "Boats"}}],
        "groundingSupports": [{"segment": {"endIndex": 11, "text": "They float."}, "groundingChunkIndices": [0]}],
    }
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
    said = {"content": {"role": "model", "parts": [{"text": "They float."}]}, "index": 0}
    end = {"finishReason": "STOP", "groundingMetadata": grounding, **said}
    chunk = {"candidates": [end], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
    return f"data: {json.dumps(chunk)}\n\n".encode()


@pytest.mark.parametrize(
    ("way", "answer", "asked"),
    [
        (("openai", "m", "k", "https://api.openai.com/v1"), responses, "https://api.openai.com/v1/responses"),
        (
            ("google", "gemini-3-flash", "k", GOOGLE),
            grounded,
            f"{GOOGLE}/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
        ),
    ],
    ids=["openai", "google"],
)
async def test_the_other_providers_are_asked_in_their_own_protocols(
    way: tuple[str, str, str, str], answer: Callable[[], bytes], asked: str
) -> None:
    sent: list[httpx2.Request] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, content=answer(), headers={"Content-Type": "text/event-stream"})

    costs: list[Usage] = []
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(serve), timeout=60)
    search = provider_search(settings(), [way], lambda: client)
    assert search is not None
    found = await search.search("boats", lambda: None, costs.append)
    assert (found.hits[0], found.words) == (Hit("Boats", PAGES[0][1]), "They float.")
    assert found.hits[1:] == ((Hit("", PAGES[1][1]),) if way[0] == "openai" else ())
    assert costs == [Usage(9, 4, 0, 1, 0)]
    body = json.loads(sent[0].content)
    assert (str(sent[0].url), len(sent)) == (asked, 1)
    assert body["tools"] in ([{"type": "web_search", "search_context_size": "medium"}], [{"googleSearch": {}}])
    assert body.get("store", False) is False
    await search.aclose()


@pytest.mark.parametrize(
    ("setting", "ways", "name"),
    [
        ("auto", [("anthropic", "a", "https://api.anthropic.com")], "a"),
        ("auto", [("anthropic", "a", "http://127.0.0.1:1")], None),
        ("provider", [("anthropic", "a", "http://127.0.0.1:1")], "a"),
        ("auto", [("openai", "local", "http://127.0.0.1:1/v1"), ("google", "g", GOOGLE)], "g"),
        ("auto", [("rehearsal", "rehearsal", "http://127.0.0.1:4320/provider/v1")], None),
        ("provider", [("rehearsal", "rehearsal", "http://127.0.0.1:4320/provider/v1")], None),
        ("brave", [("anthropic", "a", "https://api.anthropic.com")], None),
        ("off", [("anthropic", "a", "https://api.anthropic.com")], None),
        ("auto", [], None),
    ],
)  # fmt: skip
async def test_a_provider_searches_where_it_is_the_real_one_or_the_owner_says_so(
    setting: str, ways: list[tuple[str, str, str]], name: str | None
) -> None:
    keyed = [(provider, model, "k", address) for provider, model, address in ways]
    search = provider_search(settings(search=setting), keyed, lambda: httpx2.AsyncClient(timeout=60))
    assert (None if search is None else search.name) == name
    if search is not None:
        await search.aclose()

"""What the model is shown in a run: the lane's history and what this run has added to it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    UserPromptPart,
)

from clankie_captain.agent import artifacts, history, overflow, pictures
from clankie_captain.agent.history import Kept
from clankie_captain.agent.validity import clean_request
from clankie_captain.core.artifacts import newest
from clankie_captain.core.run import Draft, Order, Words
from clankie_settings.ids import RunId
from clankie_settings.wire.attachment import Artifact


class Transcript:
    """The messages of a lane in the order in which they are sent; it only grows, until it is cut. Source: LANE-13."""

    def __init__(self, order: Order) -> None:
        self._run: RunId = order.run
        self._kept: list[Kept] = history.kept(order.history)
        self._entries = len(order.history)
        self._messages: list[ModelMessage] | None = None
        own = (each.message for each in self._kept if each.run == order.run)
        self._made: list[Artifact] = [each for message in own for each in artifacts.made(message)]

    @property
    def made(self) -> tuple[Artifact, ...]:
        """The files that this run's tools made for its reply. Source: LANE-10, ART-2."""
        return newest(self._made)

    @property
    def messages(self) -> list[ModelMessage]:
        """Everything that the next request holds. Not to be changed."""
        if self._messages is None:
            self._messages = [each.message for each in self._kept]
        return self._messages

    @property
    def size(self) -> int:
        """How many messages there are."""
        return len(self._kept)

    @property
    def call_ids(self) -> set[str]:
        """The ids of all calls that were ever made in it."""
        said = (each.message for each in self._kept if isinstance(each.message, ModelResponse))
        return {call.tool_call_id for response in said for call in response.tool_calls}

    @property
    def unanswered(self) -> bool:
        """Whether it ends in a request."""
        return bool(self._kept) and isinstance(self._kept[-1].message, ModelRequest)

    @property
    def own_answer(self) -> ModelResponse | None:
        """The answer of this very run that it ends in, whole and without open calls."""
        last = self._kept[-1] if self._kept else None
        if last is None or last.run != self._run or not isinstance(last.message, ModelResponse):
            return None
        return None if last.message.tool_calls else last.message

    @property
    def open_calls(self) -> list[ToolCallPart]:
        """The calls that it ends in."""
        return history.open_calls(self.messages)

    def opening(
        self, words: Sequence[Words], known: Mapping[str, ModelRequestPart] = MappingProxyType({})
    ) -> ModelRequest | None:
        """The request with which a run begins, each delivery a part of its own; None: it goes on where it stands.

        ``known`` holds results of its open calls, by the calls' ids.
        """
        request = history.opening(self.messages, [UserPromptPart(pictures.prompt(each)) for each in words], known)
        # Words of which nothing can be sent are none.
        return None if request is None else clean_request(request)

    def add(self, draft: Draft) -> None:
        """Take a recorded entry, as it reads back from its payload: a restarted captain sends the same bytes."""
        message = history.message(draft.payload)
        self._entries += 1
        if message is not None:
            self._kept.append(Kept(message, self._run, self._entries - 1))
            self._made += artifacts.made(message)
            self._messages = None

    def unsee(self, gone: Collection[str]) -> None:
        """Let words stand where these pictures stood, as the lane's history has them from now on. Source: LANE-14."""
        for place, each in enumerate(self._kept):
            self._kept[place] = replace(each, message=pictures.without(each.message, gone))
        self._messages = None

    def shorten(self) -> int | None:
        """Drop about half of the text at the front; how many of the newest entries stay, None where nothing can go."""
        start = overflow.boundary(self._kept, self._run)
        return None if start is None else self._begin_at(start)

    def own_only(self) -> int | None:
        """Drop everything that is not of this run; how many of the newest entries stay, None where nothing can go."""
        start = overflow.own_start(self._kept, self._run)
        return self._begin_at(start) if 0 < start < len(self._kept) else None

    def follows_unanswered(self) -> bool:
        """Whether this run's first words came right after others that were never answered."""
        start = overflow.own_start(self._kept, self._run)
        return start > 0 and isinstance(self._kept[start - 1].message, ModelRequest)

    def _begin_at(self, start: int) -> int:
        stays = self._entries - self._kept[start].place
        del self._kept[:start]
        self._messages = None
        return stays

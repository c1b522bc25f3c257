"""A model judges by a rubric, with a structured answer."""

from collections.abc import Mapping

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from evals.cases import Judged
from evals.judges import Judge
from evals.results import Opinion
from tests.evals.making import absorbed, case, replied, seen

SEEN = seen(replied("tea for all"), absorbed("first"))


class Model:
    """A model that answers with these arguments, and keeps what it was asked."""

    def __init__(self, *answers: Mapping[str, object]) -> None:
        self.asked: list[str] = []
        self._answers = [*answers]

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(str(messages))
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {**self._answers.pop(0)})])


async def judged(model: Model) -> Opinion | None:
    asked = case().model_copy(update={"judge": Judged(rubric="Everybody has tea.", scripted="tea")})
    return await Judge((FunctionModel(model),), None).opinion(asked, SEEN)


async def test_the_judge_gets_the_rubric_and_both_sides_and_its_answer_counts() -> None:
    model = Model({"passes": False, "why": "Bob has none."})
    assert await judged(model) == Opinion(passes=False, why="Bob has none.")
    (prompt,) = model.asked
    assert all(words in prompt for words in ("Everybody has tea.", "Clankie, one", "tea for all"))


async def test_a_judge_that_does_not_answer_as_asked_passes_nothing() -> None:
    opinion = await judged(Model(*[{"passes": "perhaps"}] * 3))
    assert opinion is not None
    assert not opinion.passes
    assert "gave no answer" in opinion.why


async def test_a_case_without_a_rubric_asks_nobody() -> None:
    model = Model()
    assert await Judge((FunctionModel(model),), None).opinion(case(), SEEN) is None
    assert not model.asked

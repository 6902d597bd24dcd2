"""A language model decides doubtful pairs of names, some of them in one call, shown what texts say of both."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.parallel import in_parallel
from kgrag.models.prompted import PromptedModel, titled
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings
from kgrag.values.errors import BudgetError, ModelError, UnavailableError

Item = TypeVar("Item")

TASK = "resolve"
PAIRS_A_CALL = 10
_WRITTEN = 25  # tokens of a reply
_AROUND = 160  # characters of a text on either side of a name


class Same(BaseModel):
    """A reply: the numbers of the pairs whose names are one entity's."""

    same: list[int]


@dataclass(frozen=True, slots=True)
class Question:
    """Two names with sentences about each."""

    one: str
    other: str
    texts: tuple[str, ...] = ()
    other_texts: tuple[str, ...] = ()


@dataclass(slots=True)
class Verdicts:
    """The verdicts of the model.

    Place of a question -> whether the names are one entity's; how many calls failed, and why it ended early, if it did.
    """

    same: dict[int, bool] = field(default_factory=dict)
    failed: int = 0
    stopped: ModelError | None = None


def batched(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Return the items in their order, `size` at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


def spread(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return at most so many of the items, at even distances."""
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


def estimate(chat: ChatSettings, sample: Sequence[Question], pairs: int) -> Estimate:
    """Estimate the calls for so many pairs like those of the sample; calls no model."""
    prompt = load_prompt(TASK, chat.prompts)
    tried = list(batched(sample, PAIRS_A_CALL))
    messages = [m.content for call in tried for m in prompt.messages(pairs=_numbered(call))]
    size = sum(len(content.encode("utf-8", "replace")) for content in messages)
    calls = math.ceil(pairs / PAIRS_A_CALL)
    return estimate_calls(chat, TASK, calls, round(size * calls / max(1, len(tried))), _WRITTEN)


def ask(
    llm: PromptedModel, questions: Sequence[Question], report: Callable[[int, int], None], threads: int = 8
) -> Verdicts:
    """Ask about each pair once. What a call fails to say stays open; a budget that is used up ends it."""
    verdicts = Verdicts()

    def calls() -> Iterator[tuple[int, Sequence[Question]]]:
        for number, call in enumerate(batched(questions, PAIRS_A_CALL)):
            if verdicts.stopped is not None:
                return
            yield number * PAIRS_A_CALL, call

    def judge(call: tuple[int, Sequence[Question]]) -> Same:
        return llm.structured(TASK, Same, pairs=_numbered(call[1]))

    for (first, call), reply in in_parallel(judge, calls(), threads):
        if isinstance(reply, Same):
            verdicts.same.update({first + i: i + 1 in reply.same for i in range(len(call))})
        elif isinstance(reply, BudgetError | UnavailableError):
            verdicts.stopped = reply
        elif isinstance(reply, ModelError):
            verdicts.failed += 1
        else:
            raise reply
        report(len(verdicts.same), len(questions))
    return verdicts


def around(name: str, passages: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the lines of passages on a name, from where it stands or else from the beginning."""
    lines = []
    for passage in passages:
        text = " ".join(passage["text"].split())
        start = max(0, text.find(name) - _AROUND)
        excerpt = text[start : start + 2 * _AROUND + len(name)]
        lines.append(f"{passage['title']}: {excerpt}" if passage["title"] else excerpt)
    return tuple(lines)


def _numbered(questions: Sequence[Question]) -> str:
    """Return pairs as text for a model, numbered from 1."""
    blocks = []
    for number, question in enumerate(questions, 1):
        lines = [f"Pair {number}"]
        for name, texts in ((question.one, question.texts), (question.other, question.other_texts)):
            lines += [f"Name: {titled(name)}", *(f"- {titled(text)}" for text in texts)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)

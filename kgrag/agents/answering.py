"""Answering: a language model answers from titled passages and cites them, or says that they do not hold the answer.

GEAR, appendix J.3 for the short answers and for those without passages.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import Field

from kgrag.events import Citation
from kgrag.models.facts import numbered
from kgrag.models.tasks import Tasks
from kgrag.options import Options
from kgrag.types import Passage

OnText = Callable[[str], None]

NOT_FOUND = "Not in the evidence."
_NOT_FOUND = re.compile(r"^\W*(?:the answer is )?not in the evidence\b", re.IGNORECASE)
_CITED = re.compile(r"\s?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_LABEL = re.compile(r"^(?:the )?answer(?: is)?:\s*", re.IGNORECASE)


class AnswerOptions(Options):
    """Options of answering, which every strategy has."""

    evidence: int = Field(5, ge=1, description="best passages that the answer is read from (GEAR, Table 3)")
    words: int = Field(6, ge=1, description="length of a short answer (GEAR, appendix J.3)")
    structure: bool = Field(True, description="look up the pages, tables and sections that a question names (KGP)")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered; `found`: whether the passages hold it."""

    text: str
    found: bool
    citations: tuple[Citation, ...] = ()


def answer(
    tasks: Tasks,
    question: str,
    passages: Sequence[Passage],
    settings: AnswerOptions,
    *,
    short: bool,
    on_text: OnText | None = None,
) -> ModelAnswer:
    """Answer from the passages. Without any the evidence does not hold the answer, and no call is made.

    `on_text` is called with what there is of an answer that is not short. Raises ModelError.
    """
    if not passages:
        return ModelAnswer(NOT_FOUND, False)
    shown = numbered(passages)
    if short:
        words = str(settings.words)
        text = _bare(tasks.text("answer", prompt="answer-short", passages=shown, question=question, words=words))
    else:
        text = tasks.text("answer", on_text=on_text, passages=shown, question=question)
    if _NOT_FOUND.match(text):
        return ModelAnswer(NOT_FOUND if short else text, False)
    return cited(text, passages)


def answer_closed(
    tasks: Tasks, question: str, settings: AnswerOptions, *, short: bool, on_text: OnText | None = None
) -> ModelAnswer:
    """Answer from what the model knows. Raises ModelError."""
    if short:
        text = _bare(tasks.text("answer", prompt="answer-closed-short", question=question, words=str(settings.words)))
    else:
        text = tasks.text("answer", prompt="answer-closed", on_text=on_text, question=question)
    return ModelAnswer(text, not _NOT_FOUND.match(text))


def cited(text: str, passages: Sequence[Passage]) -> ModelAnswer:
    """The text with the passages that it cites; numbers that no passage has are taken out of it."""
    used: dict[int, None] = {}

    def keep(match: re.Match[str]) -> str:
        numbers = [int(n) for n in re.findall(r"\d+", match[1])]
        known = [n for n in numbers if 1 <= n <= len(passages)]
        used.update(dict.fromkeys(known))
        return (" " if match[0].startswith(" ") and known else "") + "".join(f"[{n}]" for n in known)

    clean = _CITED.sub(keep, text)
    return ModelAnswer(clean, True, tuple(Citation(n, passages[n - 1]) for n in sorted(used)))


def _bare(text: str) -> str:
    """A short answer without a label before it, and only its first line."""
    return _LABEL.sub("", text.splitlines()[0].strip()) or text

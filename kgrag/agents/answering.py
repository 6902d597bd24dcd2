"""Answering: a language model answers from titled passages and cites them, or says that they do not hold the answer.

GEAR, appendix J.3 for the short answers and for those without passages.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from kgrag.agents.not_found import says_not_found
from kgrag.events import Citation
from kgrag.models.facts import numbered
from kgrag.models.tasks import Tasks
from kgrag.options import Options
from kgrag.types import Passage

OnText = Callable[[str], None]

NOT_FOUND = "Not in the evidence."
UNCITED = "(No passage is cited for this.)"
"""What is said after an answer that cites nothing, though it should."""

_NUMBERS = r"\d{1,3}(?:\s*(?:[,;–—-]|and|&)\s*\d{1,3})*"
_NAMED = r"(?:passages?|sources?|documents?|p\.)\s*"
_CITED = re.compile(
    rf"\s?(?:\[\^?(?:{_NAMED})?({_NUMBERS})\]|【({_NUMBERS})(?:†[^】]*)?】|\({_NAMED}({_NUMBERS})\))", re.IGNORECASE
)
_ROUND = re.compile(rf"(?<=[\w\"'”»)])(\s?)\(({_NUMBERS})\)")
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
    if _not_found(text):
        return ModelAnswer(NOT_FOUND if short else text, False)
    said = cited(text, passages)
    return said if short or said.citations else replace(said, text=f"{said.text}\n\n{UNCITED}")


def answer_closed(
    tasks: Tasks, question: str, settings: AnswerOptions, *, short: bool, on_text: OnText | None = None
) -> ModelAnswer:
    """Answer from what the model knows. Raises ModelError."""
    if short:
        text = _bare(tasks.text("answer", prompt="answer-closed-short", question=question, words=str(settings.words)))
    else:
        text = tasks.text("answer", prompt="answer-closed", on_text=on_text, question=question)
    return ModelAnswer(text, not says_not_found(text))


def _not_found(text: str) -> bool:
    """Whether the text says that the evidence lacks the answer; a first sentence that cites something does not."""
    cites = _CITED.search(text.strip().partition("\n")[0])
    return says_not_found(text) and (cites is None or text.lstrip().startswith(NOT_FOUND))


def cited(text: str, passages: Sequence[Passage]) -> ModelAnswer:
    """The text with the passages that it cites, each as [number]; numbers that no passage has are taken out of it.

    Understood are [1], [1, 2], [1-3], [^1], [Passage 1], 【1】, (Passage 1), and (1) in a text without any of these.
    """
    used: dict[int, None] = {}

    def keep(match: re.Match[str]) -> str:
        known = [n for n in _listed(next(filter(None, match.groups()))) if 1 <= n <= len(passages)]
        used.update(dict.fromkeys(known))
        return (" " if match[0].startswith(" ") and known else "") + "".join(f"[{n}]" for n in known)

    def keep_round(match: re.Match[str]) -> str:
        numbers = _listed(match[2])
        if not all(1 <= n <= len(passages) for n in numbers):
            return match[0]  # a number of something else
        used.update(dict.fromkeys(numbers))
        return match[1] + "".join(f"[{n}]" for n in numbers)

    clean = _CITED.sub(keep, text) if _CITED.search(text) else _ROUND.sub(keep_round, text)
    return ModelAnswer(clean, True, tuple(Citation(n, passages[n - 1]) for n in sorted(used)))


def _listed(numbers: str) -> list[int]:
    """The numbers of "1, 3-5"."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[–—-]\s*(\d+))?", numbers):
        found += range(int(first), int(last or first) + 1)
    return found


def _bare(text: str) -> str:
    """A short answer without a label before it, and only its first line."""
    return _LABEL.sub("", text.splitlines()[0].strip()) or text

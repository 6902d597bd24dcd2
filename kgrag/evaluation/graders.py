"""Answers in full sentences are marked: is it correct, and does it keep to what was shown?

Correctness is 0 (wrong, or no answer), 0.5 (a part of it is there) or 1 (right and whole), by the known answers.
Faithfulness is the share, 0 to 1, of an answer's claims that the shown texts support, whether true or not. Millions of
GEAR-s, section 5, reports means of the two, and neither its prompts nor its scales: these scales are kgrag's own.
`kgrag lab grade --against` says how far marks agree with those made by hand. (`grading` marks short answers as correct
or not, as KGP does.)
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel

from kgrag.evaluation.answers import exact_match
from kgrag.evaluation.readers.row_files import json_lines
from kgrag.models.estimate import Estimate, estimate_calls
from kgrag.models.prompts import load_prompt
from kgrag.models.shown import framed, harmless
from kgrag.models.tasks import Tasks
from kgrag.settings import ChatSettings
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.segmentation import sentences
from kgrag.text.tokens import content_stems, words_of
from kgrag.values.errors import InputError

CORRECTNESS, CLAIMS = "correctness", "claims"
_WRITTEN = {CORRECTNESS: 8, CLAIMS: 150}
"""Tokens of a reply on average."""
SUPPORTED = 0.75
"""Share of a sentence's words that one text must hold to support it, where no model is asked."""
_FORM = (
    'Each line is an object like {"id": "a1", "question": "...", "answers": ["..."], "said": "...", "shown": ["..."]}.'
)
_MARKS_FORM = 'Each line is an object like {"id": "a1", "correctness": 0.5, "faithfulness": 1}; either may be missing.'


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """An answer to be marked. `known`: the right answers; `shown`: the texts that it was written from."""

    id: str
    question: str
    said: str
    known: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """What tells it from the same answer in other words, or on other texts."""
        content = json.dumps([self.question, self.said, self.known, self.shown], ensure_ascii=False)
        return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of an answer; None where nothing can be said: no known answer, nothing shown, or no claim.

    `unsupported`: its claims that no shown text supports.
    """

    correctness: float | None
    faithfulness: float | None
    unsupported: tuple[str, ...] = ()


class AnswerGrader(Protocol):
    """Marks answers. `by`: what it is, with the version of its prompts."""

    by: str

    def mark(self, answer: SaidAnswer) -> Marks:
        """The marks of an answer."""
        ...


class LexicalGrader:
    """Marks by shared words, without a model: a floor that a model should be better than.

    Correct in so far as the words of a known answer stand in what was said; a sentence is supported when enough of its
    words stand in one of the texts.
    """

    def __init__(self, language: Language = ENGLISH) -> None:
        self._language = language
        self.by = "words"

    def mark(self, answer: SaidAnswer) -> Marks:
        """See AnswerGrader."""
        said = self._words(answer.said)
        shares = [_share(self._words(known), said) for known in answer.known]
        correct = None if not shares else 1.0 if max(shares) == 1 else 0.5 if max(shares) >= 0.5 else 0.0
        texts = [self._words(text) for text in answer.shown]
        claims = [s for s in sentences(answer.said, self._language.code) if self._words(s)] if texts else []
        unsupported = [s for s in claims if max(_share(self._words(s), text) for text in texts) < SUPPORTED]
        return Marks(correct, _supported(len(claims), len(unsupported)), tuple(unsupported))

    def _words(self, text: str) -> set[str]:
        words = words_of(text, self._language)
        return {stem for stem in content_stems(words, self._language) if stem} or set(words)


class _Mark(BaseModel):
    mark: Literal[0, 1, 2]


class _Claim(BaseModel):
    claim: str
    supported: bool


class _Claims(BaseModel):
    REPLY: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "claims": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"claim": {"type": "string"}, "supported": {"type": "boolean"}},
                    "required": ["claim", "supported"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["claims"],
        "additionalProperties": False,
    }

    claims: list[_Claim]


class ModelGrader:
    """Marks with the models that are set for the tasks "correctness" and "claims". Safe to share between threads."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self.by = ", ".join(f"{tasks.model.name(t)}, prompt {tasks.prompt(t).version}" for t in (CORRECTNESS, CLAIMS))

    def mark(self, answer: SaidAnswer) -> Marks:
        """See AnswerGrader. Raises ModelError, BudgetError.

        What is empty is not correct, and a known answer in its own words is; the model is not asked for these.
        """
        correct: float | None = None
        if answer.known:
            if not answer.said.strip() or exact_match(answer.said, answer.known):
                correct = float(bool(answer.said.strip()))
            else:
                correct = self._tasks.structured(CORRECTNESS, _Mark, **_correctness(answer)).mark / 2
        if not answer.shown or not answer.said.strip():
            return Marks(correct, None)
        claims = self._tasks.structured(CLAIMS, _Claims, **_claims(answer)).claims
        unsupported = tuple(claim.claim for claim in claims if not claim.supported)
        return Marks(correct, _supported(len(claims), len(unsupported)), unsupported)


def read_answers(path: Path) -> list[SaidAnswer]:
    """The answers in a JSON Lines file, each as in `SaidAnswer`, or as `kgrag ask --json` prints it.

    Of the latter, its citations are what was shown, and the ranking where it cites nothing. Raises InputError, naming
    the line.
    """
    found = {}
    for number, (place, row) in enumerate(json_lines(path, _FORM), 1):
        said, question = row.get("said", row.get("text")), row.get("question")
        if not isinstance(said, str) or not isinstance(question, str):
            raise InputError(f"{place}: question or said is missing or no text.", _FORM)
        known, shown = row.get("answers") or [], row.get("shown")
        if shown is None:
            shown = _texts(row.get("citations")) or _texts((row.get("ranking") or {}).get("hits"))
        if not isinstance(known, list) or not isinstance(shown, list):
            raise InputError(f"{place}: answers or shown is no list.", _FORM)
        id = str(row.get("id") or number)
        if id in found:
            raise InputError(f"{place}: id {id!r} occurs more than once.", _FORM)
        found[id] = SaidAnswer(id, question, said, tuple(map(str, known)), tuple(map(str, shown)))
    if not found:
        raise InputError(f"{path} is empty.", _FORM)
    return list(found.values())


def read_marks(path: Path) -> dict[str, Marks]:
    """Marks by the ids of answers, such as were made by hand. Raises InputError, naming the line."""
    found = {}
    for place, row in json_lines(path, _MARKS_FORM):
        values = [row.get(name) for name in ("correctness", "faithfulness")]
        usable = all(v is None or (isinstance(v, int | float) and 0 <= v <= 1) for v in values)
        if row.get("id") is None or not usable:
            raise InputError(f"{place}: it has no id, or a mark that is no number from 0 to 1.", _MARKS_FORM)
        correctness, faithfulness = (None if v is None else float(v) for v in values)
        found[str(row["id"])] = Marks(correctness, faithfulness)
    return found


def estimate(answers: Sequence[SaidAnswer], chat: ChatSettings) -> dict[str, Estimate]:
    """Task -> what a model would take to mark the answers; nothing is asked."""
    asked = {
        CORRECTNESS: [_correctness(a) for a in answers if a.known and a.said and not exact_match(a.said, a.known)],
        CLAIMS: [_claims(a) for a in answers if a.shown and a.said],
    }
    found = {}
    for task, each in asked.items():
        prompt = load_prompt(task, chat.prompts)
        size = sum(len(m.content.encode("utf-8", "replace")) for values in each for m in prompt.messages(**values))
        found[task] = estimate_calls(chat, task, len(each), size, _WRITTEN[task])
    return found


def _correctness(answer: SaidAnswer) -> dict[str, str]:
    known = "; or ".join(answer.known)
    return {"question": answer.question, "answers": known, "said": harmless(answer.said)}


def _claims(answer: SaidAnswer) -> dict[str, str]:
    texts = "\n\n".join(f"[{n}]\n{framed(harmless(text))}" for n, text in enumerate(answer.shown, 1))
    return {"question": answer.question, "said": harmless(answer.said), "texts": texts}


def _texts(items: object) -> list[str]:
    """The texts of the passages in a list of citations or hits."""

    def each(values: Iterable[Any]) -> Iterator[str]:
        for item in values:
            passage = item.get("passage") if isinstance(item, dict) else None
            if isinstance(passage, dict):
                yield "\n".join(filter(None, (passage.get("title"), passage.get("text"))))

    return list(each(items)) if isinstance(items, list) else []


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _supported(claims: int, unsupported: int) -> float | None:
    return 1 - unsupported / claims if claims else None

"""Grade answers: short ones as correct or not, long ones also by how far their context supports them.

A short answer is correct if it means the same as a known one, which exact match cannot tell (Acc; KGP, section 5.1.3
and listing 5). A longer answer has two grades. Its correctness is 0 (wrong, or no answer), 0.5 (partly right) or 1
(right and complete), by the known answers. Its faithfulness is the share, 0 to 1, of its claims that the shown texts
support, whether true or not. Millions of GEAR-s, section 5, reports means of the two, but neither prompts nor scales;
these scales are kgrag's own. `kgrag lab grade --against` measures the agreement with human grades.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import ClassVar, Literal, Protocol

from pydantic import BaseModel

from kgrag.indexing.ask_each import FailedPassage, Meter, ask_each
from kgrag.lab.measures import Agreement, agreement, exact_match
from kgrag.lab.readers.passages import json_lines
from kgrag.lab.records import Ledger
from kgrag.lab.retrieving import Grade, Record
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.prompted import PromptedModel, framed, harmless, object_schema, reply_schema
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.sentences import sentences
from kgrag.text.tokens import content_stems, words_of
from kgrag.values.errors import BudgetError, InputError, ModelError
from kgrag.values.events import Progress

TASK, CORRECTNESS, CLAIMS = "grade", "correctness", "claims"
MARKS = ("correctness", "faithfulness")
_UNMARKED = "not marked: "
_WRITTEN = {CORRECTNESS: 8, CLAIMS: 150}
"""Average tokens of a reply."""
SUPPORTED = 0.75
"""Share of a sentence's words that one text must contain to support it, without a model."""
_FORM = (
    'Each line is an object like {"id": "a1", "question": "...", "answers": ["..."], "said": "...", "shown": ["..."]}.'
)
_MARKS_FORM = 'Each line is an object like {"id": "a1", "correctness": 0.5, "faithfulness": 1}; either may be missing.'


class Grader:
    """Grades short answers with the model of the task "grade". Safe to share between threads.

    `by`: that model with the version of its prompt; grades of another grader are not reused. `meter`: the usage of all
    grades so far.
    """

    def __init__(self, llm: PromptedModel) -> None:
        self.meter = Meter()
        self._llm = llm.with_listener(self.meter)
        self.by = _by(llm, TASK)

    def has_marked(self, record: Record) -> bool:
        """Return whether the record has every grade."""
        answer = record.answer
        if answer is None or record.error or not record.question.answers:
            return True
        return answer.grade is not None and answer.grade.by == self.by

    def mark(self, record: Record) -> Record:
        """Return the record with its grade. Raises BudgetError.

        A missing answer is not correct, and a known answer in the same words is; these need no model call. If the model
        fails, the record has no grade, and its problem gives the reason.
        """
        answer, question = record.answer, record.question
        if answer is None or self.has_marked(record):
            return record
        problem = "" if answer.problem.startswith(_UNMARKED) else answer.problem
        grade: Grade | None = None
        try:
            correct = _surely(answer.text, question.answers)
            if correct is None:
                values = _correctness(question.text, question.answers, answer.text)
                correct = self._llm.structured(TASK, _Correct, **values).correct
            grade = Grade(correct, self.by)
        except BudgetError:
            raise
        except ModelError as error:
            problem = problem or f"{_UNMARKED}{error.in_full}"
        return replace(record, answer=replace(answer, grade=grade, problem=problem))


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """An answer to grade. `known`: the right answers; `shown`: the texts that it was written from."""

    id: str
    question: str
    said: str
    known: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A key that depends on the words of the answer and on its texts."""
        content = json.dumps([self.question, self.said, self.known, self.shown], ensure_ascii=False)
        return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Marks:
    """Grades of an answer; None if undefined, without a known answer, shown texts or claims.

    `unsupported`: its claims that no shown text supports.
    """

    correctness: float | None
    faithfulness: float | None
    unsupported: tuple[str, ...] = ()


class AnswerGrader(Protocol):
    """Grades answers. `by` names the grader, with the version of its prompts."""

    by: str

    def mark(self, answer: SaidAnswer) -> Marks:
        """Return the grades of an answer."""
        ...


class LexicalGrader:
    """Grades by shared words, without a model: a baseline that a model should beat.

    Correctness is the share of a known answer's words in the answer. A sentence is supported if enough of its words
    occur in one of the texts.
    """

    def __init__(self, language: Language = ENGLISH) -> None:
        self._language = language
        self.by = "words"

    def mark(self, answer: SaidAnswer) -> Marks:
        """See AnswerGrader."""
        words = self._words(answer.said)
        shares = [_share(self._words(gold), words) for gold in answer.known]
        correct = None if not shares else 1.0 if max(shares) == 1 else 0.5 if max(shares) >= 0.5 else 0.0
        texts = [self._words(text) for text in answer.shown]
        claims = [s for s in sentences(answer.said, self._language.code) if self._words(s)] if texts else []
        unsupported = [s for s in claims if max(_share(self._words(s), text) for text in texts) < SUPPORTED]
        return Marks(correct, _supported(len(claims), len(unsupported)), tuple(unsupported))

    def _words(self, text: str) -> set[str]:
        words = words_of(text, self._language)
        return {stem for stem in content_stems(words, self._language) if stem} or set(words)


class _Correct(BaseModel):
    correct: bool


class _Mark(BaseModel):
    mark: Literal[0, 1, 2]


class _Claim(BaseModel):
    claim: str
    supported: bool


class _Claims(BaseModel):
    REPLY: ClassVar = object_schema({"claims": {"type": "array", "items": reply_schema(_Claim)}})

    claims: list[_Claim]


class ModelGrader:
    """Grades with the models of the tasks "correctness" and "claims". Safe to share between threads."""

    def __init__(self, llm: PromptedModel) -> None:
        self._llm = llm
        self.by = _by(llm, CORRECTNESS, CLAIMS)

    def mark(self, answer: SaidAnswer) -> Marks:
        """See AnswerGrader. Raises ModelError, BudgetError.

        An empty answer is not correct, and a known answer in the same words is; these need no model call.
        """
        correct: float | None = None
        if answer.known and (correct := _surely(answer.said, answer.known)) is None:
            values = _correctness(answer.question, answer.known, answer.said)
            correct = self._llm.structured(CORRECTNESS, _Mark, **values).mark / 2
        if not answer.shown or not answer.said.strip():
            return Marks(correct, None)
        claims = self._llm.structured(CLAIMS, _Claims, **_claims(answer)).claims
        unsupported = tuple(claim.claim for claim in claims if not claim.supported)
        return Marks(correct, _supported(len(claims), len(unsupported)), unsupported)


def read_answers(path: Path) -> list[SaidAnswer]:
    """Return the answers in a JSON Lines file, each as in `SaidAnswer`, or as `kgrag ask --json` prints it.

    The context of a printed answer is its citations, or else its ranking. Raises InputError that names the line.
    """
    answers = {}
    for number, (place, row) in enumerate(json_lines(path, _FORM), 1):
        text, question = row.get("said", row.get("text")), row.get("question")
        if not isinstance(text, str) or not isinstance(question, str):
            raise InputError(f"{place}: question or said is missing or no text.", _FORM)
        gold, evidence = row.get("answers") or [], row.get("shown")
        if evidence is None:
            evidence = _texts(row.get("citations")) or _texts((row.get("ranking") or {}).get("hits"))
        if not isinstance(gold, list) or not isinstance(evidence, list):
            raise InputError(f"{place}: answers or shown is no list.", _FORM)
        id = str(row.get("id") or number)
        if id in answers:
            raise InputError(f"{place}: id {id!r} occurs more than once.", _FORM)
        answers[id] = SaidAnswer(id, question, text, tuple(map(str, gold)), tuple(map(str, evidence)))
    if not answers:
        raise InputError(f"{path} is empty.", _FORM)
    return list(answers.values())


def read_marks(path: Path) -> dict[str, Marks]:
    """Return grades by the ids of answers, such as human ones. Raises InputError with the line."""
    marks = {}
    for place, row in json_lines(path, _MARKS_FORM):
        correctness, faithfulness = values = [row.get(name) for name in MARKS]
        if row.get("id") is None or not all(v is None or (isinstance(v, int | float) and 0 <= v <= 1) for v in values):
            raise InputError(f"{place}: it has no id, or a mark that is no number from 0 to 1.", _MARKS_FORM)
        marks[str(row["id"])] = Marks(correctness, faithfulness)
    return marks


def estimate(answers: Sequence[SaidAnswer], chat: ChatSettings) -> dict[str, Estimate]:
    """Estimate task -> calls to grade the answers; calls no model."""
    messages = {
        CORRECTNESS: [
            _correctness(a.question, a.known, a.said) for a in answers if a.known and _surely(a.said, a.known) is None
        ],
        CLAIMS: [_claims(a) for a in answers if a.shown and a.said.strip()],
    }
    estimates = {}
    for task, each in messages.items():
        prompt = load_prompt(task, chat.prompts)
        size = sum(len(m.content.encode("utf-8", "replace")) for values in each for m in prompt.messages(**values))
        estimates[task] = estimate_calls(chat, task, len(each), size, _WRITTEN[task])
    return estimates


def _correctness(question: str, answers: Sequence[str], text: str) -> dict[str, str]:
    return {"question": question, "answers": "; or ".join(answers), "said": harmless(text)}


def _claims(answer: SaidAnswer) -> dict[str, str]:
    texts = "\n\n".join(f"[{n}]\n{framed(harmless(text))}" for n, text in enumerate(answer.shown, 1))
    return {"question": answer.question, "said": harmless(answer.said), "texts": texts}


def _texts(items: object) -> list[str]:
    """Return the texts of the passages in a list of citations or hits."""
    passages = [item.get("passage") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return ["\n".join(filter(None, (p.get("title"), p.get("text")))) for p in passages if isinstance(p, dict)]


def _by(llm: PromptedModel, *names: str) -> str:
    """Return the models of tasks, with the versions of their prompts."""
    return ", ".join(f"{llm.model.name(name)}, prompt {llm.prompt(name).version}" for name in names)


def _surely(text: str, answers: Sequence[str]) -> bool | None:
    """Return whether an answer is correct, if that needs no model: it is missing, or is a known one; else None."""
    return bool(text.strip()) if not text.strip() or exact_match(text, answers) else None


def _share(words: set[str], there: set[str]) -> float:
    return len(words & there) / len(words) if words else 0.0


def _supported(claims: int, unsupported: int) -> float | None:
    return 1 - unsupported / claims if claims else None


@dataclass(frozen=True, slots=True)
class GradeReport:
    """The grades of all answers, and the grader.

    `means`: grade -> its mean over the answers that have it; `agreement`: grade -> agreement with the human grades,
    over the answers that both graded. `failures`: answers without a usable reply of the model; `left`: how many are not
    graded, these included; `stopped`: why it ended early, if it did.
    """

    by: str
    marks: Mapping[str, Marks]
    means: Mapping[str, float] = field(default_factory=dict)
    agreement: Mapping[str, Agreement] = field(default_factory=dict)
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    stopped: ModelError | None = None


def grade_answers(
    answers: Sequence[SaidAnswer],
    grader: AnswerGrader,
    *,
    by_hand: Mapping[str, Marks] | None = None,
    out: Path | None = None,
    threads: int = 8,
    progress: Progress,
) -> GradeReport:
    """Grade answers; with `out`, a JSON Lines file, answers graded in it are skipped.

    Raises InputError if `out` cannot be written, or has grades of another grader.
    """
    marks: dict[str, Marks] = {}
    digests = {answer.id: answer.digest for answer in answers}
    with ExitStack() as stack:
        ledger = None if out is None else stack.enter_context(Ledger(out, {"by": grader.by}))
        if ledger is not None:
            if not ledger.rows or ledger.rows[0].get("by") != grader.by:
                raise InputError(f"{out} holds other marks than those of {grader.by}.", "Name another file with --out.")
            ids = {digest: id for id, digest in digests.items()}
            for row in ledger.rows[1:]:
                if row.get("digest") in ids:
                    row_marks = Marks(row["correctness"], row["faithfulness"], tuple(row["unsupported"]))
                    marks[ids[row["digest"]]] = row_marks

        def write(fresh: dict[str, Marks]) -> None:
            if ledger is not None:
                for id, row_marks in fresh.items():
                    ledger.add({"id": id, "digest": digests[id], **asdict(row_marks)})
            marks.update(fresh)

        due = [{"id": a.id, "document": a.id, "title": "", "answer": a} for a in answers if a.id not in marks]
        report = partial(progress, "marks")
        outcome = ask_each(due, len(due), lambda source: grader.mark(source["answer"]), write, report, threads)
    means, agreed = {}, {}
    for name in MARKS:
        values = {id: value for id, row_marks in marks.items() if (value := getattr(row_marks, name)) is not None}
        theirs = {id: getattr(row_marks, name) for id, row_marks in (by_hand or {}).items()}
        both = [id for id in theirs if id in values and theirs[id] is not None]
        if values:
            means[name] = fmean(values.values())
        if both:
            agreed[name] = agreement([values[id] for id in both], [theirs[id] for id in both])
    return GradeReport(
        by=grader.by,
        marks={answer.id: marks[answer.id] for answer in answers if answer.id in marks},
        means=means,
        agreement=agreed,
        failures=tuple(outcome.failures),
        left=len(answers) - len(marks),
        stopped=outcome.stopped,
    )

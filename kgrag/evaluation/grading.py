"""Answers marked by a language model: whether each means the same as a known answer, which exact match cannot tell.

Source: KGP, section 5.1.3 (Acc) and listing 5.
"""

import threading
from dataclasses import replace

from pydantic import BaseModel

from kgrag.evaluation.answers import exact_match
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.retrieving import Grade, Record
from kgrag.models.tasks import Tasks
from kgrag.values.errors import BudgetError, ModelError
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage

TASK = "grade"
_UNMARKED = "not marked: "


class _Mark(BaseModel):
    correct: bool


class Grader:
    """Marks answers with the model that is set for the task "grade". Safe to share between threads.

    `by`: that model with the version of its prompt; marks of another are not taken for its own. `usage`: what all marks
    so far took.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._lock = threading.Lock()
        self._tasks = tasks.with_listener(self._hear)
        self.usage = Usage()
        self.by = f"{tasks.model.name(TASK)}, prompt {tasks.prompt(TASK).version}"

    def has_marked(self, record: Record) -> bool:
        """Whether nothing is left to be marked."""
        answer = record.answer
        if answer is None or record.error or not record.question.answers:
            return True
        return answer.grade is not None and answer.grade.by == self.by

    def mark(self, record: Record) -> Record:
        """The record with its mark. Raises BudgetError.

        No answer is not correct, and one that is the same as a known one is; the model is not asked for these. When
        it fails, the record has no mark, and its problem says why.
        """
        if record.answer is None or self.has_marked(record):
            return record
        problem = "" if record.answer.problem.startswith(_UNMARKED) else record.answer.problem
        grade: Grade | None = None
        try:
            grade = Grade(self._is_correct(record.question, record.answer.text), self.by)
        except BudgetError:
            raise
        except ModelError as error:
            problem = problem or f"{_UNMARKED}{error.in_full}"
        return replace(record, answer=replace(record.answer, grade=grade, problem=problem))

    def _hear(self, event: Event) -> None:
        if isinstance(event, Called):
            with self._lock:
                self.usage += event.usage

    def _is_correct(self, question: Question, said: str) -> bool:
        if not said or exact_match(said, question.answers):
            return bool(said)
        right = "; or ".join(question.answers)
        return self._tasks.structured(TASK, _Mark, question=question.text, answers=right, said=said).correct

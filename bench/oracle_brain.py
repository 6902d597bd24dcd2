"""A language model that reads perfectly: the brain of tests/models/scripted_server.py for a question set with steps.

KGRAG_ORACLE names the set's folder. In queries.jsonl each question has steps, single questions with their answers and
gold passages; #1 stands for the answer of the first, and >> parts an entity from a relation. The oracle knows no more
than the passages and facts that it is shown: of a step whose gold passage it sees it states the fact, and it asks on
for the first step whose fact it was not told. Only the evidence that it imagines for KGP is what it has not seen: the
fact of the first step whose gold passage is not there yet. A prompt is known by what it asks for: see
kgrag/models/prompts.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOT_FOUND = "Not in the evidence."
Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Step:
    """A single question, `asked` with the earlier answers in place, the fact that answers it, and its gold's text."""

    asked: str
    fact: Fact
    gold: str

    @property
    def sentence(self) -> str:
        """The fact in words."""
        return f"{' '.join(filter(None, self.fact))}."


@dataclass(frozen=True)
class Question:
    """A question with its steps in order."""

    text: str
    answer: str
    steps: tuple[Step, ...]


def squeezed(text: str) -> str:
    """Text with single spaces, so that it is found wherever its lines end."""
    return " ".join(text.split())


def load(folder: Path) -> dict[str, list[Question]]:
    """What can be asked -> the questions it leads to: each question itself, and the single ones of its steps."""
    texts = {row["id"]: squeezed(row["text"]) for row in rows(folder / "corpus.jsonl")}
    known: dict[str, list[Question]] = {}
    for row in rows(folder / "queries.jsonl"):
        answers = [step["answer"] for step in row["steps"]]
        steps = tuple(step_of(step["question"], answers, n, texts[step["gold"]]) for n, step in enumerate(row["steps"]))
        question = Question(squeezed(row["question"]), row["answers"][0], steps)
        for asked in dict.fromkeys([question.text, *(step.asked for step in steps)]):
            known.setdefault(asked, []).append(question)
    return known


def rows(path: Path) -> Iterable[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def step_of(text: str, answers: list[str], number: int, gold: str) -> Step:
    """A step, from its single question as it is written."""
    filled = re.sub(r"#(\d+)", lambda m: answers[int(m[1]) - 1], text)
    filled = re.sub(r" (?=[?')])", "", squeezed(filled))
    entity, relation, predicate = filled.partition(">>")
    if relation:
        subject, predicate = entity.strip(), predicate.strip()
        return Step(f"{subject} {predicate}", (subject, predicate, answers[number]), gold)
    return Step(filled, (filled.rstrip("?"), "", answers[number]), gold)


KNOWN = load(Path(os.environ["KGRAG_ORACLE"]))


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """What the oracle says; nothing of a question that it does not know."""
    prompt = messages[-1]["content"]
    asked = re.findall(r"^Question: (.*)$", prompt, re.MULTILINE)
    questions = KNOWN.get(squeezed(asked[0 if task in ("rewrite", "evidence") else -1])) if asked else None
    if not questions:
        return None
    match task:
        case "read":
            return json.dumps({"triples": read(questions, prompt)}, ensure_ascii=False)
        case "reason":
            return reason(questions[0], facts_in(prompt))
        case "rewrite":
            return rewrite(questions[0], facts_in(prompt))
        case "think":
            return think(questions[0], prompt)
        case "evidence":
            return evidence(questions[0], prompt)
        case "answer":
            return answer(questions[0], prompt)
    return None


def read(questions: list[Question], prompt: str) -> list[Fact]:
    """The facts of the steps whose gold is there, those that were told left out.

    A single question may belong to several questions: then only what all of these have in common helps.
    """
    shared = [step for step in questions[0].steps if all(step in other.steps for other in questions[1:])]
    told, text = facts_in(prompt), squeezed(prompt)
    return [step.fact for step in shared if step.gold in text and step.fact not in told]


def reason(question: Question, told: set[Fact]) -> str:
    """The answer when the fact of every step was told, else what is missing."""
    missing = [step for step in question.steps if step.fact not in told]
    if not missing:
        return json.dumps({"answerable": True, "answer": question.answer})
    return json.dumps({"answerable": False, "why": f"It is not known: {missing[0].asked}"})


def rewrite(question: Question, told: set[Fact]) -> str:
    """The single question of the first step whose fact was not told."""
    return next((step.asked for step in question.steps if step.fact not in told), question.text)


def evidence(question: Question, prompt: str) -> str:
    """The fact of the first step whose gold is not there, that of the last step when all are."""
    text = squeezed(prompt)
    return next((step.sentence for step in question.steps if step.gold not in text), question.steps[-1].sentence)


def think(question: Question, prompt: str) -> str:
    """The fact of the next step if its gold is there, else its single question; with the last fact the answer."""
    text = squeezed(prompt)
    thoughts = text.rpartition("Reasoning so far: ")[2]
    missing = [step for step in question.steps if step.sentence not in thoughts]
    if not missing:
        return f"So the answer is: {question.answer}"
    if missing[0].gold not in text:
        return missing[0].asked
    return missing[0].sentence if missing[1:] else f"{missing[0].sentence} So the answer is: {question.answer}"


def answer(question: Question, prompt: str) -> str:
    """The answer if the gold of the last step is there."""
    return question.answer if question.steps[-1].gold in squeezed(prompt) else NOT_FOUND


def facts_in(prompt: str) -> set[Fact]:
    """The facts that a prompt lists, an array of three on each line."""
    found = set()
    for line in prompt.splitlines():
        if line.startswith("["):
            try:
                subject, predicate, object_ = json.loads(line)
            except (ValueError, TypeError):
                continue
            found.add((subject, predicate, object_))
    return found

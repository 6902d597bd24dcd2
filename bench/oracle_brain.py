"""Imitate a language model that reads perfectly; tests/models/scripted_server.py serves it for a set with steps.

KGRAG_ORACLE names the set's folder. In queries.jsonl a question may have steps, sub-questions with their answers and
gold passages; #1 is the answer of the first, and >> separates an entity from a relation. Without steps each gold
passage is a step. Its sub-question is the title if the question or an earlier gold passage names it, else the question
itself; the answer is known when all of them are shown. The oracle knows only the passages and facts in the prompt. It
states the fact of a step whose gold passage it sees, and asks for the first step whose fact is missing. One exception
is the evidence that it imagines for KGP: the fact of the first step whose gold passage is not yet shown. It recognises
a prompt by its request: see kgrag/models/prompts.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import category

NOT_FOUND = "Not in the evidence."
UNKNOWN = "It is known."
"""The answer to a question of a set without answers."""
UNTOLD = "It is unknown: "
"""How the reply to a single question begins whose gold is not there."""
Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Step:
    """A sub-question with earlier answers filled in (`asked`), its fact, and its gold passage's text."""

    asked: str
    fact: Fact
    gold: str

    @property
    def sentence(self) -> str:
        """The fact as a sentence."""
        return f"{' '.join(filter(None, self.fact))}."


@dataclass(frozen=True)
class Question:
    """A question with its ordered steps; the answer needs the gold of `telling`, the last step or all."""

    text: str
    answer: str
    steps: tuple[Step, ...]
    telling: tuple[Step, ...]


def squeezed(text: str) -> str:
    """Return text with single spaces and without bidirectional marks, so that layout does not hide a match."""
    return " ".join("".join(letter for letter in text if category(letter) != "Cf").split())


def load(folder: Path) -> dict[str, list[Question]]:
    """Map each text that may be asked to its questions: whole questions, sub-questions, and thoughts."""
    passages = {row["id"]: (row["title"], squeezed(row["text"])) for row in rows(folder / "corpus.jsonl")}
    known: dict[str, list[Question]] = {}
    for row in rows(folder / "queries.jsonl"):
        text, answer = squeezed(row["question"]), row["answers"][0] if row["answers"] else UNKNOWN
        if row.get("steps"):
            answers = [step["answer"] for step in row["steps"]]
            golds = [passages[step["gold"]][1] for step in row["steps"]]
            steps = [step_of(step["question"], answers, n, golds[n]) for n, step in enumerate(row["steps"])]
        else:
            steps = steps_between(text, answer, [passages[id] for id in row["gold"]])
        question = Question(text, answer, tuple(steps), tuple(steps[-1:] if row.get("steps") else steps))
        thoughts = (said for step in steps for said in (step.asked, squeezed(step.sentence)))
        for asked in dict.fromkeys([question.text, *thoughts]):
            known.setdefault(asked, []).append(question)
    return known


def rows(path: Path) -> Iterable[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def step_of(text: str, answers: list[str], number: int, gold: str) -> Step:
    """Return a step from its sub-question as written in the set."""
    filled = re.sub(r"#(\d+)", lambda m: answers[int(m[1]) - 1], text)
    filled = re.sub(r" (?=[?')])", "", squeezed(filled))
    entity, relation, predicate = filled.partition(">>")
    if relation:
        subject, predicate = entity.strip(), predicate.strip()
        return Step(f"{subject} {predicate}", (subject, predicate, answers[number]), gold)
    return Step(filled, (filled.rstrip("?"), "", answers[number]), gold)


def steps_between(question: str, answer: str, golds: list[tuple[str, str]]) -> list[Step]:
    """Return a step for each gold passage (title, text), after the question or earlier passage that names it."""
    told, left, order = question, list(golds), list[tuple[str, str, str]]()
    while left:
        title, text = next((gold for gold in left if names(told, gold[0])), left[0])
        order.append((title if names(told, title) else question, title, text))
        told = f"{told} {text}"
        left.remove((title, text))
    titles = [title for _, title, _ in order]
    following = [next((t for t in titles if t != title and names(text, t)), answer) for _, title, text in order]
    return [
        Step(asked, (title, "leads to", there), text)
        for (asked, title, text), there in zip(order, following, strict=True)
    ]


def names(text: str, title: str) -> bool:
    """Return whether a text names the subject of a title, without the title's part in brackets."""
    name = title.partition(" (")[0]
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


KNOWN = load(Path(os.environ["KGRAG_ORACLE"]))


def reply(task: str, messages: list[dict[str, Any]], request: dict[str, Any]) -> str | None:
    """Return the reply of the oracle; nothing for an unknown question."""
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
        case "rewrite-or-stop":
            missing = rewrite(questions[0], facts_in(prompt))
            return "{Yes}" if missing == questions[0].text else f"{{No}} {{{missing}}}"
        case "filter":
            gold = json.loads(verify(questions[0], prompt))["covered_doc_indices"]
            return " > ".join(f"[{n}]" for n in gold) or "None"
        case "think":
            return think(questions[0], prompt)
        case "tog" | "gcot":
            return wanted(questions[0], prompt)
        case "retgen":
            return retgen(questions[0], prompt)
        case "self-ask":
            return self_ask(questions[0], prompt)
        case "sub-answer":
            return sub_answer(questions, squeezed(asked[-1]), prompt)
        case "sub-question":
            return next_question(questions[0], prompt)
        case "critique" | "final-answer":
            return judged(questions[0], task, prompt)
        case "dual-thought":
            return dual_thought(questions[0], prompt)
        case "chain":
            return " -> ".join(step.sentence for step in questions[0].steps if step.gold in squeezed(prompt)) or "?"
        case "verify":
            return verify(questions[0], prompt)
        case "recognise":
            return recognise(questions[0], prompt)
        case "evidence":
            return evidence(questions[0], prompt)
        case "answer":
            return answer(questions[0], prompt)
    return None


def read(questions: list[Question], prompt: str) -> list[Fact]:
    """Return the facts of the steps whose gold is shown, without facts already in the prompt.

    A sub-question may belong to several questions; then only the steps that all of these share count.
    """
    shared = [step for step in questions[0].steps if all(step in other.steps for other in questions[1:])]
    told, text = facts_in(prompt), squeezed(prompt)
    return [step.fact for step in shared if step.gold in text and step.fact not in told]


def reason(question: Question, told: set[Fact]) -> str:
    """Return the answer if the prompt has the fact of every step, else the missing fact."""
    missing = [step for step in question.steps if step.fact not in told]
    if not missing:
        return json.dumps({"answerable": True, "answer": question.answer})
    return json.dumps({"answerable": False, "why": f"It is not known: {missing[0].asked}"})


def rewrite(question: Question, told: set[Fact]) -> str:
    """Return the sub-question of the first step whose fact is missing."""
    return next((step.asked for step in question.steps if step.fact not in told), question.text)


def evidence(question: Question, prompt: str) -> str:
    """Return the fact of the first step whose gold is not shown, or the last step's if all are."""
    text = squeezed(prompt)
    return next((step.sentence for step in question.steps if step.gold not in text), question.steps[-1].sentence)


def think(question: Question, prompt: str) -> str:
    """Return the next step's fact if its gold is shown, else its sub-question; after the last, the answer."""
    text = squeezed(prompt)
    thoughts = text.rpartition("Reasoning so far: ")[2]
    missing = [step for step in question.steps if step.sentence not in thoughts]
    if missing and missing[0].gold not in text:
        return missing[0].asked
    return missing[0].sentence if missing[1:] else f"So the answer is: {question.answer}"


def wanted(question: Question, prompt: str) -> str:
    """Return the sub-question of the first step whose gold is not shown, or the answer."""
    missing = unseen(question, prompt)
    return missing[0].asked if missing else f"So the answer is: {question.answer}"


def retgen(question: Question, prompt: str) -> str:
    """Return the facts up to the first whose gold is not shown, then that step's sub-question, or the answer."""
    missing = unseen(question, prompt)
    known = question.steps[: question.steps.index(missing[0])] if missing else question.steps
    said = [step.sentence for step in known] + [step.asked for step in missing[:1]]
    return f"{' '.join(said)} So the answer is: {'unknown' if missing else question.answer}"


def self_ask(question: Question, prompt: str) -> str:
    """Return the next sub-question, or the answer; "unknown" after an intermediate answer that was not found."""
    told = re.findall(r"^Follow up: (.*)\nIntermediate answer: (.*)$", prompt, re.MULTILINE)
    if told and told[-1][1].startswith(UNTOLD):
        return "So the final answer is: unknown"
    if len(told) < len(question.steps):
        return f"Follow up: {question.steps[len(told)].asked}"
    return f"So the final answer is: {question.answer}"


def sub_answer(questions: list[Question], asked: str, prompt: str) -> str:
    """Return the fact of a sub-question as a sentence, if its gold is shown."""
    text = squeezed(prompt)
    steps = (step for question in questions for step in question.steps if step.asked == asked and step.gold in text)
    return next((step.sentence for step in steps), f"{UNTOLD}{asked}")


def next_question(question: Question, prompt: str) -> str:
    """Return the sub-question of the first unanswered step."""
    told = set(re.findall(r"^Its answer: (.*)$", prompt, re.MULTILINE))
    return next((step.asked for step in question.steps if step.sentence not in told), question.text)


def judged(question: Question, task: str, prompt: str) -> str:
    """Return whether the prompt has the last fact as a sentence (a bare answer lacks its subject), or the answer."""
    known = question.steps[-1].sentence in prompt
    if task == "critique":
        return json.dumps({"analysis": "", "enough": known})
    return question.answer if known else NOT_FOUND


def dual_thought(question: Question, prompt: str) -> str:
    """Return the first sub-question whose gold is not shown, alone and after the fact that leads to it."""
    missing = unseen(question, prompt)
    if not missing:
        return json.dumps({"fast": question.text, "slow": question.steps[-1].sentence}, ensure_ascii=False)
    place = question.steps.index(missing[0])
    before = question.steps[place - 1].sentence if place else ""
    return json.dumps({"fast": missing[0].asked, "slow": f"{before} {missing[0].asked}".strip()}, ensure_ascii=False)


def verify(question: Question, prompt: str) -> str:
    """Return the numbers of the gold passages."""
    numbered = re.findall(r"^\[(\d+)\]$(.*?)(?=^\[\d+\]$|\Z)", prompt, re.MULTILINE | re.DOTALL)
    gold = [int(n) for n, text in numbered if any(step.gold in squeezed(text) for step in question.steps)]
    return json.dumps({"covered_doc_indices": gold})


def recognise(question: Question, prompt: str) -> str:
    """Return the numbers of the facts whose subject and object both occur in the gold of one step."""
    facts = [(int(n), json.loads(fact)) for n, fact in re.findall(r"^(\d+)\. (\[.*\])$", prompt, re.MULTILINE)]
    golds = [step.gold.casefold() for step in question.steps]
    kept = [n for n, (s, _, o) in facts if any(s.casefold() in gold and o.casefold() in gold for gold in golds)]
    return json.dumps({"kept": kept})


def unseen(question: Question, prompt: str) -> list[Step]:
    """Return the steps whose gold is not shown."""
    text = squeezed(prompt)
    return [step for step in question.steps if step.gold not in text]


def answer(question: Question, prompt: str) -> str:
    """Return the answer if the gold of each step in `telling` is shown, or its fact is known."""
    text, told = squeezed(prompt), facts_in(prompt)
    known = all(step.gold in text or step.fact in told for step in question.telling)
    return question.answer if known else NOT_FOUND


def facts_in(prompt: str) -> set[Fact]:
    """Return the facts that a prompt lists, an array of three on each line."""
    found = set()
    for line in prompt.splitlines():
        if line.startswith("["):
            try:
                subject, predicate, object_ = json.loads(line)
            except (ValueError, TypeError):
                continue
            found.add((subject, predicate, object_))
    return found

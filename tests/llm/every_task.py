"""Each prompt with realistic values, and the form of the reply; bench/local_models.py uses it, too."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from kgrag.agents.bdtr import Covered, Thoughts
from kgrag.agents.gear import Verdict
from kgrag.agents.global_search import Points
from kgrag.agents.lookup import _Reply as Structure
from kgrag.agents.rgnn import Critique
from kgrag.indexing.communities import Report
from kgrag.indexing.fact_rows import Extraction, LinkedExtraction, typed_extraction
from kgrag.indexing.fact_schema import FactSchema
from kgrag.indexing.group_texts import Summary
from kgrag.indexing.resolution.judge import Same
from kgrag.indexing.schema_proposal import Proposal
from kgrag.lab.generating import _Checked as Checked
from kgrag.lab.generating import _QuestionReply as Made
from kgrag.lab.grading import _Claims as Claims
from kgrag.lab.grading import _Correct as Grade
from kgrag.lab.grading import _Mark as Correctness
from kgrag.models.facts import Facts, lines
from kgrag.models.prompted import numbered
from kgrag.models.prompts import load_prompt
from kgrag.retrieval.hipporag import Names, SelectedFacts
from kgrag.values.documents import Triple
from kgrag.values.results import Passage

_SCHEMA = FactSchema.model_validate(
    {"types": {"Person": {}, "Place": {}, "Work": {}}, "predicates": {"BORN_IN": {}, "MADE": {}, "LIES_IN": {}}}
)
SHAPES: Mapping[str, type[BaseModel]] = {
    "check-question": Checked, "claims": Claims, "correctness": Correctness, "critique": Critique,
    "dual-thought": Thoughts, "dual-thought-chain": Thoughts, "extract": Extraction, "extract-linked": LinkedExtraction,
    "extract-typed": typed_extraction(_SCHEMA), "fact-schema": Proposal,
    "grade": Grade, "make-question": Made, "name": Names, "note": Points, "read": Facts, "read-on": Facts,
    "reason": Verdict, "recognise": SelectedFacts, "report": Report, "resolve": Same, "structure": Structure,
    "summarise": Summary, "verify": Covered,
}  # fmt: skip
"""Prompt -> the form of its replies, if it is JSON."""

_FACTS = [Triple("Colin Archer", "designed", "Fram"), Triple("Colin Archer", "lived in", "Larvik")]


def values(prompt: str, question: str, answer: str, passages: Sequence[Passage]) -> dict[str, str]:
    """Return the values of a prompt for a question over some passages."""
    first, last = passages[0], passages[-1]
    shown, facts = numbered([passage] for passage in passages), lines(_FACTS)
    texts = "\n\n".join(f"[{n}] {p.title}: {p.text}" for n, p in enumerate(passages, 1))
    known = {
        "passages": shown, "question": question, "facts": facts, "title": first.title, "text": first.text,
        "language": "the language of the question", "words": "at most 6 words", "thoughts": "(none yet)",
        "answered": "(none yet)", "answers": answer, "answer": answer, "said": f"{answer}, as [1] says.",
        "choices": f"A. {answer}\nB. {last.title}", "why": "The facts do not say it.", "rewrites": "(none yet)",
        "texts": texts, "documents": "\n".join(p.title for p in passages), "reports": texts,
        "names": f"{first.title}, {last.title}", "chain": f"{first.title} -> {answer}",
        "pairs": f"1. {first.title} ({first.text[:80]}) and {last.title} ({last.text[:80]})",
        "history": f"Tell me of {first.title}.", "caption": "Figure 1: The Fram.",
        "evidence": shown, "schema": "(:Passage)-[:MENTIONS]->(:Entity)",
        "examples": "MATCH (e:Entity {collection: $collection}) RETURN e.name LIMIT 5", "trouble": "",
        "answer_type": "a name", "bridge": last.title, "formulation": "plain", "premise": "", "user": "a reader",
        "collection": "$collection", "entity_name": "$entity_name", "passage_text": "$passage_text", "name": "$name",
        **_SCHEMA.prompt_values(),
    }  # fmt: skip
    return {name: known[name] for name in load_prompt(prompt).values}


def task(prompt: str) -> str:
    """Return the task that a prompt belongs to."""
    return {
        "dual-thought-chain": "dual-thought",
        "extract-linked": "extract",
        "extract-typed": "extract",
        "read-on": "read",
    }.get(prompt, prompt)


def said_in_words(error: Any) -> bool:
    """Return whether an error says what happened, and what to do about it."""
    return bool(error.message and error.remedy)

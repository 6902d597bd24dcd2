"""2WikiMultiHopQA: HotpotQA's format with the triples that lead to the answer (`evidences`) beside the sentences.

As published at github.com/Alab-NII/2wikimultihop: _id, type (comparison, inference, compositional, bridge_comparison),
question, context, supporting_facts, evidences ([[subject, relation, object], ...]), answer.
"""

from pathlib import Path
from typing import Any

from kgrag.evaluation.datasets import Dataset
from kgrag.evaluation.readers.hotpotqa import rows
from kgrag.evaluation.readers.passages import context_dataset

EXPECTED = "a .json or .jsonl file whose items hold _id, question, answer, context, supporting_facts and evidences"
_FORM = (
    'Each item is an object like {"_id": "...", "question": "...", "answer": "...", "type": "comparison", "context": '
    '[["title", ["sentence", ...]], ...], "supporting_facts": [["title", 0], ...], "evidences": [["a", "b", "c"]]}.'
)


def fits(row: dict[str, Any]) -> bool:
    """Whether a file with this first row is in this format."""
    return {"question", "context", "supporting_facts", "evidences"} <= row.keys()


def read(path: Path) -> Dataset:
    """Read a file. Raises InputError, naming the place."""
    return context_dataset(path, lambda: rows(path, _FORM), _FORM, "they name no supporting facts")

"""HotpotQA and 2WikiMultiHopQA: a JSON list of questions with ten paragraphs each and the sentences that support it.

As published at hotpotqa.github.io (distractor setting): _id, question, answer, type, level, context ([[title,
[sentence, ...]], ...]) and supporting_facts ([[title, sentence number], ...]). JSON Lines, and columns of lists in
place of lists of pairs, are also read. The paragraphs of all questions together are the corpus. Gold are the paragraphs
of a question's own context whose titles its supporting facts name; in the full-wiki setting these may be missing.
2WikiMultiHopQA (github.com/Alab-NII/2wikimultihop) also has the triples that lead to the answer: evidences ([[subject,
relation, object], ...]), whose subjects give the order of the gold.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Dataset, Format, GoldText, Question, has
from kgrag.lab.readers.passages import Row, context_dataset, id_of, json_rows, passage_key, question_of
from kgrag.values.errors import InputError

EXPECTED = "a .json or .jsonl file whose items hold _id, question, answer, context and supporting_facts"
_FORM = (
    'Each item is an object like {"_id": "...", "question": "...", "answer": "...", "type": "bridge", "context": '
    '[["title", ["sentence", ...]], ...], "supporting_facts": [["title", 0], ...]}.'
)


_KIND = re.compile(r"\s*\([^()]*\)$")


def read(path: Path) -> Dataset:
    """Read a file. Raises InputError, naming the place."""
    return context_dataset(path, lambda: _rows(path, _FORM), _FORM, "they name no supporting facts")


def _rows(path: Path, form: str) -> Iterator[Row]:
    """Yield the questions of a file with their paragraphs."""
    for place, item in json_rows(path, form):
        paragraphs = [(title, " ".join(map(str.strip, sentences))) for title, sentences in _context(place, item, form)]
        facts = _pairs(place, item, "supporting_facts", "sent_id", form)
        supporting = {title for title, _ in facts}
        gold = [passage_key(title, text) for title, text in paragraphs if title in supporting]
        gold += [f"(not in the context) {title}" for title in sorted(supporting.difference(t for t, _ in paragraphs))]
        if not gold:
            yield None, paragraphs
            continue
        kind, level = item.get("type") or "", item.get("level")
        titles = {passage_key(title, text): title for title, text in paragraphs}
        question = Question(
            id=id_of(place, item.get("_id", item.get("id")), "_id", form),
            text=question_of(place, item, form),
            gold=tuple(dict.fromkeys(gold)),
            answers=(str(item["answer"]),) if item.get("answer") else (),
            type=f"{kind}/{level}" if level else str(kind),
            path=_path(item.get("evidences") or [], {key: titles.get(key, "") for key in gold}),
            supports=tuple(_supports(_context(place, item, form), facts)),
        )
        yield question, paragraphs


def _supports(context: list[tuple[str, list[str]]], facts: list[tuple[str, Any]]) -> Iterator[GoldText]:
    """Yield the sentences that the facts name by the title of their paragraph and their number."""
    for title, sentences in context:
        key = passage_key(title, " ".join(map(str.strip, sentences)))
        for number in dict.fromkeys(number for named, number in facts if named == title):
            if isinstance(number, int) and 0 <= number < len(sentences) and sentences[number].strip():
                yield GoldText(key, sentences[number].strip())


def _path(evidences: Any, gold: dict[str, str]) -> tuple[str, ...]:
    """Return the gold (key -> title) in the order of the triples, if these name all of it.

    Triples have Wikidata's names, without a title's part in parentheses.
    """
    try:
        triples = json.loads(evidences) if isinstance(evidences, str) else evidences
    except ValueError:
        triples = []
    subjects = [str(triple[0]).casefold() for triple in triples if isinstance(triple, list | tuple) and triple]
    place = {name: subjects.index(name) for name in subjects}
    names = {key: title.casefold() for key, title in gold.items()}
    places = {key: place.get(name, place.get(_KIND.sub("", name), -1)) for key, name in names.items()}
    return tuple(sorted(places, key=lambda key: places[key])) if -1 not in places.values() else ()


def _context(place: str, item: dict[str, Any], form: str) -> list[tuple[str, list[str]]]:
    pairs = _pairs(place, item, "context", "sentences", form)
    if not all(isinstance(s, list) and all(isinstance(x, str) for x in s) for _, s in pairs):
        raise InputError(f"{place}: context holds no lists of sentences.", form)
    return pairs


def _pairs(place: str, item: dict[str, Any], name: str, second: str, form: str) -> list[tuple[str, Any]]:
    """Return a list of pairs, also from columns of lists, or from JSON in a string."""
    value = item.get(name) or []
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise InputError(f"{place}: {name} is not a list of pairs.", form) from error
    if isinstance(value, dict):
        titles, others = value.get("title"), value.get(second, value.get("content"))
        if isinstance(titles, list) and isinstance(others, list):
            value = list(zip(titles, others, strict=False))
    if not isinstance(value, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    ):
        raise InputError(f"{place}: {name} is not a list of pairs.", form)
    return [(title, other) for title, other in value]


_COLUMNS = ("question", "context", "supporting_facts")
FORMAT = Format(read, EXPECTED, lambda row: has(*_COLUMNS)(row) and "evidences" not in row)
TWO_WIKI = Format(read, f"{EXPECTED}, with evidences", has(*_COLUMNS, "evidences"))

"""Make questions without a language model, from facts, tables and sentences of a collection in fixed templates.

The answers are certain, since a fact or a cell gives them and no other fact contradicts it. The wording is unnatural.
The templates are English.
"""

import itertools
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain, zip_longest
from typing import Any

from rapidfuzz import fuzz

from kgrag.graph.reader import Reader
from kgrag.text.languages import Language
from kgrag.text.names import capitalised_phrases
from kgrag.text.sentences import sentences
from kgrag.text.tokens import content_stems, search_form, tokens, words_of
from kgrag.values.results import Passage

# Kinds of questions. Source: Millions of GEAR-s, section 5.1 and table 1, after DataMorgana (Filice et al., 2025). Its
# eight formulations have 10 % each, which sums to 80 %, so weights are normalised.


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of question. `weight`: its relative frequency within its group; `passages`: how many it needs."""

    name: str
    weight: float
    means: str
    passages: int = 1


_READ = tomllib.loads(files("kgrag.lab").joinpath("taxonomy.toml").read_text(encoding="utf-8"))
USERS, FORMULATIONS, PREMISES, ANSWER_TYPES = (
    tuple(Category(**row) for row in _READ[group]) for group in ("users", "formulations", "premises", "answer_types")
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The properties of a question to be made."""

    user: Category
    formulation: Category
    premise: Category
    answer_type: Category


def draw_kind(lot: random.Random) -> Kind:
    """Draw a kind from each group independently, by the weights."""
    user, formulation, premise, answer_type = (
        lot.choices(group, [category.weight for category in group])[0]
        for group in (USERS, FORMULATIONS, PREMISES, ANSWER_TYPES)
    )
    return Kind(user, formulation, premise, answer_type)


ALIKE = 90.0
"""Token sort ratio (0 to 100) from which two questions with the same answer and gold count as duplicates."""
_OF_TEXTS = re.compile(
    r"\b(?:the|this|these|that|first|second|two|both|given|above)\s+(?:texts?|passages?|excerpts?)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A generated question. `gold`: ids of its passages, in the order that leads to the answer.

    `supports`: (passage id, a text from it). `steps`: sub-questions, {question, answer, gold}. `sound` and `needed`:
    the verdict of a second reading, if there was one, and the passages that it found necessary.
    """

    question: str
    answer: str
    gold: tuple[str, ...]
    type: str
    user: str = ""
    formulation: str = ""
    premise: str = ""
    supports: tuple[tuple[str, str], ...] = ()
    steps: tuple[dict[str, str], ...] = ()
    sound: bool = True
    needed: tuple[str, ...] | None = None


@dataclass(slots=True)
class Selection:
    """The accepted drafts in order, and the number of rejected ones by reason."""

    kept: list[Draft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def select(drafts: Iterable[Draft], number: int, language: Language) -> Selection:
    """Return the first `number` usable drafts."""
    selection = Selection()
    texts: set[str] = set()
    alike: dict[tuple[str, ...], list[str]] = {}
    for draft in drafts:
        if len(selection.kept) == number:
            break
        same = (search_form(draft.answer, language), *sorted(draft.gold))
        words = search_form(draft.question, language)
        reason = _fault(draft, language)
        if not reason and (
            words in texts or any(fuzz.token_sort_ratio(words, other) >= ALIKE for other in alike.get(same, ()))
        ):
            reason = "asked before"
        if reason:
            selection.dropped[reason] += 1
            continue
        texts.add(words)
        alike.setdefault(same, []).append(words)
        selection.kept.append(draft)
    return selection


def leaks(draft: Draft, language: Language) -> bool:
    """Return whether a question contains all content words of its answer.

    Yes/no answers and comparisons never count as leaks.
    """
    if draft.type == "comparison" or draft.formulation == "yes-no":
        return False
    answer, question = _telling(draft.answer, language), _telling(draft.question, language)
    return bool(answer) and answer <= question


def _fault(draft: Draft, language: Language) -> str:
    if not draft.question.strip() or not search_form(draft.answer, language):
        return "no question or no answer"
    if _OF_TEXTS.search(draft.question):
        return "speaks of its texts"
    if leaks(draft, language):
        return "gives its answer away"
    if not draft.sound:
        return "not sound by the second reading"
    if draft.needed is not None and not set(draft.gold) <= set(draft.needed):
        return "needs fewer passages"
    return ""


def _telling(text: str, language: Language) -> set[str]:
    words = words_of(text, language)
    return {stem for stem in content_stems(words, language) if stem} or set(words)


def query_rows(drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    """Return the rows of queries.jsonl."""
    return [
        {
            "id": f"g{number}",
            "question": draft.question,
            "gold": list(draft.gold),
            "answers": [draft.answer],
            "type": draft.type,
            **({"steps": list(draft.steps)} if draft.steps else {}),
            **({"supports": [{"passage": id, "text": text} for id, text in draft.supports]} if draft.supports else {}),
            **{name: value for name in ("user", "formulation", "premise") if (value := getattr(draft, name))},
        }
        for number, draft in enumerate(drafts, 1)
    ]


_TRIED = 24  # passages drawn at once to find one connected to another document


@dataclass(frozen=True, slots=True)
class Material:
    """The one or two passages of a question; `bridge`: the name that connects two, or "".

    `by_title`: the name is the title of the second passage's document.
    """

    passages: tuple[Passage, ...]
    bridge: str = ""
    by_title: bool = False


class Sources:
    """The passages of a collection, as a source for draws. Holds ids only, no texts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.documents: dict[str, list[str]] = defaultdict(list)
        """Document key -> the ids of its passages, sorted."""
        for row in self.rows():
            self.documents[row["document"]].append(row["id"])
        for passages in self.documents.values():
            passages.sort()
        self.ids = sorted(chain.from_iterable(self.documents.values()))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every passage: see `cypher/evaluate/question_passages.cypher`."""
        for record in self._reader.graph.stream("evaluate/question_passages", collection=self._reader.collection.name):
            yield dict(record)

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return passages by their ids."""
        return self._reader.passages(ids)

    def draw(self, lot: random.Random, number: int, *, by_title: bool = False) -> Material:
        """Draw one passage, or two of different documents with a common name; one if no candidate has a partner.

        `by_title`: prefer a second passage about a name that the first one mentions.
        """
        tried = [lot.choice(self.ids) for _ in range(_TRIED if number > 1 else 1)]
        if number > 1:
            drafts: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for row in self._reader.rows("evaluate/question_bridges", ids=sorted(set(tried)), most=20, limit=20):
                drafts[row["id"]].append(row)
            for id in tried:
                bridges = drafts[id]
                bridges = [row for row in bridges if row["kind"] == "title"] or ([] if by_title else bridges)
                if bridges:
                    bridge = lot.choice(bridges)
                    passages = self.passages([id, bridge["other"]])
                    if len(passages) == 2:
                        pair = (passages[id], passages[bridge["other"]])
                        return Material(pair, bridge["name"], bridge["kind"] == "title")
            if by_title:
                return self.draw(lot, number)
        return Material((self.passages(tried[:1])[tried[0]],))


GAP = "____"
_FACTS, _TABLES = 100_000, 10_000  # maximum read
_SHORTEST, _LONGEST = 40, 300  # characters of a sentence with a gap
_MARKS = frozenset("|`#{}<>[]*_=\\")  # characters of markup and formulas
_ENDS = (".", "!", "?", "…", "。")
_BLOCK = 256  # passages read at once
_CHAINS = 0.3  # share of sentences with a gap that are followed by a chain of two
_CELL = 80  # characters of a cell in a question


@dataclass(frozen=True, slots=True)
class _Fact:
    passage: str
    document: str
    subject: str
    predicate: str
    object: str
    subject_id: str
    object_id: str

    @property
    def question_text(self) -> str:
        return f'"{self.subject}", {self.predicate}: what?'


def template_drafts(reader: Reader, sources: Sources, seed: int) -> Iterator[Draft]:
    """Yield all drafts in an order determined by the seed and the weights of the taxonomy."""
    lot = random.Random(seed)
    facts = _facts(reader)
    rows: dict[str, list[Draft]] = {
        "factoid": [*_single(facts), *_cells(reader, sources, lot)],
        "multi-aspect": list(_aspects(facts)),
        "comparison": list(_comparisons(facts)),
        "path-following": list(_chains(facts)),
    }
    for drafts in rows.values():
        drafts.sort(key=lambda draft: (draft.question, draft.gold))
        lot.shuffle(drafts)
    weights = {category.name: category.weight for category in ANSWER_TYPES}
    while left := [name for name, drafts in rows.items() if drafts]:
        yield rows[lot.choices(left, [weights[name] for name in left])[0]].pop()
    chains = _gap_chains(reader, sources, lot)
    for gap in _gaps(reader, sources, lot):
        yield gap
        if lot.random() < _CHAINS and (chain := next(chains, None)):
            yield chain


def _facts(reader: Reader) -> dict[tuple[str, str], list[_Fact]]:
    """Return (subject id, predicate) -> its facts, if all have the same object, so that the answer is unique."""
    facts_by_key: dict[tuple[str, str], list[_Fact]] = defaultdict(list)
    for row in reader.rows("evaluate/question_triples", collection=reader.collection.name, limit=_FACTS):
        fact = _Fact(**row)
        facts_by_key[fact.subject_id, search_form(fact.predicate, reader.collection.language)].append(fact)
    ordered = {key: sorted(facts, key=lambda fact: fact.passage) for key, facts in sorted(facts_by_key.items())}
    return {key: facts for key, facts in ordered.items() if len({fact.object_id for fact in facts}) == 1}


def _single(facts: dict[tuple[str, str], list[_Fact]]) -> Iterator[Draft]:
    """Yield questions about the object of one fact."""
    for same in facts.values():
        if len({fact.passage for fact in same}) == 1:  # otherwise any of several passages would suffice
            yield Draft(same[0].question_text, same[0].object, (same[0].passage,), "factoid")


def _chains(facts: dict[tuple[str, str], list[_Fact]]) -> Iterator[Draft]:
    """Yield questions on two facts of different documents, where the object of one is the subject of the other."""
    by_subject: dict[str, list[_Fact]] = defaultdict(list)
    for same in facts.values():
        by_subject[same[0].subject_id].append(same[0])
    for first in (same[0] for same in facts.values()):
        for second in by_subject.get(first.object_id, ()):
            if second.document == first.document or second.object_id in (first.subject_id, first.object_id):
                continue
            question = f'"{first.subject}", {first.predicate}: X. X, {second.predicate}: what?'
            steps = (
                {"question": first.question_text, "answer": first.object, "gold": first.passage},
                {"question": f'"#1", {second.predicate}: what?', "answer": second.object, "gold": second.passage},
            )
            yield Draft(question, second.object, (first.passage, second.passage), "path-following", steps=steps)


def _comparisons(facts: dict[tuple[str, str], list[_Fact]]) -> Iterator[Draft]:
    """Yield questions whether two subjects have the same object for a predicate."""
    by_predicate: dict[str, list[_Fact]] = defaultdict(list)
    for (_, predicate), same in facts.items():
        by_predicate[predicate].append(same[0])
    for group in by_predicate.values():
        by_object: dict[str, list[_Fact]] = defaultdict(list)
        for fact in group:
            by_object[fact.object_id].append(fact)
        equal = [(a, b) for same in by_object.values() for a, b in itertools.pairwise(same)]
        apart = list(itertools.pairwise(group))[: max(1, len(equal))]
        for one, other in [*equal, *apart]:
            if one.document != other.document and one.subject_id != other.subject_id:
                answer = "yes" if one.object_id == other.object_id else "no"
                question = f'Is it the same for both: "{one.subject}", {one.predicate}: what? and {other.question_text}'
                yield Draft(question, answer, (one.passage, other.passage), "comparison", formulation="yes-no")


def _aspects(facts: dict[tuple[str, str], list[_Fact]]) -> Iterator[Draft]:
    """Yield questions on two facts about the same subject in different documents."""
    by_subject: dict[str, list[_Fact]] = defaultdict(list)
    for same in facts.values():
        by_subject[same[0].subject_id].append(same[0])
    for group in by_subject.values():
        for one, other in itertools.pairwise(group):
            if one.document != other.document and one.object_id != other.object_id:
                question = f'"{one.subject}", {one.predicate}: what? And {other.predicate}: what?'
                answer = f"{one.object}; {other.object}"
                yield Draft(question, answer, (one.passage, other.passage), "multi-aspect")


def _cells(reader: Reader, sources: Sources, lot: random.Random) -> Iterator[Draft]:
    """Yield one question per table, on a cell identified by the first cell of its row and the header of its column."""
    rows = reader.rows("evaluate/question_tables", collection=reader.collection.name, limit=_TABLES)
    for row in sorted(rows, key=lambda row: (row["document"], row["number"])):
        head, *body = [_split(line) for line in row["markdown"].splitlines() if not set(line) <= set("|-: ")] or [[]]
        names = [cells[0] for cells in body if cells]
        passages = sources.passages(sources.documents[row["document"]]) if len(head) > 1 else {}
        for cells in body:
            if len(cells) != len(head) or not cells[0] or names.count(cells[0]) > 1:
                continue
            columns = [i for i in range(1, len(head)) if head[i] and 0 < len(cells[i]) <= _CELL]
            gold = [
                p.id for p in passages.values() if all(cell in p.text.replace("\\|", "|") for cell in cells if cell)
            ]
            if columns and len(gold) == 1:
                column = lot.choice(columns)
                where = f"{row['title']}, {row['table']}"
                question = f'By the table "{where}": {head[0]} "{cells[0]}", what is its {head[column]}?'
                yield Draft(question, cells[column], (gold[0],), "factoid")


def _split(line: str) -> list[str]:
    cells = line.strip().strip("|").replace("\\|", "\0").split("|")
    return [cell.replace("\0", "|").strip() for cell in cells]


def _gaps(reader: Reader, sources: Sources, lot: random.Random) -> Iterator[Draft]:
    """Yield sentences with a gap in place of a name; first one from each passage, then others.

    These are cloze tests: Taylor, 1953.
    """
    language = reader.collection.language
    order = list(sources.ids)
    lot.shuffle(order)
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        passages = sources.passages(block)
        by_passage = []
        for id in block:
            gaps = _gaps_of(passages[id], language, lot)
            lot.shuffle(gaps)
            by_passage.append(gaps)
        for round_ in zip_longest(*by_passage):
            for gap in filter(None, round_):
                question = f'Which name fills the gap in what is said of {gap.about}? "{gap.shown}"'
                supports = ((gap.passage, gap.sentence),)
                yield Draft(question, gap.name, (gap.passage,), "factoid", supports=supports)


def _gap_chains(reader: Reader, sources: Sources, lot: random.Random) -> Iterator[Draft]:
    """Yield questions on two sentences with gaps; the first gap, called X, is the title of the second's document."""
    language = reader.collection.language
    for _ in range(len(sources.ids)):
        material = sources.draw(lot, 2, by_title=True)
        if not material.by_title:
            return
        first, second = material.passages
        name = search_form(material.bridge, language)
        if name != search_form(second.title, language):
            continue  # "Antarctic" may not mean the Antarctic (ship)
        ties = [gap for gap in _gaps_of(first, language, lot, name) if name in search_form(gap.name, language)]
        ends = [
            gap for gap in _gaps_of(second, language, lot)
            if gap.name not in first.text and name not in search_form(gap.shown, language)
        ]  # fmt: skip
        if ties and ends:
            tie, end = lot.choice(ties), lot.choice(ends)
            begin = f'X fills the gap in what is said of {tie.about}: "{tie.shown}"'
            question = f'{begin} Which name fills the gap in what is said of X: "{end.shown}"'
            supports = ((first.id, tie.sentence), (second.id, end.sentence))
            yield Draft(question, end.name, (first.id, second.id), "path-following", supports=supports)


@dataclass(frozen=True, slots=True)
class _Gap:
    """A sentence of a passage, its subject, the sentence with a gap, and the name that fills the gap."""

    passage: str
    about: str
    sentence: str
    shown: str
    name: str


def _gaps_of(passage: Passage, language: Language, lot: random.Random, preferred: str = "") -> list[_Gap]:
    """Return a gap for each sentence that has room for one; `preferred`: a normalised name to remove if possible."""
    if not passage.title:
        return []
    about = f"{passage.title}: {passage.section}" if passage.section else passage.title
    title = f" {search_form(about, language)} "
    gaps = []
    for paragraph in passage.text.split("\n\n"):
        for text in (" ".join(sentence.split()) for sentence in sentences(paragraph, language.code)):
            ends = text.rstrip("\"'”’»)").endswith(_ENDS)  # false for code and table cells
            if not _SHORTEST <= len(text) <= _LONGEST or not _MARKS.isdisjoint(text) or not ends:
                continue
            words = tokens(text, language)
            phrases = [p for p in capitalised_phrases(words, language) if p.kind != "none"]
            names = sorted({p.name: words.written(p.first, p.last, p.name) for p in phrases}.items())
            usable = [
                (normal, raw) for normal, raw in names
                if f" {normal} " not in title and _is_answer(raw, text)
            ]  # fmt: skip
            if len(names) < 2 or not usable:
                continue
            name = next((raw for normal, raw in usable if preferred and preferred in normal), lot.choice(usable)[1])
            gaps.append(_Gap(passage.id, about, text, text.replace(name, GAP), name))
    return gaps


def _is_answer(name: str, sentence: str) -> bool:
    """Return whether a question can ask for a name.

    The name must be whole, occur once in the sentence, not begin it, and not be a placeholder (FILE).
    """
    if name.isupper() or any(map(str.isdigit, name)) or sentence.count(name) > 1 or sentence.startswith(name):
        return False
    return re.search(rf"(?<![\w:-]){re.escape(name)}(?![\w-])", sentence) is not None

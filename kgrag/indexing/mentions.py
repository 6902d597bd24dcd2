"""Mentions: the entities that each passage names. The graph is the gazetteer.

Names come from titles and from capitalised phrases. A single word is a name only while the corpus capitalises it more
often than not. A passage mentions the ends of its triples, but other texts are not searched for these: the longest
name wins in a text, and "mayor of bergen" would hide "bergen". Source: the PathRank recipe, index, 3
to 5; names of triples apart: our own experiment.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Self

from kgrag.graph.connection import Transaction
from kgrag.indexing.named_entities import named_entities
from kgrag.indexing.stage import Row, StageContext, phrase
from kgrag.text.aliases import title_aliases
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import (
    LONGEST_CAPTION,
    LONGEST_RUN,
    SIGNED_LETTER,
    Phrase,
    find_names,
    is_listed,
    owned_names,
    whole_names,
)
from kgrag.text.tokenised import TokenisedPassage, tokenised
from kgrag.text.tokens import Words, name_stems, normalise, stems, tokens
from kgrag.values.identity import entity_id, word_id

_BATCH = 500  # passages a transaction: the server writes one batch while the next is computed
FEW = 20
"""If fewer than one passage in this many is pending, their candidate names are looked up one by one."""


_entity_id = lru_cache(maxsize=1 << 16)(entity_id)  # many passages mention the same names


class Gazetteer:
    """The names that texts of a collection are searched for."""

    def __init__(
        self,
        collection: str,
        names: Container[str],
        titles: Container[str] = (),
        pipeline: str | None = None,
        language: Language = ENGLISH,
    ) -> None:
        """Make the gazetteer.

        `names`: normal forms; `titles`: those of titles and headings; `pipeline`: of spaCy, which finds more names.
        """
        self.known = names
        self.titles = titles
        self.pipeline = pipeline
        self.language = language
        self._collection = collection

    @classmethod
    def of_graph(cls, work: StageContext) -> Self:
        """Read the current gazetteer of the graph."""
        rows = work.graph.stream("stages/gazetteer", collection=work.name)
        names = _searchable(work, rows)
        return cls(work.name, *names, work.collection.indexing.pipeline, work.collection.language)

    @classmethod
    def of_texts(cls, work: StageContext, sources: Iterable[Row]) -> Self:
        """Return the part of the graph's gazetteer that these passages may mention.

        `sources`: rows of `cypher/stages/mention_sources.cypher`.
        """
        tried = _Tried()
        recorder = cls(work.name, tried, (), work.collection.indexing.pipeline, work.collection.language)
        for source in sources:
            mentions(source, tokenised(source, work.collection.language), recorder)
        ids = [entity_id(work.name, name) for name in sorted(tried.names)]
        rows = work.graph.run("stages/gazetteer_of", ids=ids)
        return cls(work.name, *_searchable(work, rows), recorder.pipeline, recorder.language)

    def entity(self, name: str) -> str:
        """Return the id that an entity of this normalised name has or would have."""
        return _entity_id(self._collection, name)


class _Tried(Container[str]):
    """An empty gazetteer that records the names it is asked for. A filled one would be asked for fewer."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return False


def _searchable(work: StageContext, rows: Iterable[Mapping[str, Any]]) -> tuple[set[str], set[str]]:
    """Return the searchable names of rows of `cypher/stages/gazetteer.cypher`, and those of titles."""
    names: set[str] = set()
    titles: set[str] = set()
    single: list[str] = []
    for record in rows:
        if record["title"]:
            titles.add(record["name"])
        if is_sure_name(record["name"], record["title"], work.collection.language):
            names.add(record["name"])
        else:
            single.append(record["name"])
    names.update(_proper(work, single))
    return names, titles


def is_sure_name(normal: str, is_title: bool, language: Language) -> bool:
    """Return whether texts are searched for a name however the corpus spells it: several words, or signs as in "C++".

    Titles are sure, too, in languages whose capitals do not tell names from other words ("Seeadler", "上海").
    """
    sure = " " in normal or SIGNED_LETTER.fullmatch(normal) is not None
    return sure or (is_title and language.capitals != "names")


def word_stems(names: Sequence[str], language: Language) -> list[str]:
    """Return the stems of single-word names in normal form."""
    plain = [name.isascii() and name.isalnum() for name in names]
    words = [n if ok else "".join(w.norm for w in tokens(n, language)) for n, ok in zip(names, plain, strict=True)]
    return words if language.inflects else stems(words, language)


def _proper(work: StageContext, single: Sequence[str]) -> Iterator[str]:
    """Yield the single-word names that the corpus capitalises more often than not."""
    for start in range(0, len(single), 10_000):
        part = single[start : start + 10_000]
        words = [word_id(work.name, stem) for stem in word_stems(part, work.collection.language)]
        proper = set(work.graph.run("stages/proper_words", ids=sorted(set(words)))[0]["ids"])
        yield from (name for name, word in zip(part, words, strict=True) if word in proper)


def id64(id: str) -> int:
    """Return the first 64 bits of a node's id."""
    return int(id[:16], 16)


def spread_names(work: StageContext) -> None:
    """Mark the passages that hold a new name. Texts are not searched for common words, unless they are titles."""

    in_stems = partial(name_stems, language=work.collection.language)

    def phrases(ids: list[str]) -> list[Row]:
        names, titles = _searchable(work, work.graph.run("stages/entity_names", ids=ids))
        return [phrase(stems, LONGEST_CAPTION - len(stems)) for stems in map(in_stems, sorted(names | titles))]

    work.spread("Entity", "spread", phrases, "mentions")


def link_mentions(work: StageContext) -> None:
    """Write the mentions of the pending passages, and count the passages of each entity."""
    due = work.due("Passage", "mentions")
    if not due:
        return
    whole = None if len(due) * FEW < work.passages else Gazetteer.of_graph(work)

    def read(ids: list[str]) -> tuple[list[Row], Gazetteer | None]:
        rows = work.rows("stages/mention_sources", ids)
        return rows, Gazetteer.of_texts(work, rows) if whole is None else None

    for ids, (by_passage, phrases) in work.computed(due, _BATCH, "mentions", read, partial(_mentions, whole)):
        tried = {row["entity"]: name for by_name in phrases.values() for name, row in by_name.items()}
        single = {name for name in tried.values() if not is_sure_name(name, False, work.collection.language)}
        common = single.difference(_proper(work, sorted(single)))
        rare = sorted(entity for entity, name in tried.items() if name not in common)
        add_rare(by_passage, phrases, set(work.graph.run("stages/rare_names", ids=rare)[0]["ids"]))
        rows = [{"id": passage, "mentions": list(by_name.values())} for passage, by_name in by_passage.items()]

        def write(tx: Transaction, rows: list[Row] = rows) -> None:
            touched = {mention["entity"] for row in rows for mention in row["mentions"]}
            touched.update(tx.run("write/mentions", rows=rows)[0]["before"])
            tx.run("write/count_names", ids=sorted(touched))

        work.commit("Passage", "mentions", ids, write)


def count_names(work: StageContext) -> None:
    """Recount and rename entities whose titles, facts or mentions changed, if `link_mentions` did not reach them."""
    for ids in work.batches(work.due("Entity", "titles"), _BATCH, "titles"):

        def count(tx: Transaction, ids: list[str] = ids) -> None:
            tx.run("write/count_names", ids=ids)

        work.commit("Entity", "titles", ids, count)


def _mentions(
    whole: Gazetteer | None, batch: tuple[list[str], tuple[list[Row], Gazetteer | None]]
) -> tuple[dict[str, dict[str, Row]], dict[str, dict[str, Row]]]:
    """Return the mentions and the other phrases of the passages of a batch: passage -> result of `mentions`.

    If `whole` is None, the batch brings a gazetteer of its own.
    """
    rows: dict[str, dict[str, Row]] = {}
    phrases: dict[str, dict[str, Row]] = {}
    sources, own = batch[1]
    gazetteer = own or whole
    assert gazetteer is not None
    for source in sources:
        words = tokenised(source, gazetteer.language)
        rows[source["id"]], phrases[source["id"]] = mentions(source, words, gazetteer)
    return rows, phrases


@dataclass(frozen=True, slots=True)
class Facts:
    """The subjects and objects of the triples of one passage, and the names of the passage itself.

    Each is in normal form between spaces, so that only whole words match.
    """

    ends: tuple[str, ...]
    own: tuple[str, ...]

    @classmethod
    def of(cls, source: Mapping[str, Any], language: Language = ENGLISH) -> Self:
        """Make the facts; `source`: a row of `cypher/stages/mention_sources.cypher`."""
        ends = source["stated"]
        own = title_aliases(source["title"], source["text"][:200], language) if ends else ()
        return cls(tuple(f" {name} " for name in ends), tuple(f" {alias.normal} " for alias in own))

    def about(self, name: str) -> bool:
        """Return whether the name stands in a subject or object."""
        return any(f" {name} " in end for end in self.ends)

    def stated(self, name: str) -> bool:
        """Return whether a triple states a name in its own right, and not only as a part of the passage's own name.

        "Johnnycake, West Virginia lies in Mcdowell County" states "Mcdowell County" but not "West Virginia".
        """
        name = f" {name} "
        around = [own for own in self.own if name in own]
        return any(name in end and not any(own in end or end in own for own in around) for end in self.ends)


def mentions(
    source: Mapping[str, Any], passage: TokenisedPassage, gazetteer: Gazetteer
) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the mentions of one passage by entity, and its other phrases by name, which are mentions if they are rare.

    Mentions come from its text, its title, spaCy and its triples. A part of a longer name is not a mention.

    Args:
        source: A row of `cypher/stages/mention_sources.cypher`.
        passage: The words of this passage.
        gazetteer: The known names.

    Returns:
        Two maps of rows of `write/mentions`. Positions are word numbers from 0 in the title followed by the text, as in
        the passage's stems.
    """
    rows: dict[str, Row] = {}
    language = gazetteer.language
    own = set(source["own"])
    names, facts = gazetteer.known, Facts.of(source, language)

    def is_other(name: str) -> bool:
        return name in names and gazetteer.entity(name) not in own

    def row(name: str, via: str, text: str | None = None, positions: list[int] | None = None) -> Row:
        # missing rather than false: nearly all mentions are neither
        flags = {"stated": facts.stated(name) or None, "about": facts.about(name) or None}
        return {"entity": gazetteer.entity(name), "via": via, "positions": positions, "text": text, **flags}

    def places(via: str, phrases: Iterable[Phrase], words: Words, offset: int) -> dict[str, Row]:
        by_name: defaultdict[str, list[Phrase]] = defaultdict(list)
        for match in phrases:
            by_name[match.name].append(match)
        result: dict[str, Row] = {}
        for name, of_name in by_name.items():
            known_by_title = language.inflects and name in gazetteer.titles  # which has no ending of a case
            texts = Counter(words.written(p.first, p.last, name) for p in of_name if not known_by_title)
            own_texts = [text for text, _ in texts.most_common() if normalise(text, language) == name]
            positions = [offset + match.first for match in of_name]
            result[name] = row(name, via, own_texts[0] if own_texts else None, positions)
        return result

    in_title = find_names(passage.title, is_other, {normalise(source["title"], language)}, language)
    in_title = list(whole_names(passage.title, in_title, passage.title_phrases, gazetteer.titles, names, language))
    in_text = find_names(passage.text, names.__contains__, language=language)
    in_text = list(whole_names(passage.text, in_text, passage.phrases, gazetteer.titles, names, language))
    offset = len(passage.title)
    titled, local = places("title", in_title, passage.title, 0), places("local", in_text, passage.text, offset)
    for mention in (*titled.values(), *local.values()):
        before = rows.setdefault(mention["entity"], mention)
        if before is not mention:
            before["positions"] += mention["positions"]
            before["text"] = mention["text"] or before["text"]
    for name, text in named_entities(source["text"], gazetteer.pipeline, language).items():
        rows.setdefault(gazetteer.entity(name), row(name, "spacy", text))
    within = {i for name in in_text for i in range(name.first, name.last + 1) if name.last > name.first}
    ends = {name.last for name in in_text if name.last > name.first}
    other = (
        run
        for run in passage.phrases
        if run.kind in ("name", "title") and run.name not in names and run.last - run.first < LONGEST_RUN
        and run.last not in ends and not (run.first in within and run.last in within)
        and not is_listed(passage.text, run, language) and not owned_names(passage.text, run, names)
    )  # fmt: skip
    left = places("phrase", other, passage.text, offset)
    phrases = {name: mention for name, mention in left.items() if mention["entity"] not in rows}
    for name in source["stated"]:
        rows.setdefault(gazetteer.entity(name), row(name, "triple"))
    return rows, phrases


def add_rare(
    mentions: dict[str, dict[str, Row]], phrases: Mapping[str, Mapping[str, Row]], rare: Container[str]
) -> None:
    """Add the mentions of `rare` names, which one passage alone holds. `phrases`: passage -> name -> mention."""
    for passage, by_name in phrases.items():
        mentions[passage] |= {row["entity"]: row for row in by_name.values() if row["entity"] in rare}

"""Link the names in a question to entities of the graph.

Source: the PathRank recipe, query, step 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz import fuzz

from kgrag.graph.reader import escape
from kgrag.retrieval.context import SearchContext
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import is_number, without_possessive
from kgrag.text.names import LONGEST_CAPTION, QUESTION_WORDS
from kgrag.text.tokens import Token, is_content, is_unspaced, join_name, name_words, stems, symbols, text_words, tokens
from kgrag.values.identity import entity_id, word_id

_INFLECTED = 0.7
_LOWER_CASE = 0.5
_MISSPELT = 0.8
_ALIKE = 88.0  # per cent
_SHORTEST_MISSPELT = 8  # letters
MOST_WORDS = 300
"""Words of a question that are considered."""

_NO_INNER_WORDS = frozenset(("or", "is", "are", "was", "did"))


@dataclass(frozen=True, slots=True)
class Link:
    """A link from the words start to end (exclusive) of the question to an entity, with a weight of 0 to 1.

    `titles`: the number of titles with this name. `bearers`: the number of documents and passages with such a title, or
    0 if the name differs from the words of the question.
    """

    start: int
    end: int
    entity: str
    name: str
    weight: float
    titles: int
    bearers: int = 0


@dataclass(frozen=True, slots=True)
class LinkedQuestion:
    """The words of a question with their stems and weights (idf, or 0), its links, and the size of the corpus.

    `density`: the share of passages that mention at least two entities that can serve as bridges. `density0`: the same
    without mentions known only from triples. `symbols`: words with signs such as `$@`, in the form that is counted.
    `tied`: whether SAME_AS edges between names of one entity exist and are followed.
    """

    words: tuple[Token, ...]
    stems: tuple[str, ...]
    idf: Mapping[str, float]
    links: tuple[Link, ...]
    passages: int
    density: float
    density0: float
    symbols: tuple[str, ...] = ()
    tied: bool = False
    language: Language = ENGLISH

    def terms(self, without: frozenset[int] = frozenset()) -> list[dict[str, Any]]:
        """Return the stems of the question without some words, and its symbols: {stem (between spaces), weight}.

        The weights sum to 1.
        """
        counted = [*(s for i, s in enumerate(self.stems) if i not in without), *self.symbols]
        weights = {s: self.idf[s] for s in counted if s in self.idf}
        total = sum(weights.values())
        return [{"stem": f" {stem} ", "weight": weight / total} for stem, weight in weights.items()] if total else []

    def text(self, without: frozenset[int] = frozenset()) -> str:
        """Return the question without some of its words."""
        return join_name(word.raw for i, word in enumerate(self.words) if i not in without)


def link_question(context: SearchContext, text: str, same_as: bool = True) -> LinkedQuestion:
    """Link the entities that a question names: longest first, from left to right, then misspelt titles.

    With `same_as`, the same words also link to the other names of the entity.
    """
    reader = context.reader
    collection, language = reader.collection.name, reader.collection.language
    words = tokens(text, language)[:MOST_WORDS]
    stemmed = stems(text_words(words), language)
    named = name_words(words, language)
    signs = symbols(text, language.code)[:MOST_WORDS]
    spans = [(i, i + n) for i in range(len(words)) for n in range(1, min(LONGEST_CAPTION, len(words) - i) + 1)]
    normal = {span: join_name(named[slice(*span)]) for span in spans}
    inflected = {span: " ".join(stemmed[slice(*span)]) for span in spans}
    names = {*normal.values(), *map(without_possessive, normal.values())}
    row = reader.question(
        names=sorted(entity_id(collection, name) for name in names),
        stemmed=sorted({name for name in inflected.values() if len(name) > 3}),
        words=[word_id(collection, s) for s in {*stemmed, *signs}],
    )
    passages, idf = row["passages"] or 0, _idf(row)
    same_as = same_as and row["tied"]
    uncased = not any(w.raw[0].isupper() for w in words[1:])
    if uncased:  # the user typed no capitals
        proper = {w["stem"] for w in row["words"] if w["proper"]}
        words = [w._replace(raw=w.raw.capitalize()) if s in proper else w for w, s in zip(words, stemmed, strict=True)]
    exact = {e["normal"]: e for e in row["entities"]}
    titles = {e["stemmed"]: e for e in sorted(row["inflected"], key=lambda e: str(e["id"]), reverse=True)}
    links: list[Link] = []
    i = 0
    while i < len(words):
        length = 0
        for n in range(min(LONGEST_CAPTION, len(words) - i), 0, -1):
            span = (i, i + n)
            named_so = exact.get(normal[span]) or exact.get(without_possessive(normal[span]))
            link = _link(words, span, named_so, titles.get(inflected[span]), language, uncased)
            if link is not None:
                links.append(link)
                links += [] if link.titles else _titled_within(words, span, exact, normal, language, uncased)
                links += _other_names(link, (*row["entities"], *row["inflected"])) if same_as else ()
                length = n
                break
        i += length or 1
    links = _misspelt(context, words, links, language)
    densities = (row["density"] or 0.0, row["density0"] or 0.0)
    return LinkedQuestion(
        tuple(words), tuple(stemmed), idf, tuple(links), passages, *densities, tuple(signs), same_as, language
    )


def question_terms(context: SearchContext, text: str) -> list[dict[str, Any]]:
    """Return the stems of a question's words as {stem (between spaces), weight}. The weights are idf and sum to 1."""
    reader = context.reader
    collection, language = reader.collection.name, reader.collection.language
    words = tokens(text, language)[:MOST_WORDS]
    stemmed = stems(text_words(words), language)
    signs = symbols(text, language.code)[:MOST_WORDS]
    row = reader.question(names=[], stemmed=[], words=[word_id(collection, s) for s in {*stemmed, *signs}])
    return LinkedQuestion(tuple(words), tuple(stemmed), _idf(row), (), 0, 0.0, 0.0, tuple(signs)).terms()


def _idf(row: Mapping[str, Any]) -> dict[str, float]:
    passages = row["passages"] or 0
    return {
        w["stem"]: math.log(1 + (passages - w["df"] + 0.5) / (w["df"] + 0.5))
        for w in row["words"]
        if 0 < w["df"] <= passages
    }


def _link(
    words: Sequence[Token],
    span: tuple[int, int],
    entity: Mapping[str, Any] | None,
    inflected: Mapping[str, Any] | None,
    language: Language,
    uncased: bool,
) -> Link | None:
    """Return the link of one word sequence, if it may be a name.

    Without a capital it must be a title of two content words or more, which gets half the weight. In an `uncased`
    question, typed without capitals, any title gets its full weight.
    """
    weight = 1.0
    if (entity is None or not entity["ntit"]) and inflected is not None:
        entity, weight = inflected, _INFLECTED
    if entity is None:
        return None
    segment = words[slice(*span)]
    content = [w for w in segment if w.norm not in language.stop_words]
    if not content and not (entity["ntit"] and span[0] and not uncased and all(w.raw[0].isupper() for w in segment)):
        return None  # "Who wrote It?" asks for a title, "Who wrote it?" does not
    if len(segment) == 1:
        word = segment[0]
        if len(word.norm) == 1 and is_unspaced(word.norm):
            return None
        if is_number(word.norm) or (span[0] == 0 and word.norm in QUESTION_WORDS):
            return None
        if not word.is_capital and not (uncased and entity["ntit"] and word.norm not in QUESTION_WORDS):
            return None
    elif not any(w.is_capital for w in content):
        if not entity["ntit"] or (len(content) < 2 and not uncased):
            return None
        weight *= 1.0 if uncased else _LOWER_CASE
    elif span[0] == 0 and segment[0].norm in language.stop_words and not entity["ntit"]:
        return None
    return Link(*span, entity["id"], entity["name"], weight, entity["ntit"], entity["bearers"])


def _titled_within(
    words: Sequence[Token],
    span: tuple[int, int],
    exact: Mapping[str, Mapping[str, Any]],
    normal: Mapping[tuple[int, int], str],
    language: Language,
    uncased: bool,
) -> list[Link]:
    """Return the link of the longest title of several words within a longer name, as in "King George VI"."""
    start, end = span
    for length in range(end - start - 1, 1, -1):
        for inner in ((i, i + length) for i in range(start, end - length + 1)):
            entity = exact.get(normal[inner])
            if entity is not None and entity["ntit"]:
                link = _link(words, inner, entity, None, language, uncased)
                if link is not None:
                    return [link]
    return []


def _other_names(link: Link, entities: Sequence[Mapping[str, Any]]) -> list[Link]:
    """Return links to the entities that a SAME_AS edge joins to the linked one, weighted by their certainty.

    If the linked name is a title, the others must be titles, too.
    """
    others = next((e["same"] for e in entities if e["id"] == link.entity), ())
    return [
        replace(link, entity=o["id"], name=o["name"], weight=link.weight * o["score"], titles=o["ntit"], bearers=0)
        for o in others
        if o["ntit"] or not link.titles
    ]


def _misspelt(context: SearchContext, words: Sequence[Token], links: list[Link], language: Language) -> list[Link]:
    """Return links from capitalised words without a title to the nearest title, if it is near enough."""
    if language.capitals == "none":
        return links
    named = name_words(words, language)
    covered = {i for link in links if link.titles for i in range(link.start, link.end)}
    runs: list[tuple[int, int, str]] = []
    start = 0
    while start < len(words):
        if not words[start].is_capital or (start == 0 and words[0].norm in QUESTION_WORDS | language.stop_words):
            start += 1
            continue
        end = _run(words, start, language)
        name = join_name(named[start:end])
        open_words = [i for i in range(start, end) if i not in covered and words[i].norm not in language.stop_words]
        if end - start > 1 and len(name) >= _SHORTEST_MISSPELT and open_words:
            runs.append((start, end, name))
        start = end
    for (start, end, name), titles in zip(runs, _similar_titles(context, [name for *_, name in runs]), strict=True):
        scored = [(fuzz.ratio(name, e["normal"]), e) for e in titles if " " in e["normal"]]
        best, entity = max(scored, key=lambda s: (s[0], s[1]["id"]), default=(0.0, None))
        if entity is not None and best >= _ALIKE and len(entity["normal"]) >= _SHORTEST_MISSPELT:
            links = [link for link in links if link.end <= start or link.start >= end]
            weight = _MISSPELT * best / 100
            links.append(Link(start, end, entity["id"], entity["name"], weight, entity["ntit"]))
    return sorted(links, key=lambda link: link.start)


def _similar_titles(context: SearchContext, names: Sequence[str], limit: int = 20) -> list[list[Mapping[str, Any]]]:
    """Return the entities with similar titles for each normalised name: at most one letter differs in each word."""
    if not names:
        return []
    index = context.reader.collection.index("entity_name")
    queries = [" ".join(f"{word}~1" for word in escape(name).split()) for name in names]
    rows: list[list[Mapping[str, Any]]] = context.row(
        "retrieve/similar_titles", index=index, queries=queries, limit=limit
    )["rows"]
    return rows


def _run(words: Sequence[Token], start: int, language: Language) -> int:
    """Return the end of a run of capitalised words; small words may stand inside."""
    end = start + 1
    while end < len(words):
        if words[end].is_capital:
            end += 1
        elif (
            words[end].norm in language.stop_words
            and words[end].norm not in _NO_INNER_WORDS
            and end + 1 < len(words)
            and words[end + 1].is_capital
        ):
            end += 2
        else:
            break
    return end


def prefixes(words: Sequence[Token], language: Language = ENGLISH) -> list[str]:
    """Return the first five letters of the longer words of a question, without its opening words.

    In scripts without spaces, return every two letters.
    """
    norms = (w for w in text_words(words) if is_content(w, language) and w not in QUESTION_WORDS)
    return sorted({norm[:5] for norm in norms if len(norm) > 3 or is_unspaced(norm)})

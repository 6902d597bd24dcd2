"""Keywords of a passage: its top TF-IDF terms (KGP, section 3).

The idf counts in powers of two: floor(log2(df)). So a passage's keywords follow from its text and a few small numbers,
and adding documents changes them only where a word's df, or the number of passages, passes a power of two.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from kgrag.graph.connection import Transaction
from kgrag.indexing.stage import Row, StageContext
from kgrag.text.identity import is_number
from kgrag.text.languages import Language
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import is_content
from kgrag.values.identity import keyword_id, word_id

_BATCH = 1000  # passages a transaction: the server writes one batch while the next is computed


@dataclass(frozen=True, slots=True)
class Terms:
    """The content words of a passage: stem -> how often, and stem -> its shortest form as written (lower case)."""

    counts: Mapping[str, int]
    surfaces: Mapping[str, str]


def terms(passage: TokenisedPassage) -> Terms:
    """Return the content words of a passage's title and text; numbers are none."""
    language = passage.language
    surfaces: dict[str, str] = {}
    counts: dict[str, int] = {}
    stem_of = dict(zip(passage.words, passage.word_stems, strict=True))
    for word, n in Counter(passage.words).items():
        if not is_content(word, language) or is_number(word):
            continue
        stem = stem_of[word]
        counts[stem] = counts.get(stem, 0) + n
        known = surfaces.get(stem)
        if known is None or (len(word), word) < (len(known), known):
            surfaces[stem] = word
    return Terms(counts, surfaces)


def _terms(language: Language, batch: tuple[list[str], list[Row]]) -> dict[str, Terms]:
    """The content words of the passages of a batch."""
    return {row["id"]: terms(TokenisedPassage(row["title"], row["text"], language=language)) for row in batch[1]}


def top_terms(found: Terms, df_classes: Mapping[str, int], corpus_class: int, n: int) -> list[tuple[str, float]]:
    """The n stems of highest TF-IDF that at least two passages share, with their weights; ties by stem.

    `df_classes` and `corpus_class` are floor(log2(df)) by stem and floor(log2(number of passages)).
    """
    weighed = []
    for stem, count in found.counts.items():
        df = df_classes.get(stem, 0)
        if df > 0:
            weighed.append((-_weight(count, max(0, corpus_class - df)), stem))
    weighed.sort()
    return [(stem, -weight) for weight, stem in weighed[:n]]


@lru_cache(maxsize=1 << 14)
def _weight(count: int, rarity: int) -> float:
    """TF-IDF, from how often a word stands in a passage, and how many times rarer than the passages it is (log2)."""
    return round((1 + math.log(count)) * (1 + math.log(2) * rarity), 4)


def spread_words(work: StageContext) -> int:
    """Mark the passages whose keywords may change; returns floor(log2(number of passages))."""
    passages = work.passages
    corpus_class = int(math.log2(passages)) if passages else 0
    if work.graph.run("stages/corpus_class", collection=work.name)[0]["class"] != corpus_class:
        work.graph.run("stages/due_all_passages", collection=work.name, stage="keywords")

    work.spread("Word", "spread", work.word_phrases, "keywords")
    work.graph.run("write/corpus_class", collection=work.name, **{"class": corpus_class})
    return corpus_class


def link_keywords(work: StageContext, corpus_class: int) -> None:
    """Write the keywords of the passages that are marked, and count the passages of each keyword."""
    due = work.due("Passage", "keywords")
    read, compute = partial(work.rows, "look_up/texts"), partial(_terms, work.collection.language)
    for ids, found in work.computed(due, _BATCH, "keywords", read, compute):
        words = sorted({stem for its in found.values() for stem in its.counts})
        ids_of_words = [word_id(work.name, stem) for stem in words]
        frequencies = work.graph.run("stages/word_frequencies", ids=ids_of_words)[0]["classes"]
        classes: dict[str, int] = dict(zip(words, frequencies, strict=True))
        names: dict[str, str] = {}
        best: dict[str, list[tuple[str, float]]] = {}
        for passage, its in found.items():
            best[passage] = top_terms(its, classes, corpus_class, work.collection.indexing.keywords)
            names |= {stem: its.surfaces[stem] for stem, _ in best[passage] if stem not in names}
        key = {stem: keyword_id(work.name, stem) for stem in names}
        keywords = [{"id": key[stem], "stem": stem, "name": name} for stem, name in sorted(names.items())]
        rows = [{"id": p, "keywords": [{"id": key[s], "weight": w} for s, w in terms]} for p, terms in best.items()]
        parameters = {"collection": work.name, "keywords": keywords, "rows": rows}

        def write(tx: Transaction, parameters: dict[str, Any] = parameters) -> None:
            touched = {row["id"] for row in parameters["keywords"]}
            touched.update(tx.run("write/keywords", **parameters)[0]["before"])
            tx.run("write/settle_keywords", ids=sorted(touched))

        work.commit("Passage", "keywords", ids, write)

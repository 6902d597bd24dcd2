"""TF-IDF: cosine of the weights of words between question and passage.

Unlike BM25, it normalises by the length of the passage vector, so a short passage that is mostly the question's words
beats a long one that has them among many others. The weight of a frequent word does not saturate.
Weights are (1 + ln tf) * (1 + ln((1 + N) / (1 + df))), with the counts of words kept in the graph.
Source: KGP, section 5.1.2; Salton and Buckley (1988).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.linking import MOST_WORDS
from kgrag.runtime.options import Count, Options
from kgrag.text.tokens import is_content, stems, words_of
from kgrag.values.identity import word_id
from kgrag.values.results import Step


class TfIdfOptions(Options):
    """Options of TF-IDF."""

    candidates: Count = Field(100, description="passages of the full-text index that are ranked by cosine")


class TfIdf(Retriever):
    """The full-text index's best passages, ranked by the cosine of their TF-IDF vectors to the question's.

    Source: KGP, section 5.1.2; Salton and Buckley (1988).

    Example:
        >>> ranking = TfIdf(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "tfidf"
    summary = "words shared with the question, by cosine of TF-IDF, among bm25's best"
    paper = "KGP, section 4 (TF-IDF)"
    uses = ("words",)
    options = TfIdfOptions
    scale = "cosine"
    settings: TfIdfOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are cosines, 0 to 1. A question of stop words only finds nothing."""
        candidates = max(n, self.settings.candidates)
        ids = [id for id, _ in self.context.reader.fulltext(query.text, candidates, query.filter)]
        (matches,) = cosines(self.context, [query.text], ids)
        best = sorted(matches.items(), key=lambda x: (-x[1].cosine, x[0]))[:n]
        return [
            Scored(
                id, match.cosine, (Step(f"tfidf rank {rank}, {' '.join(match.words)}", "Passage", "", match.cosine),)
            )
            for rank, (id, match) in enumerate(best, 1)
        ]


@dataclass(frozen=True, slots=True)
class Alike:
    """The similarity of a text and a passage: the cosine of their TF-IDF vectors, and up to three main stems."""

    cosine: float
    words: tuple[str, ...]


def cosines(context: SearchContext, texts: Sequence[str], ids: Sequence[str]) -> list[dict[str, Alike]]:
    """Return for each text the passages among `ids` that share words with it; takes two round trips in all."""
    language = context.reader.collection.language
    words = ((word for word in words_of(text, language)[:MOST_WORDS] if is_content(word, language)) for text in texts)
    questions = [Counter(stems(entry, language)) for entry in words]
    rows = context.row("retrieve/passage_word_stems", ids=list(ids))["rows"] if ids else []
    counts = {id: Counter(entry.split()) for id, entry in rows}
    idf = _idf(context, set().union(*questions, *counts.values()))
    passages = {id: _weights(entry, idf) for id, entry in counts.items()}
    lengths = {id: math.hypot(*weights.values()) for id, weights in passages.items()}
    return [
        {id: alike for id in passages if (alike := _alike(question, passages[id], lengths[id])) is not None}
        for question in (_weights(entry, idf) for entry in questions)
    ]


def _alike(question: Mapping[str, float], passage: Mapping[str, float], length: float) -> Alike | None:
    shared = {stem: weight * passage[stem] for stem, weight in question.items() if stem in passage}
    both = math.hypot(*question.values()) * length
    if not shared or not both:
        return None
    best = sorted(shared, key=lambda stem: (-shared[stem], stem))[:3]
    return Alike(sum(shared.values()) / both, tuple(best))


def _idf(context: SearchContext, all_stems: set[str]) -> dict[str, float]:
    """Return the weight of each stem counted in the collection, which excludes stop words."""
    collection = context.reader.collection.name
    ids = [word_id(collection, stem) for stem in sorted(all_stems)]
    row = context.reader.question(names=[], stemmed=[], words=ids)
    passages = row["passages"] or 0
    return {w["stem"]: 1 + math.log((1 + passages) / (1 + w["df"])) for w in row["words"] if w["df"] > 0}


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    return {stem: (1 + math.log(count)) * idf[stem] for stem, count in counts.items() if stem in idf}

"""TF-IDF: cosine of the weights of words between question and passage.

Unlike BM25 it measures against the length of the whole passage vector, so that a short passage of little else than the
question's words beats a long one that holds them among many; a word that comes often never stops counting more.
Weights are (1 + ln tf) * (1 + ln((1 + N) / (1 + df))), with the counts of words that the graph keeps.
Source: KGP, section 5.1.2; Salton and Buckley (1988).
"""

import math
from collections import Counter
from collections.abc import Mapping

from pydantic import Field

from kgrag.identity import word_id
from kgrag.options import Options
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.linking import MOST_WORDS
from kgrag.text import is_content, stems, words_of
from kgrag.types import Step


class TfIdfOptions(Options):
    """Options of TF-IDF."""

    candidates: int = Field(100, ge=1, description="passages of the full-text index that are ranked by cosine")


class TfIdf(Retriever):
    """The full-text index's best passages, ranked by the cosine of their TF-IDF vectors to the question's."""

    name = "tfidf"
    summary = "words shared with the question, by cosine of TF-IDF, among bm25's best"
    options = TfIdfOptions
    scale = "cosine"
    settings: TfIdfOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are cosines, 0 to 1. A question of stop words only finds nothing."""
        reader = self.context.reader
        language = reader.collection.language
        words = [word for word in words_of(query.text, language)[:MOST_WORDS] if is_content(word, language)]
        asked = Counter(stems(words, language))
        candidates = max(n, self.settings.candidates)
        ids = [id for id, _ in reader.fulltext(query.text, candidates, query.filter)]
        found = self.context.row("search/passage_word_stems", ids=ids)["found"] if ids else []
        counts = {id: Counter(its.split()) for id, its in found}
        idf = self._idf(set(asked).union(*counts.values()))
        question = _weights(asked, idf)
        scored = []
        for id, its in counts.items():
            weights = _weights(its, idf)
            shared = {stem: question[stem] * weights[stem] for stem in question if stem in weights}
            lengths = math.hypot(*question.values()) * math.hypot(*weights.values())
            if shared and lengths:
                best = sorted(shared, key=lambda stem: (-shared[stem], stem))[:3]
                scored.append((sum(shared.values()) / lengths, id, best))
        scored.sort(key=lambda s: (-s[0], s[1]))
        return [
            Scored(id, score, (Step(f"tfidf rank {rank}, {' '.join(best)}", "Passage", "", score),))
            for rank, (score, id, best) in enumerate(scored[:n], 1)
        ]

    def _idf(self, all_stems: set[str]) -> dict[str, float]:
        """The weight of each stem that the collection counts; stop words are not counted."""
        collection = self.context.reader.collection.name
        ids = [word_id(collection, stem) for stem in sorted(all_stems)]
        known = self.context.reader.question(names=[], stemmed=[], words=ids)
        passages = known["passages"] or 0
        return {w["stem"]: 1 + math.log((1 + passages) / (1 + w["df"])) for w in known["words"] if w["df"] > 0}


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    return {stem: (1 + math.log(count)) * idf[stem] for stem, count in counts.items() if stem in idf}

"""SyncGE: synchronised graph expansion. A model reads the base passages; beams start at the triples like its facts.

GEAR, sections 4.1 and 4.2: read lists proximal triples, tripleLink maps each to its most similar triple of the graph,
and the diverse triple beam search (`beam`) goes on from there. One call of a language model a query.
"""

from collections.abc import Sequence

from kgrag.events import Linked, Read
from kgrag.models.chat import no_model
from kgrag.models.facts import read
from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.retrieval.beam import base_ranking, expand, notes_on_triples
from kgrag.retrieval.fusion import reciprocal_rank_fusion
from kgrag.types import Triple

_WORDED = 10  # triples of each ranking that a hybrid link fuses


class SyncGe(Retriever):
    """The base retriever's passages, fused with those that chains of triples lead to from what a model read there."""

    name = "sync-ge"

    def __init__(self, index: Index, base: Retriever) -> None:
        """Raises ConfigurationError when no language model is configured."""
        super().__init__(index)
        if index.tasks is None:
            raise no_model()
        self.tasks = index.tasks
        self.base = base

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the base ranking itself where nothing is read or linked. Raises ModelError."""
        read_first = self.index.settings.sync_ge.passages
        base = base_ranking(self.base, query, max(n, read_first))
        return self.expand(query, base, self.read(query, base[:read_first]))[:n]

    def read(self, query: Query, base: Sequence[Scored]) -> tuple[Triple, ...]:
        """The facts (proximal triples) that the model finds in passages. Raises ModelError."""
        ids = [x.id for x in base]
        texts = self.index.reader.passages(ids)
        facts = read(self.tasks.heard_by(query.listener), query.text, [texts[id] for id in ids if id in texts])
        if query.listener is not None:
            query.listener(Read(query=query.text, triples=facts))
        return facts

    def expand(self, query: Query, base: Sequence[Scored], facts: Sequence[Triple]) -> list[Scored]:
        """The base passages fused with those of the chains that begin at the triples most like the facts."""
        linked = self.link(query, facts)
        return expand(self.index, query, base, self.index.settings.sync_ge, triples=linked) if linked else list(base)

    def link(self, query: Query, facts: Sequence[Triple]) -> list[str]:
        """tripleLink (section 4.1, equation 2): the id of the triple most similar to each fact, each once."""
        settings = self.index.settings
        hybrid = settings.sync_ge.link == "hybrid"
        texts = [fact.text for fact in facts]
        near, worded = self.index.reader.similar_triples(
            self.index.embedder.embed(texts).tolist(),
            texts if hybrid else [""] * len(texts),
            _WORDED if hybrid else 1,
            settings.over_fetch,
        )
        found: list[str] = []
        for fact, *rankings in zip(facts, near, worded, strict=True):
            rows = {row["id"]: row for ranking in rankings for row in ranking}
            scored = [[Scored(row["id"], row["score"]) for row in ranking] for ranking in rankings]
            best = next(iter(reciprocal_rank_fusion(scored, settings.rrf)), None)
            if best is None:
                continue
            found.append(best.id)
            if query.listener is not None:
                row = rows[best.id]
                query.listener(Linked(fact=fact, id=row["id"], text=row["text"], score=row["score"]))
        return list(dict.fromkeys(found))

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """See Retriever; says so when the collection holds no triples."""
        return notes_on_triples(self, self.base, ranked)

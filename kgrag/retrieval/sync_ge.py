"""SyncGE: synchronised graph expansion. A model reads the base passages; beams start at the triples like its facts.

GEAR, sections 4.1 and 4.2: read lists proximal triples, tripleLink maps each to its most similar triple of the graph,
and the diverse triple beam search (`beam`) continues from there. A query takes one call of a language model.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from kgrag.models.chat import no_model
from kgrag.models.facts import read
from kgrag.retrieval.base import Layer, Query, Retriever, Scored, VectorOptions
from kgrag.retrieval.beam import BeamOptions, base_ranking, expand
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.context import Searchable
from kgrag.runtime.options import Count
from kgrag.values.documents import Triple
from kgrag.values.events import Linked, Read

_WORDED = 10  # triples per ranking that a hybrid link fuses


def fused_triples(rankings: Sequence[Sequence[dict[str, Any]]], constant: float) -> list[dict[str, Any]]:
    """Fuse ranked triples, rows of `cypher/retrieve/similar_triples.cypher`, by reciprocal rank; best first."""
    rows = {row["id"]: row for ranking in rankings for row in ranking}
    scored = [[Scored(row["id"], row["score"]) for row in ranking] for ranking in rankings]
    return [rows[x.id] for x in reciprocal_rank_fusion(scored, constant)]


class SyncGeOptions(BeamOptions, VectorOptions):
    """Options of SyncGE."""

    passages: Count = Field(15, description="base passages that the model reads (appendix B.2)")
    link: Literal["vector", "hybrid"] = Field(
        "vector", description="tripleLink: the most similar triple by vector, or by vector and words (section 4.1)"
    )


class SyncGe(Retriever):
    """Fuses the passages of the base retriever with the passages that chains of triples lead to from read facts.

    Source: GEAR, sections 4.1 and 4.2.

    Example:
        >>> ranking = SyncGe(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "sync-ge"
    summary = "the same from the triples like the facts that a language model reads there; GEAR's retriever"
    paper = "GEAR, sections 4.1 and 4.2"
    uses = ("triples", "vectors", "a language model")
    options = SyncGeOptions
    over = ("hybrid",)
    needs = "a language model"
    calls = 1
    settings: SyncGeOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Make the retriever. Raises ConfigurationError if no language model is configured."""
        super().__init__(*on, **options)
        if self.context.llm is None:
            raise no_model()
        self.llm = self.context.llm

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; returns the base ranking itself if nothing is read or linked. Raises ModelError."""
        read_first = self.settings.passages
        base = base_ranking(self.parts[0], query, read_first if self.settings.fuse == "read" else max(n, read_first))
        return self.expand(query, base, self.read(query, base[:read_first]))[:n]

    def read(self, query: Query, base: Sequence[Scored]) -> tuple[Triple, ...]:
        """Read facts (proximal triples) in passages by the language model (section 4.1, equation 1).

        Args:
            query: the question.
            base: the passages.

        Returns:
            The facts.

        Raises:
            ModelError: the model fails.
        """
        ids = [x.id for x in base]
        texts = self.context.reader.passages(ids)
        facts = read(self.llm.with_listener(query.listener), query.text, [texts[id] for id in ids if id in texts])
        if query.listener is not None:
            query.listener(Read(query=query.text, triples=facts))
        return facts

    def expand(self, query: Query, base: Sequence[Scored], facts: Sequence[Triple]) -> list[Scored]:
        """Fuse base passages with passages of chains that begin at the triples most like the facts (section 4.2).

        Args:
            query: the question.
            base: the passages, best first.
            facts: the facts read from them.

        Returns:
            The fused ranking, or the base itself if no fact can be linked.
        """
        linked = self.link(query, facts)
        return expand(self.context, query, base, self.settings, triples=linked) if linked else list(base)

    def link(self, query: Query, facts: Sequence[Triple]) -> list[str]:
        """Return the triple most similar to each fact (tripleLink, section 4.1, equation 2).

        Args:
            query: the question, whose listener receives the links.
            facts: the facts.

        Returns:
            Distinct ids of triples.
        """
        settings = self.settings
        hybrid = settings.link == "hybrid"
        texts = [fact.text for fact in facts]
        near, worded = self.context.reader.similar_triples(
            self.context.embedder.embed(texts).tolist(),
            texts if hybrid else [""] * len(texts),
            _WORDED if hybrid else 1,
            settings.over_fetch,
        )
        ids: list[str] = []
        for fact, *rankings in zip(facts, near, worded, strict=True):
            row = next(iter(fused_triples(rankings, settings.rrf)), None)
            if row is None:
                continue
            ids.append(row["id"])
            if query.listener is not None:
                query.listener(Linked(fact=fact, id=row["id"], text=row["text"], score=row["score"]))
        return list(dict.fromkeys(ids))

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"triples"})

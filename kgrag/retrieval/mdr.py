"""MDR: multi-hop dense retrieval, a beam search over chains of passages.

Chains begin with the passages nearest to the question. Each expands to the passages nearest to the question and the
chain's text taken together. A chain's score is the product of its passages' scores. Use it with an embedder trained for
it: `kgrag lab train next-fact`. Source: KGP, appendix A.2.3, after Xiong et al. (2021).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from kgrag.models.embed import embed_questions
from kgrag.retrieval.base import Query, Retriever, Scored, VectorOptions
from kgrag.runtime.options import Count
from kgrag.values.results import Step

# The next query after some passages were found: the text given to an encoder, in training and in search.
#
# Source: MDR, as in KGP, appendix A.2.1: the question and the passages so far form a new question.


_LETTERS = 4000  # characters; encoders read less


def so_far(question: str, passages: Iterable[tuple[str, str]]) -> str:
    """Return a question with the (title, text) of the earlier passages, in their order."""
    read = (f"{title}: {text}" if title else text for title, text in passages)
    return "\n".join([question, *read])[:_LETTERS]


@dataclass(frozen=True, slots=True)
class Chain:
    """Passages, each found by means of the earlier ones; `why`: the trail, one step per passage."""

    ids: tuple[str, ...]
    why: tuple[Step, ...]
    score: float


class MdrOptions(VectorOptions):
    """Options of multi-hop dense retrieval (KGP, appendix A.2.3)."""

    hops: int = Field(2, ge=1, le=8, description="passages of a chain")
    width: int = Field(15, ge=1, le=1_000, description="passages that chains begin with")
    branch: int = Field(3, ge=1, le=100, description="passages that a chain goes on to")
    beams: int = Field(45, ge=1, le=1_000, description="chains kept at each hop")
    candidates: Count = Field(50, description="vector index candidates for these, scored again exactly")
    score: Literal["share", "cosine"] = Field(
        "share", description="factors along a chain: (1 + cosine) / 2, or the cosine (the paper's inner product)"
    )


class Mdr(Retriever):
    """The passages of the best chains, best chain first; then other passages near the question.

    Source: KGP, appendix A.2.3, after Xiong et al. (2021).

    Example:
        >>> ranking = Mdr(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "mdr"
    summary = "chains of passages, each nearest to the question and those before it; MDR"
    paper = "MDR; KGP, appendix A.2"
    uses = ("vectors",)
    options = MdrOptions
    needs = "an encoder of `kgrag lab train next-fact`"
    settings: MdrOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are 1 / rank."""
        s, reader = self.settings, self.context.reader
        vector = query.vector(self.context.embedder)
        near = reader.vector(vector, max(n, s.width), max(n, self.settings.over_fetch), query.filter)
        names = reader.captions([], [id for id, _ in near])
        starts = [
            Chain((id,), (Step("resembles the question", "Passage", names.get(id, ""), score),), self._factor(score))
            for id, score in near
        ]
        chains = starts[: s.width]
        for _ in range(s.hops - 1):
            chains = self._longer(query.text, chains) or chains
        trails: dict[str, tuple[Step, ...]] = {}
        for chain in chains:
            for place, id in enumerate(chain.ids):
                trails.setdefault(id, chain.why[: place + 1])
        for start in starts:
            trails.setdefault(start.ids[0], start.why)
        if query.filter:
            allowed = reader.matching_filter(list(trails), query.filter)
            trails = {id: why for id, why in trails.items() if id in allowed}
        query.memory[self] = [ids for chain in chains if (ids := [id for id in chain.ids if id in trails])]
        return [Scored(id, 1 / rank, why) for rank, (id, why) in enumerate(list(trails.items())[:n], 1)]

    def evidence(self, query: Query) -> Sequence[Sequence[str]] | None:
        """Return the chains, best first; a pair of passages is one item for the reader.

        KGP, appendix A.2.3 and listing 4.
        """
        chains: list[Sequence[str]] | None = query.memory.get(self)
        return chains

    def _factor(self, score: float) -> float:
        return max(0.0, 2 * score - 1) if self.settings.score == "cosine" else score

    def _longer(self, question: str, chains: list[Chain]) -> list[Chain]:
        """Return the best chains with one more passage; one round trip searches all chains."""
        s, reader = self.settings, self.context.reader
        if not chains:
            return []
        texts = reader.passages(sorted({id for chain in chains for id in chain.ids}))
        queries = [so_far(question, [(texts[id].title, texts[id].text) for id in c.ids if id in texts]) for c in chains]
        vectors = embed_questions(self.context.embedder, queries).tolist()
        parts = [{"ids": list(c.ids), "vector": vector} for c, vector in zip(chains, vectors, strict=True)]
        longer = [
            Chain(
                (*chain.ids, row["id"]),
                (*chain.why, Step("resembles both", "Passage", row["name"], row["score"])),
                chain.score * self._factor(row["score"]),
            )
            for chain, rows in zip(chains, self._nearest(parts), strict=True)
            for row in rows
        ]
        return sorted(longer, key=lambda chain: (-chain.score, chain.ids))[: s.beams]

    def _nearest(self, chains: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
        """Return for each chain the passages nearest to its vector: see `cypher/retrieve/mdr.cypher`."""
        collection = self.context.reader.collection
        row = self.context.row(
            "retrieve/mdr",
            index=collection.vector_index("Passage"),
            embedding=collection.embedding,
            chains=chains,
            branch=self.settings.branch,
            candidates=self.settings.candidates,
        )
        rows: list[list[dict[str, Any]]] = row["rows"]
        return rows

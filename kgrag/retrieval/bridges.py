"""Facts of a knowledge graph as bridges between passages, beside another retriever.

From what the question names, chains of facts lead on in a collection of kind knowledge (`knowledge`, Millions of
GEAR-s, section 4.1), and from each fact to the passage that shares most words with it. These passages are fused with
those of the other retriever; their trails say which facts led to them, and from where.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.beam import base_ranking
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.context import Searchable
from kgrag.retrieval.knowledge import Knowledge, KnowledgeOptions, passages_of
from kgrag.runtime.options import Count
from kgrag.values.errors import ConfigurationError


class BridgesOptions(KnowledgeOptions):
    """Options of bridges."""

    depth: Count = Field(100, description="passages of the other retriever that are fused")


class Bridges(Retriever):
    """Another retriever's passages, fused with those that facts of a knowledge graph lead to from names.

    Source: Millions of GEAR-s, section 4.1, without its model.

    Example:
        >>> Bridges.check({"knowledge": ("wikidata",), "beams": 5}).beams
        5
    """

    name = "bridges"
    summary = (
        "another's passages, and those that facts of a knowledge graph lead to: bridges(ppr, knowledge=(wikidata,))"
    )
    paper = "Millions of GEAR-s, section 4.1, without its model"
    uses = ("words", "names", "vectors")
    options = BridgesOptions
    over = ("hybrid",)
    needs = "a collection of kind knowledge"
    settings: BridgesOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the other's ranking where no fact leads to a passage. Raises NotFoundError, MismatchError."""
        s = self.settings
        base = base_ranking(self.parts[0], query, max(n, s.depth))
        rankings = [base]
        for name in named(s.knowledge or query.knowledge):
            known = Knowledge.of(self.context, name)
            beams = known.beams(query, known.about(query.text, s), s)
            rankings.append(passages_of(self.context, name, beams, query.filter))
        return reciprocal_rank_fusion([r for r in rankings if r], s.rrf)[:n]


def named(knowledge: Sequence[str]) -> Sequence[str]:
    """Return the names of the further collections. Raises ConfigurationError when there is none."""
    if not knowledge:
        raise ConfigurationError(
            "Which knowledge? No collection of facts is named.",
            "Name one that `kgrag import --format wikidata` made: --knowledge wikidata, or knowledge=(wikidata,).",
        )
    return knowledge


def with_bridges(retriever: Retriever, knowledge: Sequence[str], **options: Any) -> Retriever:
    """Return the retriever with bridges of these collections; itself where none is named.

    Raises ConfigurationError for a retriever of several collections.
    """
    if knowledge and len(retriever.contexts) > 1:
        raise ConfigurationError(
            "Facts lead from passage to passage within one collection, and several are searched.",
            "Leave out --knowledge, or search one collection.",
        )
    on: Searchable = retriever
    return Bridges(on, knowledge=tuple(knowledge), **options) if knowledge else retriever
